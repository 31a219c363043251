package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/privatefile"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
)

type viewKubeconfigOptions struct {
	genericiooptions.IOStreams
	factory *Factory

	namespace, file string
}

func newViewKubeconfigCommand(f *Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &viewKubeconfigOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:   "kubeconfig NAMESPACE",
		Short: "Print a kubeconfig for the TenantView of a namespace",
		Long: `Print a kubeconfig for the TenantView of a namespace, which hns-gateway serves behind kube-apiserver.

It has the credentials of the current context, and works with any client, without this command.`,
		Example: `  kubectl hns view kubeconfig acme --output-file acme.kubeconfig
  kubectl --kubeconfig acme.kubeconfig get pods -A`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: CompleteArgs(1, f.CompleteNamespaces),
		RunE:              RunOptions(o),
	}
	cmd.Flags().StringVar(&o.file, "output-file", "", "Write it to a file that only you can read, instead of printing it")
	return cmd
}

func (o *viewKubeconfigOptions) Complete(cmd *cobra.Command, args []string) error {
	o.namespace = args[0]
	// The file has the credentials of a context, so these would be used for the request only.
	for _, name := range []string{"user", "cluster", "server", "token", "client-certificate", "client-key", "certificate-authority", "insecure-skip-tls-verify", "tls-server-name"} {
		if flag := cmd.Flags().Lookup(name); flag != nil && flag.Changed {
			return UsageErrorf("--%s does not change what is written: choose a context of the kubeconfig by --context", name)
		}
	}
	return nil
}

func (o *viewKubeconfigOptions) Validate() error { return ValidateNamespace(o.namespace) }

func (o *viewKubeconfigOptions) Run(ctx context.Context) error {
	clients, err := o.factory.Clients()
	if err != nil {
		return err
	}
	view, err := clients.Hierarchy.HncV1alpha3().TenantViews(o.namespace).Get(ctx, hnc.TenantViewSingleton, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("namespace %q has no TenantView; ask an administrator of the cluster to create one, or run kubectl hns view %s", o.namespace, o.namespace)
	case err != nil:
		return err
	}
	if ready := meta.FindStatusCondition(view.Status.Conditions, hnc.ConditionReady); ready == nil || ready.Status != metav1.ConditionTrue {
		message := "it was created just now"
		if ready != nil {
			message = ready.Message
		}
		Warnf(o.ErrOut, "the view can't be used yet: %s", message)
	}
	config, err := o.kubeconfig(view)
	if err != nil {
		return err
	}
	content, err := clientcmd.Write(*config)
	if err != nil {
		return err
	}
	if o.file != "" {
		return privatefile.Write(o.file, content)
	}
	_, err = o.Out.Write(content)
	return err
}

// kubeconfig returns the current context with the view instead of the cluster.
func (o *viewKubeconfigOptions) kubeconfig(view *v1alpha3.TenantView) (*clientcmdapi.Config, error) {
	config, err := o.factory.Flags.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return nil, err
	}
	if flag := o.factory.Flags.Context; flag != nil && *flag != "" {
		config.CurrentContext = *flag
	}
	if err := clientcmdapi.MinifyConfig(&config); err != nil {
		return nil, err
	}
	if err := clientcmdapi.FlattenConfig(&config); err != nil {
		return nil, err
	}
	current := config.Contexts[config.CurrentContext]
	cluster, user := config.Clusters[current.Cluster], config.AuthInfos[current.AuthInfo]
	if cluster == nil || user == nil {
		return nil, fmt.Errorf("context %q of the kubeconfig names no cluster or no user", config.CurrentContext)
	}
	// The flags of impersonation change the user.
	requests, err := o.factory.Config()
	if err != nil {
		return nil, err
	}
	as := &requests.Impersonate
	user.Impersonate, user.ImpersonateUID, user.ImpersonateGroups, user.ImpersonateUserExtra = as.UserName, as.UID, as.Groups, as.Extra
	cluster.Server = strings.TrimSuffix(cluster.Server, "/") + hnc.ViewPath(view.Namespace)
	name := "view-" + view.Namespace
	shown := mapping.NewNames(mapping.Of(view, func(string) (time.Time, bool) { return time.Time{}, false })).Out(view.Namespace)
	return &clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{name: cluster},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{name: user},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name, Namespace: shown}},
		CurrentContext: name,
	}, nil
}
