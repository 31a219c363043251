package plan

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/pmezard/go-difflib/difflib"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/yaml"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
)

const (
	// maxDifference is how many bytes of a difference are shown.
	maxDifference = 4 << 10
	// maxCompared is how many lines of an object are compared: a comparison takes time in the square of that.
	maxCompared = 1000
)

// difference returns what an update changes in an object, for who may read both what is there and what takes its place; otherwise "". Both are
// read as they are now: if they are others by now there is nothing to tell.
func (p *Planner) difference(ctx context.Context, s *sight, w copies.Write) string {
	resource := w.Kind.GroupResource()
	if w.Verb != copies.Update || !s.may(ctx, "get", resource, w.Namespace) || !s.may(ctx, "get", resource, w.Source.Namespace) {
		return ""
	}
	present := p.present(ctx, w.Kind, w.Namespace, w.Present)
	source := p.present(ctx, w.Kind, w.Source.Namespace, w.Source)
	if present == nil || source == nil {
		return ""
	}
	is, err := copies.Present(present)
	if err != nil {
		return ""
	}
	will, err := copies.NewObject(source, &p.Rules)
	if err != nil || will.Copied() == nil {
		return ""
	}
	return compare(is, will.Copied(), w.Kind.Group == "" && w.Kind.Resource == "secrets")
}

// present returns an object as it is now, nil if it is another one by now. A list takes no right to `get`, which the server does not have for any
// kind: it would include subresources.
func (p *Planner) present(ctx context.Context, kind copies.Kind, namespace string, o *copies.Object) *unstructured.Unstructured {
	list, err := p.Dynamic.Resource(kind.GroupVersionResource).Namespace(namespace).List(ctx,
		metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, o.Name).String()})
	if err != nil || len(list.Items) != 1 || list.Items[0].GetUID() != o.UID {
		return nil
	}
	return &list.Items[0]
}

// compare returns the difference of two objects as a unified diff of their YAML.
func compare(is, willBe []byte, secret bool) string {
	var before, after unstructured.Unstructured
	if json.Unmarshal(is, &before.Object) != nil || json.Unmarshal(willBe, &after.Object) != nil {
		return ""
	}
	if secret {
		hide(before.Object, after.Object)
	}
	for _, u := range []*unstructured.Unstructured{&before, &after} {
		// It repeats the object, and with it what is hidden of a Secret.
		unstructured.RemoveNestedField(u.Object, "metadata", "annotations", corev1.LastAppliedConfigAnnotation)
	}
	texts := make([]string, 2)
	for i, u := range []unstructured.Unstructured{before, after} {
		text, err := yaml.Marshal(u.Object)
		if err != nil {
			return ""
		}
		texts[i] = string(text)
	}
	a, b := difflib.SplitLines(texts[0]), difflib.SplitLines(texts[1])
	if len(a) > maxCompared || len(b) > maxCompared {
		return "(too long to be compared)\n"
	}
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{A: a, B: b, FromFile: "present", ToFile: "copy", Context: 2})
	if err != nil {
		return ""
	}
	if len(text) > maxDifference {
		text = text[:maxDifference] + "\n(and more)\n"
	}
	return text
}

// hide takes the content out of two Secrets, so that only which keys differ is left.
func hide(before, after map[string]any) {
	for _, field := range []string{"data", "stringData"} {
		old, _ := before[field].(map[string]any)
		wanted, _ := after[field].(map[string]any)
		for _, key := range slices.Collect(maps.Keys(old)) {
			value, both := wanted[key]
			switch {
			case both && value == old[key]:
				old[key], wanted[key] = "(hidden)", "(hidden)"
			case both:
				old[key], wanted[key] = "(hidden)", "(hidden, another)"
			default:
				old[key] = "(hidden)"
			}
		}
		for key := range wanted {
			if _, both := old[key]; !both {
				wanted[key] = "(hidden)"
			}
		}
	}
}
