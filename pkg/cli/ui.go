package cli

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/ui"
)

type uiOptions struct {
	genericiooptions.IOStreams
	factory *Factory

	port        int
	open, write bool
}

func newUICommand(f *Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &uiOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:   "ui",
		Short: "Show the trees in the browser, with their problems first",
		Long: `Show the trees in the browser, with their problems first.

Serves a page on 127.0.0.1 with your kubeconfig and your permissions, until Ctrl-C or 30 minutes without requests. The page
changes nothing in the cluster unless --write is given. Only a browser that has opened the printed URL can read it.`,
		Example: `  kubectl hns ui
  kubectl hns ui --write
  kubectl hns ui --open=false`,
		Args: cobra.NoArgs,
		RunE: RunOptions(o),
	}
	cmd.Flags().IntVar(&o.port, "port", 0, "The port on 127.0.0.1; 0 is a free one. A page that your browser has opened at the same address before may control this one: name a port that nothing else has served")
	cmd.Flags().BoolVar(&o.open, "open", true, "Open the page in the browser")
	cmd.Flags().BoolVar(&o.write, "write", false, "Let the page change hierarchies and sub-namespaces; it shows what a change would do first")
	return cmd
}

func (o *uiOptions) Complete(*cobra.Command, []string) error { return nil }

func (o *uiOptions) Validate() error {
	if o.port < 0 || o.port > 65535 {
		return UsageErrorf("--port must be between 0 and 65535")
	}
	return nil
}

func (o *uiOptions) Run(ctx context.Context) error {
	reader, err := newUIReader(o.factory)
	if err != nil {
		return err
	}
	reader.session.Write = o.write
	server, err := ui.Listen(reader, o.port)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(o.Out, "%s\n", server.URL()); err != nil {
		return err
	}
	can := "sees what you may see"
	if o.write {
		can = "sees what you may see, and can change hierarchies as you may"
	}
	_, _ = fmt.Fprintf(o.ErrOut, "Anyone with this URL on this machine %s. Press Ctrl-C to end.\n", can)
	if o.open {
		if err := openBrowser(ctx, server.URL()); err != nil {
			Warnf(o.ErrOut, "cannot open a browser: %v; open the URL yourself", err)
		}
	}
	err = server.Serve(ctx)
	if errors.Is(err, ui.ErrIdle) {
		_, _ = fmt.Fprintf(o.ErrOut, "Ended: %v.\n", err)
		return nil
	}
	return err
}

// openBrowser opens a URL in the user's browser. It does not wait for it.
func openBrowser(ctx context.Context, url string) error {
	name, args := "xdg-open", []string{url}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", url}
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), name, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }()
	return nil
}
