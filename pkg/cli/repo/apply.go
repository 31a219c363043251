package repo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/writer"
)

// served is how long the kinds of new CustomResourceDefinitions may take until the cluster serves them.
const served = 30 * time.Second

type repoApplyOptions struct {
	genericiooptions.IOStreams
	factory *cli.Factory

	repo   repoFlags
	target targetFlags
	prune  bool
	yes    bool
	dryRun cli.ServerDryRunFlag
	output cli.OutputFlag
}

func newRepoApplyCommand(f *cli.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &repoApplyOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:   "apply",
		Short: "Apply a repository to the current cluster, once",
		Long: `Apply the objects of a repository, with everything that namespaces inherit, to the cluster of the kubeconfig: CustomResourceDefinitions first,
then other objects outside namespaces, namespaces, hierarchies, and the rest. Objects that an earlier apply with the same --name has written and that
are no longer in the repository are listed, and deleted after confirmation. Nothing is written if the repository has errors. The exit code is 2 if objects were kept that should be
deleted, such as a namespace that contains objects of others.

A RepositorySync of that name continues from there: it owns the objects from then on.`,
		Example: `  kubectl hns repo apply --path policy --dry-run=server
  kubectl hns repo apply --path policy --name policy
  kubectl hns repo apply --path policy --name policy --yes -o json`,
		Args: cobra.NoArgs,
		RunE: cli.RunOptions(o),
	}
	o.repo.add(cmd)
	o.target.add(cmd, f)
	cmd.Flags().BoolVar(&o.prune, "prune", true, "Delete objects that were applied and are no longer in the repository, after confirmation")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "Do not ask before deleting")
	o.dryRun.AddFlag(cmd.Flags(), "Have the server validate the objects without storing anything, and print what would be done; kubectl hns repo hydrate prints the objects")
	o.output.AddFormats(cmd, "json", "yaml")
	return cmd
}

func (o *repoApplyOptions) Complete(*cobra.Command, []string) error { return nil }

func (o *repoApplyOptions) Validate() error {
	if err := o.target.validate(&o.repo); err != nil {
		return err
	}
	return o.output.Validate()
}

func (o *repoApplyOptions) Run(ctx context.Context) error {
	t, err := o.target.open(ctx, o.factory, &o.repo, o.ErrOut)
	if err != nil {
		return err
	}
	if o.prune {
		t.warnUnknown(o.ErrOut, nil)
	}
	if err := o.allowed(t); err != nil {
		return err
	}
	state := t.state()
	if o.prune {
		if unsafe := t.unsafe(state, o.target.allowMass); len(unsafe) > 0 {
			printErrors(o.ErrOut, "", unsafe)
			return cli.ErrReported
		}
	}
	p := plan.Compute(t.desired, state, o.prune)
	done := &applyResults{options: o, target: t, before: state, line: cli.NewProgress(o.ErrOut), total: p.Len()}
	w := &writer.Writer{Cluster: t.cluster, DeletesUsed: o.target.allowNonEmpty, Done: done.add, Kept: done.keep, Defined: func(ctx context.Context, written int) {
		if written > 0 {
			t.cluster.AwaitKinds(ctx, kindsOf(t.desired), served)
		}
	}}
	o.keepInUse(ctx, w, p, done)
	if o.dryRun.Enabled() {
		return o.preview(ctx, t, p, done)
	}
	if p.Prunes() > 0 && !o.yes {
		if err := o.confirm(ctx, p); err != nil {
			return err
		}
		if p, err = o.recheck(ctx, t, w, p, done); err != nil {
			return err
		}
	}
	w.Apply(ctx, p)
	switch {
	case ctx.Err() != nil:
	case done.failures() > 0 && p.Prunes() > 0:
		cli.Warnf(o.ErrOut, "objects could not be applied, so nothing is deleted, and objects that wait for deletions are not applied")
	default:
		w.Prune(ctx, p)
	}
	return done.conclude(ctx)
}

// allowed returns an error if the cluster must not be changed.
func (o *repoApplyOptions) allowed(t *target) error {
	switch {
	case t.sync != nil && !t.sync.Spec.Paused && !o.dryRun.Enabled():
		return fmt.Errorf("the RepositorySync %q keeps these objects as its own commit says; set its spec.paused first, or choose another --name", t.sync.Name)
	case o.prune && t.state().Unknown[object.Namespace]:
		return errors.New("namespaces or CustomResourceDefinitions cannot be listed, so nothing can be deleted safely; apply without deletions by --prune=false")
	}
	return nil
}

