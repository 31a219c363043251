package hierarchyplan

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/pmezard/go-difflib/difflib"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "sigs.k8s.io/json"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/yamlbody"
)

const (
	// maxDiffBytes bounds the size of a diff.
	maxDiffBytes = 4 << 10
	// maxDiffLines bounds the lines of a compared object: the time is quadratic in them.
	maxDiffLines = 1000
	// tooLong is the diff of larger objects.
	tooLong = "(too long to be compared)\n"
)

// diff returns what an update changes in an object, or "" unless the requester is allowed to get both the object and
// its source. It reads both again, and returns "" if either has been replaced.
func (p *Planner) diff(ctx context.Context, v *visibility, w copies.Write) string {
	resource := w.Kind.GroupResource()
	if w.Verb != copies.Update || !v.allowed(ctx, "get", resource, w.Namespace) || !v.allowed(ctx, "get", resource, w.Source.Namespace) {
		return ""
	}
	present, err := p.current(ctx, w.Kind, w.Namespace, w.Present)
	source, sourceErr := p.current(ctx, w.Kind, w.Source.Namespace, w.Source)
	if errors.Is(errors.Join(err, sourceErr), errLargePage) {
		return tooLong
	}
	if present == nil || source == nil {
		return ""
	}
	is, err := copies.Present(present)
	if err != nil {
		return ""
	}
	will, err := copies.NewObject(source, &v.rules.Copies)
	if err != nil || will.Copied() == nil {
		return ""
	}
	return unifiedDiff(is, will.Copied(), w.Kind.Group == "" && w.Kind.Resource == "secrets")
}

// current reads an object again, and returns nil if its UID has changed.
func (p *Planner) current(ctx context.Context, kind copies.Kind, namespace string, o *copies.Object) (*unstructured.Unstructured, error) {
	found, err := p.Lister.find(ctx, kind.GroupVersionResource, namespace, o.Name)
	if err != nil || found == nil || found.GetUID() != o.UID {
		return nil, err
	}
	return found, nil
}

// unifiedDiff returns the difference of two objects as a unified diff of their YAML.
func unifiedDiff(is, willBe []byte, secret bool) string {
	var before, after unstructured.Unstructured
	if kjson.UnmarshalCaseSensitivePreserveInts(is, &before.Object) != nil || kjson.UnmarshalCaseSensitivePreserveInts(willBe, &after.Object) != nil {
		return ""
	}
	if secret {
		redactSecrets(before.Object, after.Object)
	}
	for _, u := range []*unstructured.Unstructured{&before, &after} {
		// The annotation repeats the object, including the content of a Secret.
		unstructured.RemoveNestedField(u.Object, "metadata", "annotations", corev1.LastAppliedConfigAnnotation)
	}
	texts := make([]string, 2)
	for i, u := range []unstructured.Unstructured{before, after} {
		text, err := yamlbody.Marshal(u.Object)
		if err != nil {
			return tooLong
		}
		texts[i] = string(text)
	}
	a, b := difflib.SplitLines(texts[0]), difflib.SplitLines(texts[1])
	if len(a) > maxDiffLines || len(b) > maxDiffLines {
		return tooLong
	}
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{A: a, B: b, FromFile: "present", ToFile: "copy", Context: 2})
	if err != nil {
		return ""
	}
	if len(text) > maxDiffBytes {
		text = text[:maxDiffBytes] + "\n(and more)\n"
	}
	return text
}

// redactSecrets removes the content of two Secrets. Which keys differ remains visible.
func redactSecrets(before, after map[string]any) {
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
