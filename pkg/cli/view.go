package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/loopback"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
)

type viewOptions struct {
	genericiooptions.IOStreams
	factory *Factory

	names   mapping.Config
	real    bool
	command []string
}

func newViewCommand(f *Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &viewOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:   "view NAMESPACE [-- COMMAND [ARG ...]]",
		Short: "Use a namespace and its descendants as a cluster of their own",
		Long: `Use a namespace and its descendants as a cluster of their own.

Serves on 127.0.0.1 what your permissions allow in NAMESPACE and its descendants, as if there were no other namespaces:
"kubectl get pods -A" lists theirs, "kubectl create namespace" creates a sub-namespace of NAMESPACE. Runs COMMAND with the
kubeconfig of this view, and ends with it. Without a command it prints the environment of this view, and runs until Ctrl-C.

"kubectl hns view kubeconfig NAMESPACE" prints a kubeconfig for a view that hns-gateway serves, without this command.

In the view, NAMESPACE is called "default", and NAMESPACE-x is called x. With --real-names, all have their real names.`,
		Example: `  kubectl hns view acme -- kubectl get pods -A
  kubectl hns view acme -- helm install web ./chart --namespace web --create-namespace
  kubectl hns view acme -- bash
  kubectl hns view acme`,
		Args: func(cmd *cobra.Command, args []string) error {
			if dash := cmd.ArgsLenAtDash(); len(args) == 0 || dash < 0 && len(args) > 1 || dash >= 0 && dash != 1 {
				return UsageErrorf("name one namespace, and the command after --")
			}
			return ValidateNamespace(args[0])
		},
		ValidArgsFunction: CompleteArgs(1, f.CompleteNamespaces),
		RunE:              RunOptions(o),
	}
	cmd.AddCommand(newViewKubeconfigCommand(f, streams))
	cmd.Flags().BoolVar(&o.real, "real-names", false, "Show namespaces with their real names")
	cmd.Flags().StringVar(&o.names.Prefix, "prefix", "", "What is cut from the real names of namespaces; NAMESPACE- by default")
	cmd.Flags().StringSliceVar(&o.names.External, "external", mapping.DefaultExternal(), "Namespaces outside the view that objects may refer to by their real names")
	return cmd
}

func (o *viewOptions) Complete(_ *cobra.Command, args []string) error {
	o.names.Root, o.names.Relative, o.command = args[0], !o.real, args[1:]
	if o.names.Prefix == "" {
		o.names.Prefix = mapping.DefaultPrefix(o.names.Root)
	}
	return nil
}

func (o *viewOptions) Validate() error {
	for _, name := range o.names.External {
		if err := ValidateNamespace(name); err != nil {
			return err
		}
		if name == hnc.ViewRootName && o.names.Relative {
			return UsageErrorf("--external %s: is the name of the view's own namespace in the view; remove it, or add --real-names", name)
		}
	}
	if problems := validation.IsDNS1123Label(o.names.Prefix + "x"); len(problems) > 0 {
		return UsageErrorf("--prefix %q: must be the beginning of the name of a namespace", o.names.Prefix)
	}
	return nil
}

func (o *viewOptions) Run(ctx context.Context) error {
	// The view serves its command to the end, also after Ctrl-C.
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	config, err := o.factory.Config()
	if err != nil {
		return err
	}
	config.WarningHandler = nil // The clients of the view show warnings.
	handler, err := loopback.Handler(ctx, serving, config, o.names)
	if err != nil {
		return err
	}
	server, err := loopback.Listen(handler)
	if err != nil {
		return err
	}
	defer func() { _ = server.Close() }()
	kubeconfig, err := server.WriteKubeconfig("view-"+o.names.Root, mapping.NewNames(o.names).Out(o.names.Root))
	if err != nil {
		return err
	}
	if len(o.command) == 0 {
		if _, err := fmt.Fprintf(o.Out, "export KUBECONFIG=%s KUBECACHEDIR=%s\n", kubeconfig, server.CacheDir()); err != nil {
			return err
		}
		_, _ = fmt.Fprintf(o.ErrOut, "Run this line in another shell to use the view of %s. Press Ctrl-C to end.\n", o.names.Root)
		return server.Serve(ctx)
	}
	// A second signal must not end the view before its command.
	held := make(chan os.Signal, 1)
	signal.Notify(held, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(held)
	served := make(chan error, 1)
	go func() { served <- server.Serve(serving) }()
	err = o.run(ctx, append(os.Environ(), "KUBECONFIG="+kubeconfig, "KUBECACHEDIR="+server.CacheDir()))
	cancel()
	return errors.Join(err, <-served)
}

// run runs the command to its end. At the end of the context it is asked to end, too.
func (o *viewOptions) run(ctx context.Context, env []string) error {
	command := exec.CommandContext(ctx, o.command[0], o.command[1:]...)
	command.Env, command.Stdin, command.Stdout, command.Stderr = env, o.In, os.Stdout, os.Stderr
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	err := command.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 0 {
		return exitError{exit.ExitCode()}
	}
	return err
}
