package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/adoption"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/treefile"
)

type applyOptions struct {
	genericiooptions.IOStreams
	factory *factory

	file   string
	dryRun dryRunFlag
	output outputFlag
}

func newApplyCommand(f *factory, streams genericiooptions.IOStreams) *cobra.Command {
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
must exist, and the tree must be legal as a whole; the order does not matter. Nothing is changed if a single namespace cannot be moved. If the command is
interrupted, repeat it: it continues.

The file may instead contain a TreePlacement, which can also make namespaces roots.`,
		Example: `  kubectl hns apply -f tree.yaml --dry-run=server
  kubectl hns apply -f tree.yaml
  kubectl hns apply -f - <tree.yaml
  kubectl hns apply -f tree.yaml --dry-run=client -o yaml`,
		Args:              exactArgs(0, "none; name the file by -f"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              runOptions(o),
	}
	cmd.Flags().StringVarP(&o.file, "filename", "f", "", `File with the tree, "-" for standard input`)
	o.dryRun.addFlag(cmd.Flags())
	o.output.addFormats(cmd, "json", "yaml")
	return cmd
}

func (*applyOptions) complete(*cobra.Command, []string) error { return nil }

func (o *applyOptions) validate() error {
	if o.file == "" {
		return usageErrorf("name the file with the tree by -f")
	}
	return o.output.validate()
}

// maxPlacements is the number of placements that the server accepts in a request.
const maxPlacements = 1000

func (o *applyOptions) run(ctx context.Context) error {
	p, err := o.load()
	if err != nil {
		return err
	}
	if o.dryRun.client() {
		return o.print(p)
	}
	c, err := o.factory.clients()
	if err != nil {
		return err
	}
	return o.apply(ctx, c, p)
}

// load reads the file, and returns its placements, which contain no cycle.
func (o *applyOptions) load() (*v1beta1.TreePlacement, error) {
	text, err := o.read()
	if err != nil {
		return nil, err
	}
	p, err := treefile.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.name(), err)
	}
	if cycle := adoption.Cycle(p.Spec.Placements); cycle != nil {
		return nil, fmt.Errorf("%s: %s", o.name(), adoption.CycleMessage(cycle))
	}
	return p, nil
}

// apply applies the placements, and prints what has been moved, even if that is only a part.
func (o *applyOptions) apply(ctx context.Context, c *clients, p *v1beta1.TreePlacement) error {
	done, err := o.send(ctx, c, p)
	if len(done.Status.Placements) == 0 && err != nil {
		return err
	}
	return errors.Join(o.print(done), err)
}

// send applies the placements, in several requests if there are many, and returns the results of those that succeed.
func (o *applyOptions) send(ctx context.Context, c *clients, p *v1beta1.TreePlacement) (*v1beta1.TreePlacement, error) {
	all := p.Spec.Placements
	if len(all) > maxPlacements {
		// Parents are before their children, so the parts can be applied one after the other.
		all = adoption.Ordered(all)
	}
	defer func() { p.Spec.Placements = all }()
	done := &v1beta1.TreePlacement{TypeMeta: p.TypeMeta, ObjectMeta: p.ObjectMeta, Spec: p.Spec}
	line := newProgress(o.ErrOut)
	defer line.clear()
	for part := range slices.Chunk(all, maxPlacements) {
		line.showf("%d of %d namespaces ...", len(done.Status.Placements), len(all))
		p.Spec.Placements = part
		result, err := c.hierarchy.HncV1beta1().TreePlacements().Create(ctx, p, metav1.CreateOptions{DryRun: o.dryRun.options()})
		if err != nil {
			line.clear()
			if n := done.Status.Moved; n > 0 {
				err = fmt.Errorf("after %d namespaces have been moved: %w", n, err)
			}
			return done, &prefixedError{"Could not apply the tree.", err}
		}
		done.Status.Moved += result.Status.Moved
		done.Status.Unchanged += result.Status.Unchanged
		done.Status.Transactions += result.Status.Transactions
		done.Status.Placements = append(done.Status.Placements, result.Status.Placements...)
	}
	return done, nil
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

// print prints the result, or what would be sent if there is none.
func (o *applyOptions) print(p *v1beta1.TreePlacement) error {
	if printed, err := o.output.print(o.Out, p, nil); printed || err != nil {
		return err
	}
	var messages []string
	if o.dryRun.client() {
		for _, placement := range p.Spec.Placements {
			messages = append(messages, moved(placement.Namespace, placement.Parent)+o.dryRun.suffix())
		}
		_, err := fmt.Fprint(o.Out, lines(messages))
		return err
	}
	for _, result := range p.Status.Placements {
		if result.Outcome == v1beta1.PlacementMoved {
			messages = append(messages, moved(result.Namespace, result.Parent)+o.dryRun.suffix())
		}
	}
	messages = append(messages, fmt.Sprintf("namespaces moved: %d, unchanged: %d%s", p.Status.Moved, p.Status.Unchanged, o.dryRun.suffix()))
	_, err := fmt.Fprint(o.Out, lines(messages))
	return err
}

// moved says that a namespace has got a parent.
func moved(namespace, parent string) string {
	if parent == "" {
		return fmt.Sprintf("Moved %s to a tree of its own", namespace)
	}
	return fmt.Sprintf("Moved %s below %s", namespace, parent)
}
