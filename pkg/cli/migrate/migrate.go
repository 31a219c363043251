// Package migrate is the plugin `kubectl hns migrate`. It is also the one that contains a propagator, for dry runs.
package migrate

import (
	"context"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/migration"
)

type migrateOptions struct {
	genericiooptions.IOStreams
	factory *cli.Factory

	export       string
	skipRejected bool
	grant        bool
	strip        bool
	yes          bool
	dryRun       cli.ServerDryRunFlag
	rollback     bool
}

// NewCommand returns the root command of kubectl-hns-migrate.
func NewCommand(f *cli.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &migrateOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Move the hierarchies of a cluster from HNC to hns-apiserver",
		Long: `Move the hierarchies of a cluster from HNC to hns-apiserver, which has been installed beside it.

Nothing is changed before you confirm, and what hns-apiserver would reject of HNC's objects is listed before. No namespace and no copy is deleted or
created anew. Until HNC's definitions are deleted, "kubectl hns migrate rollback" undoes everything; before that step, the command lists what will be
written to namespaces and copies, and asks again. Afterwards, the rollback needs the file of --export. If the command is interrupted, repeat it: it
continues.

While it runs, others cannot change hierarchies. Everything that HNC had is in the file of --export; keep it.`,
		Example: `  kubectl hns migrate --dry-run
  kubectl hns migrate --export hnc-export.yaml
  kubectl hns migrate rollback`,
		Args:              cli.ExactArgs(0, "none"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              cli.RunOptions(o),
	}
	o.addFlags(cmd)
	cmd.Flags().StringVar(&o.export, "export", "hnc-export.yaml", "File for everything that HNC had in the cluster")
	cmd.Flags().BoolVar(&o.skipRejected, "skip-rejected", false, "Leave out what hns-apiserver rejects of HNC's objects, except parents, and keep objects that copies would overwrite")
	cmd.Flags().BoolVar(&o.grant, "grant", true, "Grant hns-propagator the permissions on the kinds that HNC has propagated, with ClusterRoles")
	cmd.Flags().BoolVar(&o.strip, "strip-tracking-metadata", true, "Remove from copies what tools track their objects by; false sets stripTrackingMetadata of the configuration's rules")
	cmd.AddCommand(newMigrateRollbackCommand(f, streams), newDifferencesCommand(f, streams))
	return cmd
}

func newMigrateRollbackCommand(f *cli.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &migrateOptions{IOStreams: streams, factory: f, rollback: true}
	cmd := &cobra.Command{
		Use:   "rollback",
		Short: "Undo a migration from HNC",
		Long: `Undo a migration from HNC: HNC runs again, with its objects and webhooks as they were. When HNC's definitions are deleted already, or the migration is
completed, the file that the migration has exported is needed, and the command lists what has changed since. hns stays installed and waits: you can
migrate again, or uninstall it. If the command is interrupted, repeat it: it continues.`,
		Example: `  kubectl hns migrate rollback --dry-run
  kubectl hns migrate rollback
  kubectl hns migrate rollback --export hnc-export.yaml    # after the step definitions`,
		Args:              cli.ExactArgs(0, "none"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              cli.RunOptions(o),
	}
	o.addFlags(cmd)
	cmd.Flags().StringVar(&o.export, "export", "", "File that the migration has exported, if HNC's definitions are deleted")
	return cmd
}

func (o *migrateOptions) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "Do not ask")
	o.dryRun.AddFlag(cmd.Flags(), "Check everything on the server, and print what would be done")
}

func (*migrateOptions) Complete(*cobra.Command, []string) error { return nil }

func (o *migrateOptions) Validate() error {
	if o.export == "" && !o.rollback {
		return cli.UsageErrorf("name the file for HNC's objects by --export")
	}
	return nil
}

func (o *migrateOptions) Run(ctx context.Context) error {
	config, err := o.factory.Config()
	if err != nil {
		return err
	}
	m, err := migration.New(config, migration.Options{
		Out: o.Out, File: o.export, SkipRejected: o.skipRejected, NoGrant: !o.grant, KeepTracking: !o.strip && !o.rollback, DryRun: o.dryRun.Enabled(),
		Confirm: func(question string) error {
			if o.yes {
				return nil
			}
			return cli.Confirm(ctx, o.IOStreams, question, migration.ErrNotConfirmed)
		},
	})
	if err != nil {
		return err
	}
	if o.rollback {
		return m.Rollback(ctx)
	}
	return m.Run(ctx)
}
