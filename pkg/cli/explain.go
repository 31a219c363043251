package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/origin"
)

func newExplain(e *Environment) *cobra.Command {
	var (
		out         output
		overwritten bool
	)
	cmd := &cobra.Command{
		Use:   "explain RESOURCE NAME",
		Short: "Tell where an object comes from, or why it is not in a namespace",
		Example: `  kubectl hns explain rolebinding/developers -n service-1
  kubectl hns explain secret registry -n service-1
  kubectl hns explain configmap/settings -n service-1 --overwritten > settings.yaml`,
		ValidArgsFunction: completeArgs(1, e.completeResources),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if len(args) == 1 {
				args = strings.SplitN(args[0], "/", 2)
			}
			if len(args) != 2 || args[0] == "" || args[1] == "" {
				return usage("name one object: RESOURCE/NAME")
			}
			if strings.ContainsAny(args[1], "*?[") {
				return usage("%q is no name of an object: patterns are not expanded; name one object", args[1])
			}
			namespace, err := e.namespace()
			if err != nil {
				return err
			}
			if overwritten && out.format != "" {
				return usage("--overwritten prints a manifest in YAML; leave out --output")
			}
			if overwritten {
				return e.printOverwritten(cmd.Context(), args[0], args[1], namespace)
			}
			return e.explain(cmd.Context(), args[0], args[1], namespace, &out)
		},
	}
	cmd.Flags().BoolVar(&overwritten, "overwritten", false, "Print what the object contained before an ancestor's object overwrote it")
	out.addFlag(e, cmd)
	return cmd
}

func (e *Environment) explain(ctx context.Context, resource, name, namespace string, out *output) error {
	mapping, err := e.mapping(resource)
	if err != nil {
		return err
	}
	c, err := e.connect()
	if err != nil {
		return err
	}
	q := &origin.Question{Resource: mapping.Resource.GroupResource(), Kind: mapping.GroupVersionKind.Kind, Name: name}
	said, err := readPlace(ctx, c, q, namespace)
	if err != nil {
		return err
	}
	if err := readRules(ctx, c, q); err != nil {
		return err
	}
	if err := e.readModes(ctx, c, q, said); err != nil {
		return err
	}
	for i := range q.Chain {
		if err := readObject(ctx, c, mapping.Resource, name, &q.Chain[i], i == 0); err != nil {
			return err
		}
	}
	answer := q.Ask()
	answer.Because = append(answer.Because, overwrittenBefore(ctx, c, q, namespace)...)
	answer.Because = append(answer.Because, troubles(ctx, c, q)...)
	printed, err := out.print(e, answer, func() []string {
		if answer.Source == "" {
			return nil
		}
		return []string{answer.Source + "/" + answer.Object}
	})
	if printed {
		return err
	}
	return printAnswer(e, answer)
}

func printAnswer(e *Environment, a origin.Answer) error {
	state := map[origin.State]string{origin.Copy: "copy", origin.Local: "no copy", origin.Absent: "not there"}[a.State]
	paint := e.paint(e.Out)
	if paint.Bold != nil {
		state = paint.Bold(state)
	}
	_, err := fmt.Fprintf(e.Out, "%s in %s: %s\n  Path: %s\n", a.Object, a.Namespace, state, strings.Join(a.Path, " ← "))
	for _, reason := range a.Because {
		if err == nil {
			_, err = fmt.Fprintf(e.Out, "  - %s\n", reason)
		}
	}
	return err
}

// readPlace reads the namespace and the way up to its root: from the hierarchies, and from where they may not be read, from the tree labels.
// It returns what the hierarchies on the way say about kinds.
func readPlace(ctx context.Context, c *cluster, q *origin.Question, namespace string) (map[string][]v1beta1.ResourceSpec, error) {
	ns, err := c.namespaces.Get(ctx, namespace, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	said := map[string][]v1beta1.ResourceSpec{}
	q.Labels, q.Terminating = ns.Labels, ns.DeletionTimestamp != nil
	var chain []string
	for at := namespace; at != "" && !slices.Contains(chain, at); {
		chain = append(chain, at)
		h, err := getHierarchy(ctx, c, at)
		if apierrors.IsForbidden(err) {
			chain = longer(chain, labelChain(ns))
			break
		}
		if err != nil {
			return nil, err
		}
		if at == namespace {
			readConditions(q, h.Status.Conditions)
		}
		said[at] = h.Spec.Propagation
		at = h.Spec.Parent
	}
	for _, name := range chain {
		q.Chain = append(q.Chain, origin.Namespace{Name: name})
	}
	return said, nil
}

func readConditions(q *origin.Question, conditions []metav1.Condition) {
	for i := range conditions {
		switch condition := &conditions[i]; {
		case condition.Type == hnc.ConditionActivitiesHalted && condition.Status == metav1.ConditionTrue:
			q.Halted = condition
		case condition.Reason == hnc.ReasonNamespaceExcluded:
			q.Excluded = "excluded from hierarchies"
		}
	}
}

// labelChain returns the namespace and its ancestors, the root last, as its tree labels have them.
func labelChain(ns *metav1.PartialObjectMetadata) []string {
	distances := ancestors(ns.Labels)
	chain := make([]string, 0, len(distances))
	for name := range distances {
		chain = append(chain, name)
	}
	slices.SortFunc(chain, func(a, b string) int { return distances[a] - distances[b] })
	return chain
}

func longer(a, b []string) []string {
	if len(b) > len(a) {
		return b
	}
	return a
}

func readObject(ctx context.Context, c *cluster, resource schema.GroupVersionResource, name string, in *origin.Namespace, must bool) error {
	o, err := c.dynamic.Resource(resource).Namespace(in.Name).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case apierrors.IsForbidden(err) && !must:
		in.Unread = "missing right: " + missingRight(err)
		return nil
	case err != nil:
		return err
	}
	kind, _, _ := unstructured.NestedString(o.Object, "type")
	in.Object = &origin.Object{Labels: o.GetLabels(), Annotations: o.GetAnnotations(), Finalizers: o.GetFinalizers(), Type: kind}
	return nil
}

// troubles returns what the propagator has told of the object lately, in the namespace and above. What can't be read is left out: events
// only add to the answer.
func troubles(ctx context.Context, c *cluster, q *origin.Question) []string {
	var said []string
	for _, ns := range q.Chain {
		selector := fields.Set{"involvedObject.kind": q.Kind, "involvedObject.name": q.Name, "source": hnc.GroupName}
		events, err := c.kube.CoreV1().Events(ns.Name).List(ctx, metav1.ListOptions{FieldSelector: selector.String()})
		if err != nil {
			continue
		}
		for i := range events.Items {
			line := fmt.Sprintf("event in %s: %s: %s", ns.Name, events.Items[i].Reason, events.Items[i].Message)
			if !slices.Contains(said, line) {
				said = append(said, line)
			}
		}
	}
	return said
}
