// Package app is the command line of hns-sync.
package app

import (
	"context"

	"github.com/spf13/cobra"
	"k8s.io/component-base/metrics/legacyregistry"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // requests, leader election, work queues
	_ "k8s.io/component-base/metrics/prometheus/version"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/options"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/serving"
)

// NewCommand returns the command, which prints the version if it is asked to.
func NewCommand(version string) *cobra.Command {
	o := options.New()
	return serving.Command(&cobra.Command{
		Use:   hnc.SyncName,
		Short: "Keeps the cluster equal to repositories of policy in Git",
		Long: `Reads the Git repositories that RepositorySyncs name, and applies their namespaces and policies as the ServiceAccounts that these name.
Changes by others are corrected. Of several replicas one works; the others wait to take over.`,
		Version: version,
	}, o, func(ctx context.Context) error {
		return o.Run(ctx, legacyregistry.MustRegister, legacyregistry.Handler())
	})
}
