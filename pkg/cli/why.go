package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/origin"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

type whyOptions struct {
	genericiooptions.IOStreams
	factory *Factory

	object      objectArg
	overwritten bool
	output      OutputFlag
}

func newWhyCommand(f *Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &whyOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:     "why RESOURCE/NAME",
		Aliases: []string{"explain"},
		Short:   "Explain where an object comes from, or why it is not in a namespace",
		Example: `  kubectl hns why rolebinding/developers -n service-1
  kubectl hns why secret/registry -n service-1
  kubectl hns why configmap/settings -n service-1 --overwritten > settings.yaml`,
		ValidArgsFunction: CompleteArgs(1, f.CompleteResources),
		RunE:              RunOptions(o),
	}
	cmd.Flags().BoolVar(&o.overwritten, "overwritten", false, "Print what the object contained before an ancestor's object overwrote it")
	o.output.AddFlag(cmd)
	return cmd
}

func (o *whyOptions) Complete(_ *cobra.Command, args []string) error {
	return o.object.complete(o.factory, args)
}

func (o *whyOptions) Validate() error {
	if err := o.output.Validate(); err != nil {
		return err
	}
	if err := o.object.Validate(); err != nil {
		return err
	}
	if o.overwritten && o.output.Format != "" {
		return UsageErrorf("--overwritten prints a manifest in YAML; leave out --output")
	}
	return nil
}

func (o *whyOptions) Run(ctx context.Context) error {
	mapping, c, err := o.object.connect(o.factory)
	if err != nil {
		return err
	}
	if o.overwritten {
		return o.printOverwritten(ctx, c, mapping.Resource.GroupResource())
	}
	_, answer, err := explain(ctx, o.factory, c, mapping, o.object.namespace, o.object.name)
	if err != nil {
		return err
	}
	printed, err := o.output.Print(o.Out, answer, func() []string {
		if answer.Source == "" {
			return nil
		}
		return []string{answer.Source + "/" + answer.Object}
	})
	if printed {
		return err
	}
	return o.printAnswer(answer)
}

// explain says where an object comes from, or why it is not there. It also returns what the answer depends on.
func explain(ctx context.Context, f *Factory, c *Clients, mapping *meta.RESTMapping, namespace, name string) (*origin.Question, *origin.Answer, error) {
	q := &origin.Question{Resource: mapping.Resource.GroupResource(), Kind: mapping.GroupVersionKind.Kind, Name: name}
	if err := readQuestion(ctx, f, c, q, namespace); err != nil {
		return nil, nil, err
	}
	err := inParallel(ctx, len(q.Chain), func(ctx context.Context, i int) error {
		return readObject(ctx, c, mapping.Resource, q.Name, &q.Chain[i], i == 0)
	})
	if err != nil {
		return nil, nil, err
	}
	if err := readRoles(ctx, c, q); err != nil {
		return nil, nil, err
	}
	answer := q.Ask()
	answer.Because = append(answer.Because, overwrittenBefore(ctx, c, q)...)
	answer.Because = append(answer.Because, eventsAbout(ctx, c, q)...)
	return q, &answer, nil
}

// readQuestion reads everything that the answer depends on, except the objects.
func readQuestion(ctx context.Context, f *Factory, c *Clients, q *origin.Question, namespace string) error {
	mapper, err := f.mapper()
	if err != nil {
		return err
	}
	hierarchies, err := readChain(ctx, c, q, namespace)
	if err != nil {
		return err
	}
	if err := readRules(ctx, c, q); err != nil {
		return err
	}
	return readModes(ctx, c, mapper, q, hierarchies)
}

func (o *whyOptions) printAnswer(a *origin.Answer) error {
	state := map[origin.State]string{origin.Copy: "copy", origin.Local: "not a copy", origin.Absent: "not there"}[a.State]
	paint := paintFor(o.Out)
	if paint.Bold != nil {
		state = paint.Bold(state)
	}
	_, err := fmt.Fprintf(o.Out, "%s in %s: %s\n", names.Printable(a.Object), a.Namespace, state)
	lines := []string{"  Path: " + strings.Join(a.Path, " ← ")}
	for _, reason := range a.Because {
		lines = append(lines, "  - "+reason)
	}
	for _, line := range lines {
		if err == nil {
			_, err = io.WriteString(o.Out, names.Line("%s", line))
		}
	}
	return err
}
