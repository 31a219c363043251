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
	"sigs.k8s.io/yaml"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
)

// maxDifference is how many bytes of a difference are shown.
const maxDifference = 4 << 10

// difference returns what an update changes in an object, for who may read both what is there and what takes its place; otherwise "". The
// object is read as it is now: if it is another one by now there is nothing to tell.
func (p *Planner) difference(ctx context.Context, s *sight, w copies.Write) string {
	resource := w.Kind.GroupResource()
	if w.Verb != copies.Update || !s.may(ctx, "get", resource, w.Namespace) || !s.may(ctx, "get", resource, w.Source.Namespace) {
		return ""
	}
	present, err := p.Dynamic.Resource(w.Kind.GroupVersionResource).Namespace(w.Namespace).Get(ctx, w.Name, metav1.GetOptions{})
	if err != nil || present.GetUID() != w.Present.UID {
		return ""
	}
	is, err := copies.Present(present)
	if err != nil {
		return ""
	}
	return compare(is, w.Source.Copied(), w.Kind.Group == "" && w.Kind.Resource == "secrets")
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
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: difflib.SplitLines(texts[0]), B: difflib.SplitLines(texts[1]), FromFile: "present", ToFile: "copy", Context: 2,
	})
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
