package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha2"
)

var errBesideHNC = errors.New("HNC serves the hierarchies of this cluster, which this plugin does not see: use HNC's plugin until kubectl hns migrate has moved them")

// onlyOwn makes commands and those below them return an error while HNC serves the cluster beside hns-apiserver.
func onlyOwn(f *Factory, commands ...*cobra.Command) []*cobra.Command {
	for _, cmd := range commands {
		onlyOwn(f, cmd.Commands()...)
		run := cmd.RunE
		if run == nil {
			continue
		}
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if besideHNC(cmd.Context(), f) {
				return errBesideHNC
			}
			return run(cmd, args)
		}
	}
	return commands
}

// besideHNC reports whether HNC serves the cluster: its version is then the preferred one, and that of hns-apiserver
// the other. A chart with besideHNC=true prefers HNC's version also when hns-apiserver serves it. If that is not known,
// the command's own requests fail.
func besideHNC(ctx context.Context, f *Factory) bool {
	c, err := f.Clients()
	if err != nil {
		return false
	}
	group := &metav1.APIGroup{}
	client := c.Kube.Discovery().RESTClient()
	if client == nil || client.Get().AbsPath("/apis/"+hnc.GroupName).Do(ctx).Into(group) != nil {
		return false
	}
	if len(group.Versions) < 2 || group.PreferredVersion.Version != v1alpha2.SchemeGroupVersion.Version {
		return false
	}
	served := &metav1.APIResourceList{}
	if client.Get().AbsPath("/apis/"+v1alpha2.SchemeGroupVersion.String()).Do(ctx).Into(served) != nil {
		return false
	}
	return !slices.ContainsFunc(served.APIResources, func(r metav1.APIResource) bool { return r.Name == ownResource })
}

// ownResource is served by hns-apiserver in HNC's version, and not by HNC's definitions.
const ownResource = "hierarchyconfigurations/status"