// keepInUse takes namespaces that are in use out of a plan, unless these may be deleted.
func (o *repoApplyOptions) keepInUse(ctx context.Context, w *writer.Writer, p *plan.Plan, done *applyResults) {
	if o.target.allowNonEmpty {
		return
	}
	for id, reason := range w.KeepInUse(ctx, p) {
		done.keep(id, reason)
	}
}

// recheck reads the cluster again, because it may have changed while the question was open. It returns the plan
// for what it finds, and keeps objects that are no longer those of the plan that was shown: others have deleted,
// released or replaced them.
func (o *repoApplyOptions) recheck(ctx context.Context, t *target, w *writer.Writer, shown *plan.Plan, done *applyResults) (*plan.Plan, error) {
	unknown := t.unknown
	if err := t.readSync(ctx); err != nil {
		return nil, err
	}
	if err := t.readCluster(ctx, o.ErrOut); err != nil {
		return nil, err
	}
	t.warnUnknown(o.ErrOut, unknown)
	if err := o.allowed(t); err != nil {
		return nil, err
	}
	before, state := done.before, t.state()
	p := plan.Compute(t.desired, state, o.prune)
	w.Cluster = t.cluster
	o.keepInUse(ctx, w, p, done)
	left := p.Confine(shown, func(id plan.ID) bool { return before.Live[id].UID == state.Live[id].UID })
	for _, id := range slices.SortedFunc(maps.Keys(left), func(a, b plan.ID) int { return strings.Compare(a.String(), b.String()) }) {
		_, live := state.Live[id]
		switch {
		case live:
			done.keep(id, errors.New("others have replaced or changed it since it was listed"))
		case state.Unknown[id.Kind]:
			done.keep(id, errors.New("it cannot be read any more"))
		default:
			done.keep(id, errors.New("others have deleted or released it since it was listed"))
		}
	}
	done.before, done.total = state, p.Len()
	return p, nil
}

// confirm lists what would be deleted, and asks.
func (o *repoApplyOptions) confirm(ctx context.Context, p *plan.Plan) error {
	_, _ = fmt.Fprintln(o.ErrOut, "These objects were applied earlier and are no longer in the repository:")
	for _, id := range p.Release {
		_, _ = io.WriteString(o.ErrOut, names.Line("  %s (stays, without its record)", id))
	}
	for _, id := range p.Delete {
		with := ""
		if id.Kind == object.CRD {
			with = ", with all objects of its kind"
		}
		_, _ = io.WriteString(o.ErrOut, names.Line("  %s%s", id, with))
	}
	for _, id := range p.DeleteNamespaces {
		_, _ = io.WriteString(o.ErrOut, names.Line("  %s, with everything in it", id))
	}
	return cli.Confirm(ctx, o.IOStreams, "Delete them? (yes/no) ", errors.New("not confirmed, nothing was changed; answer yes, give --yes, or keep them by --prune=false"))
}

// preview prints what would be done. The API server validates each object.
func (o *repoApplyOptions) preview(ctx context.Context, t *target, p *plan.Plan, done *applyResults) error {
	if err := t.compare(ctx, o.target.name, p, func(result comparison) {
		if result.err != nil || result.change != "" {
			done.report(writer.Apply, result.object.ID, result.object.Path, result.err)
		} else {
			done.skip()
		}
	}); err != nil {
		return err
	}
	for _, id := range p.Release {
		done.report(writer.Release, id, "", nil)
	}
	for _, id := range append(p.Delete, p.DeleteNamespaces...) {
		done.report(writer.Delete, id, "", nil)
	}
	return done.conclude(ctx)
}

func kindsOf(desired []*plan.Object) []schema.GroupKind {
	var kinds []schema.GroupKind
	seen := map[schema.GroupKind]bool{}
	for _, o := range desired {
		if !seen[o.Kind] && !o.Remnant {
			kinds = append(kinds, o.Kind)
		}
		seen[o.Kind] = seen[o.Kind] || !o.Remnant
	}
	return kinds
}
