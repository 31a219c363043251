package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/adoption"
)

type adoptOptions struct {
	genericiooptions.IOStreams
	factory *Factory

	// file has the tree; without one, source names the parents.
	file     string
	source   adoption.Source
	selector string
	// relocate also moves namespaces that have another parent than the source names.
	relocate bool
	yes      bool
	dryRun   DryRunFlag
	output   OutputFlag
}

func newAdoptCommand(f *Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &adoptOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:   "adopt (-f FILE | --from-tree-labels | --from-label KEY | --from-annotation KEY)",
		Short: "Build trees from a file or from existing labels",
		Long: `Build trees from a file or from existing labels.

A file shows a tree of indented names. Each namespace gets the one above it, with less indentation, as its parent; those without indentation, like
those that labels say nothing about, keep theirs. The namespaces must exist.

  acme-org
    team-a
      service-1
    team-b

The server validates each move by a dry run first. What would be moved is printed, and you are asked before anything is changed. Then the moves are
made one after another, parents first. The command stops at the first error and says what is moved and what is not; repeat it to continue.

Users may write labels and annotations. Namespaces that these give a parent which does not exist, which would be a descendant, or which the server
rejects, are skipped, and so are those that change meanwhile, and without --move those that have another parent already. The exit code is 2 if
namespaces were skipped.`,
		Example: `  kubectl hns adopt -f tree.yaml
  kubectl hns adopt -f - --yes <tree.yaml
  kubectl hns adopt -f tree.yaml --dry-run=client -o yaml >hierarchies.yaml
  kubectl hns adopt --from-tree-labels                         # as HNC has left them
  kubectl hns adopt --from-label accurate.cybozu.com/parent
  kubectl hns adopt --from-label capsule.clastix.io/tenant --prefix tenant- --dry-run=server`,
		Args:              ExactArgs(0, "none"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              RunOptions(o),
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.file, "filename", "f", "", `File with the tree, "-" for standard input`)
	flags.BoolVar(&o.source.TreeLabels, "from-tree-labels", false, "The labels NAMESPACE.tree.hnc.x-k8s.io/depth name the parent")
	flags.StringVar(&o.source.Label, "from-label", "", "The value of this label names the parent")
	flags.StringVar(&o.source.Annotation, "from-annotation", "", "The value of this annotation names the parent")
	flags.StringVar(&o.source.Prefix, "prefix", "", "Put this before the value")
	flags.StringVarP(&o.selector, "selector", "l", "", "Labels of the namespaces that get a parent")
	flags.BoolVar(&o.relocate, "move", false, "Also move namespaces that have another parent than their labels or annotations name")
	flags.BoolVarP(&o.yes, "yes", "y", false, "Do not ask")
	o.dryRun.AddFlag(flags)
	o.output.AddFormats(cmd, "json", "yaml")
	cmd.MarkFlagsOneRequired("filename", "from-tree-labels", "from-label", "from-annotation")
	cmd.MarkFlagsMutuallyExclusive("filename", "from-tree-labels", "from-label", "from-annotation")
	return cmd
}

func (*adoptOptions) Complete(*cobra.Command, []string) error { return nil }

func (o *adoptOptions) Validate() error {
	asks := !o.yes && !o.dryRun.Enabled()
	switch {
	case asks && o.file == "-":
		return UsageErrorf("standard input has the tree, so it cannot have your answer; give --yes or --dry-run")
	case asks && o.output.Format != "":
		return UsageErrorf("--output leaves no place for a question; give --yes or --dry-run")
	}
	if err := o.output.Validate(); err != nil {
		return err
	}
	if o.source.Prefix != "" && o.source.Label == "" && o.source.Annotation == "" {
		return UsageErrorf("--prefix needs --from-label or --from-annotation")
	}
	if o.relocate && o.file != "" {
		return UsageErrorf("--move is for labels and annotations: what --filename names is moved in any case; leave it out")
	}
	if o.selector != "" && o.file != "" {
		return UsageErrorf("--selector and --filename contradict each other; give one of them")
	}
	var err error
	if o.source.Selector, err = labels.Parse(o.selector); err != nil {
		return UsageErrorf("--selector: %w", err)
	}
	return nil
}

func (o *adoptOptions) Run(ctx context.Context) error {
	m, err := o.mover()
	if err != nil {
		return err
	}
	moves, skipped, err := o.moves(ctx, m.clients)
	if err != nil {
		return err
	}
	if o.file != "" && o.dryRun.Client() {
		return o.printMoves(moves)
	}
	pending, rejected, err := m.validate(ctx, moves)
	if err != nil {
		return err
	}
	skipped = append(skipped, rejected...)
	for _, s := range skipped {
		warnSkipped(o.ErrOut, s)
	}
	if err := o.finish(ctx, m, pending); err != nil || len(skipped) == 0 {
		return err
	}
	return ErrFound
}

// finish makes the moves after confirmation, or prints what would be moved.
func (o *adoptOptions) finish(ctx context.Context, m *mover, pending []placed) error {
	changes := slices.ContainsFunc(pending, func(p placed) bool { return p.outcome == outcomePending })
	switch {
	case len(pending) == 0 && o.output.Format == "":
		_, err := fmt.Fprintln(o.Out, "No namespace would get a parent.")
		return err
	case o.dryRun.Enabled():
		return o.printValidated(pending)
	case changes && !o.yes:
		if err := o.printValidated(pending); err != nil {
			return err
		}
		if err := Confirm(ctx, o.IOStreams, "Continue? (yes/no) ", errNotConfirmed); err != nil {
			return err
		}
	}
	return o.move(ctx, m, pending)
}

// moves returns the moves, from the file or from the namespaces, and the namespaces that are left out.
func (o *adoptOptions) moves(ctx context.Context, c *Clients) ([]adoption.Move, []adoption.Skipped, error) {
	if o.file != "" {
		moves, err := o.load()
		return moves, nil, err
	}
	namespaces, err := c.namespaces.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, err
	}
	moves, skipped := adoption.Moves(namespaces.Items, o.source)
	return moves, skipped, nil
}
