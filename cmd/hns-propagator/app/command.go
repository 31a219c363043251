// Package app is the command line of hns-propagator.
package app

import (
	"context"

	"github.com/spf13/cobra"
	"k8s.io/component-base/metrics/legacyregistry"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // requests, leader election, work queues
	_ "k8s.io/component-base/metrics/prometheus/version"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/options"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/serving"
)

// NewCommand returns the command, which prints the version if it is asked to.
func NewCommand(version string) *cobra.Command {
	o := options.New()
	return serving.Command(&cobra.Command{
		Use:   hnc.PropagatorName,
		Short: "Reconciles namespaces and their objects with the hierarchies",
		Long: `Watches namespaces, hierarchies, sub-namespaces and the objects that are propagated, and writes copies of objects,
tree labels of namespaces, and sub-namespaces. Of several replicas one writes; the others keep ready to take over.`,
		Version: version,
	}, o, func(ctx context.Context) error {
		return o.Run(ctx, legacyregistry.MustRegister, legacyregistry.Handler())
	})
}
