// Package app is the command line of hns-gateway.
package app

import (
	"context"

	"github.com/spf13/cobra"
	"k8s.io/component-base/metrics/legacyregistry"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // requests
	_ "k8s.io/component-base/metrics/prometheus/version"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/serving"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/gateway/options"
)

// NewCommand returns the command, which prints the version if it is asked to.
func NewCommand(version string) *cobra.Command {
	o := options.New()
	return serving.Command(&cobra.Command{
		Use:   hnc.GatewayName,
		Short: "Serves tenant views",
		Long: `Serves the subtrees of TenantViews as clusters of their own, as an API that kube-apiserver aggregates, and on its own port.
Requests go to kube-apiserver as their callers. Any number of replicas can run.`,
		Version: version,
	}, o, func(ctx context.Context) error { return o.Run(ctx, legacyregistry.Handler()) })
}
