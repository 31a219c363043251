package cli

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/adoption"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/treefile"
)

type applyOptions struct {
	genericiooptions.IOStreams
	factory *Factory

	file   string
	dryRun DryRunFlag
	output OutputFlag
}

func newApplyCommand(f *Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &applyOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:   "apply -f FILE",
		Short: "Give namespaces the parents that a file shows",
		Long: `Give namespaces the parents that a file shows, as a tree of indented names:

  acme-org
    team-a
      service-1
    team-b

Each namespace gets the one above it, with less indentation, as its parent. The namespaces without indentation keep their own parents. The namespaces
must exist.

The server validates each move by a dry run before the first one is made. Then they are made one after another, parents first. The command stops at the
first error, and says what is moved and what is not. If it fails or is interrupted, repeat it: it continues.`,
		Example: `  kubectl hns apply -f tree.yaml --dry-run=server
  kubectl hns apply -f tree.yaml
  kubectl hns apply -f - <tree.yaml
  kubectl hns apply -f tree.yaml --dry-run=client -o yaml >hierarchies.yaml`,
		Args:              ExactArgs(0, "none; name the file by -f"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              RunOptions(o),
	}
	cmd.Flags().StringVarP(&o.file, "filename", "f", "", `File with the tree, "-" for standard input`)
	o.dryRun.AddFlag(cmd.Flags())
	o.output.AddFormats(cmd, "json", "yaml")
	return cmd
}

func (*applyOptions) Complete(*cobra.Command, []string) error { return nil }

func (o *applyOptions) Validate() error {
	if o.file == "" {
		return UsageErrorf("name the file with the tree by -f")
	}
	return o.output.Validate()
}

func (o *applyOptions) Run(ctx context.Context) error {
	moves, err := o.load()
	if err != nil {
		return err
	}
	if o.dryRun.Client() {
		return o.printMoves(moves)
	}
	m, err := o.mover()
	if err != nil {
		return err
	}
	pending, err := m.validate(ctx, moves)
	if err != nil {
		return err
	}
	if o.dryRun.Enabled() {
		return o.printValidated(pending)
	}
	return o.move(ctx, m, pending)
}

// load reads the file, and returns its moves, parents before their children.
func (o *applyOptions) load() ([]adoption.Move, error) {
	text, err := o.read()
	if err != nil {
		return nil, err
	}
	moves, err := treefile.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.name(), err)
	}
	return moves, nil
}

func (o *applyOptions) name() string {
	if o.file == "-" {
		return "standard input"
	}
	return o.file
}

func (o *applyOptions) read() ([]byte, error) {
	if o.file == "-" {
		return io.ReadAll(o.In)
	}
	return os.ReadFile(o.file)
}

// mover returns what makes the moves.
func (o *applyOptions) mover() (*mover, error) {
	c, err := o.factory.Clients()
	if err != nil {
		return nil, err
	}
	quiet := *o.factory
	quiet.warnings = io.Discard
	validating, err := quiet.Clients()
	return &mover{clients: c, validating: validating, errOut: o.ErrOut}, err
}

// move makes validated moves. It prints each that is made, even if a later one fails.
func (o *applyOptions) move(ctx context.Context, m *mover, pending []placed) error {
	structured := o.output.Format != ""
	err := m.move(ctx, pending, func(p *placed) error {
		if structured {
			return nil
		}
		_, err := fmt.Fprintln(o.Out, moved(p.Namespace, p.Parent))
		return err
	})
	if structured {
		if printErr := o.printHierarchies(pending); err == nil {
			err = printErr
		}
		return err
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(o.Out, counts(pending))
	return err
}

// printMoves prints what would be sent.
func (o *applyOptions) printMoves(moves []adoption.Move) error {
	var all []placed
	var messages []string
	for _, move := range moves {
		all = append(all, placed{Move: move, hierarchy: hierarchyWithParent(move.Namespace, move.Parent)})
		messages = append(messages, moved(move.Namespace, move.Parent)+o.dryRun.Suffix())
	}
	if o.output.Format != "" {
		return o.printHierarchies(all)
	}
	_, err := fmt.Fprint(o.Out, lines(messages))
	return err
}

// printValidated prints what the server has validated.
func (o *applyOptions) printValidated(all []placed) error {
	if o.output.Format != "" {
		return o.printHierarchies(all)
	}
	const suffix = " (server dry run)"
	var messages []string
	for _, p := range all {
		if p.outcome == outcomePending {
			messages = append(messages, moved(p.Namespace, p.Parent)+suffix)
		}
	}
	_, err := fmt.Fprint(o.Out, lines(append(messages, counts(all)+suffix)))
	return err
}

// printHierarchies prints the hierarchies as a list that kubectl apply reads.
func (o *applyOptions) printHierarchies(all []placed) error {
	list := &corev1.List{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "List"}, Items: []runtime.RawExtension{}}
	for _, p := range all {
		h := p.hierarchy.DeepCopy()
		h.APIVersion, h.Kind = v1beta1.SchemeGroupVersion.String(), "Hierarchy"
		h.ManagedFields = nil
		list.Items = append(list.Items, runtime.RawExtension{Object: h})
	}
	_, err := o.output.Print(o.Out, list, nil)
	return err
}

// counts says how many namespaces are moved, or would be.
func counts(all []placed) string {
	unchanged := 0
	for _, p := range all {
		if p.outcome == outcomeUnchanged {
			unchanged++
		}
	}
	return fmt.Sprintf("namespaces moved: %d, unchanged: %d", len(all)-unchanged, unchanged)
}

// moved says that a namespace has got a parent.
func moved(namespace, parent string) string {
	if parent == "" {
		return fmt.Sprintf("Moved %s to a tree of its own", namespace)
	}
	return fmt.Sprintf("Moved %s below %s", namespace, parent)
}

func hierarchyWithParent(namespace, parent string) *v1beta1.Hierarchy {
	return &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton, Namespace: namespace}, Spec: v1beta1.HierarchySpec{Parent: parent}}
}
