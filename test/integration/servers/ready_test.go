package servers

import (
	"encoding/json"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// There is no propagator in this test: what is reported is reported by the write.
func TestAHierarchyIsReadyByTheWriteThatSetsItsParent(t *testing.T) {
	const child, parent, other = "ready-child", "ready-parent", "ready-other"
	createNamespaces(t, child, parent, other)
	waitUntilKnown(t, child, parent)
	waitUntilKnown(t, child, other)
	client := hierarchiesOf(child)

	// Whatever a client says of the status.
	lie := map[string]any{"children": []any{"lie"}, "conditions": []any{
		map[string]any{"type": "Ready", "status": "False", "reason": "Lie", "message": "", "lastTransitionTime": "2001-01-01T00:00:00Z", "observedGeneration": int64(99)},
		map[string]any{"type": "Lie", "status": "True", "reason": "Lie", "message": "", "lastTransitionTime": "2001-01-01T00:00:00Z"},
	}}
	object := hierarchies.hierarchy(child, parent)
	object.Object["status"] = lie
	created, err := client.Create(t.Context(), object, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	since := checkReady(t, created, 1)
	if since.Year() == 2001 {
		t.Error("the time is the client's")
	}

	created.Object["status"] = lie
	if err := unstructured.SetNestedField(created.Object, other, "spec", "parent"); err != nil {
		t.Fatal(err)
	}
	updated, err := client.Update(t.Context(), created, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if again := checkReady(t, updated, 2); !again.Equal(&since) {
		t.Errorf("it became ready at %s, and now says %s", since, again)
	}
	object = hierarchies.hierarchy(child, parent)
	object.Object["status"] = lie
	applied, err := client.Apply(t.Context(), hnc.Singleton, object, metav1.ApplyOptions{FieldManager: "applier", Force: true})
	if err != nil {
		t.Fatal(err)
	}
	checkReady(t, applied, 3)
	for _, m := range applied.GetManagedFields() {
		var fields map[string]any
		if err := json.Unmarshal(m.FieldsV1.GetRawBytes(), &fields); err != nil {
			t.Fatal(err)
		}
		if fields["f:status"] != nil {
			t.Errorf("%s %s owns %v", m.Manager, m.Operation, fields["f:status"])
		}
	}

	// The answers to clients of HNC are those of HNC, which wrote a status afterwards.
	if err := admin.patch(t, configurations, child, other); err != nil {
		t.Fatal(err)
	}
	got, err := client.Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if h := typed(t, got); h.Generation != 4 || len(h.Status.Conditions) != 1 || h.Status.Conditions[0].ObservedGeneration != 3 {
		t.Errorf("generation %d, status %+v", h.Generation, h.Status)
	}
}

func TestThePropagatorReportsWhatTheServerDoesNotSee(t *testing.T) {
	const parent = "unsaid-parent"
	names := []string{parent, "unsaid-orphan", "unsaid-below", "unsaid-requiring", "unsaid-problem"}
	createNamespaces(t, names...)
	for _, name := range names[1:] {
		waitUntilKnown(t, name, parent)
	}
	silent := func(namespace string, spec map[string]any) {
		t.Helper()
		created, err := hierarchiesOf(namespace).Create(t.Context(), hierarchies.object(namespace, hnc.Singleton, spec), metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if h := typed(t, created); len(h.Status.Conditions) > 0 {
			t.Errorf("%s: %+v", namespace, h.Status.Conditions)
		}
	}
	silent("unsaid-orphan", map[string]any{"parent": "unsaid-missing"})
	silent("unsaid-below", map[string]any{"parent": "unsaid-orphan"})
	silent("unsaid-requiring", map[string]any{"parent": parent, "requiredChildren": []any{"unsaid-required"}})

	if err := admin.create(t, hierarchies, "unsaid-problem", parent); err != nil {
		t.Fatal(err)
	}
	problem := []byte(`{"status":{"conditions":[{"type":"BadConfiguration","status":"True","reason":"ExternalNamespace","message":"","lastTransitionTime":"2001-01-01T00:00:00Z"}]}}`)
	if _, err := hierarchiesOf("unsaid-problem").Patch(t.Context(), hnc.Singleton, types.MergePatchType, problem, metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
	if err := admin.patch(t, hierarchies, "unsaid-problem", ""); err != nil {
		t.Fatal(err)
	}
	got, err := hierarchiesOf("unsaid-problem").Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if h := typed(t, got); len(h.Status.Conditions) != 1 || h.Status.Conditions[0].Reason != hnc.ReasonExternalNamespace {
		t.Errorf("the problem is overwritten: %+v", h.Status.Conditions)
	}
}

func TestThePropagatorHasNothingToAddToALeaf(t *testing.T) {
	const leaf, parent, missing = "agreed-leaf", "agreed-parent", "agreed-missing"
	createNamespaces(t, leaf, parent, missing)
	waitUntilKnown(t, leaf, parent)
	startPropagator(t)
	created, err := hierarchiesOf(leaf).Create(t.Context(), hierarchies.hierarchy(leaf, parent), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	waitForLabel(t, leaf, hnc.TreeLabel(parent))
	// Statuses are looked at in the order in which the objects have changed: when the later one is reported, the leaf's
	// has been looked at.
	if err := admin.create(t, hierarchies, missing, "agreed-nowhere"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the later status", func() error {
		got, err := hierarchiesOf(missing).Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
		if err == nil && !meta.IsStatusConditionFalse(typed(t, got).Status.Conditions, hnc.ConditionReady) {
			err = fmt.Errorf("status: %v", got.Object["status"])
		}
		return err
	})
	got, err := hierarchiesOf(leaf).Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got.GetResourceVersion() != created.GetResourceVersion() {
		t.Errorf("%v became %v", created.Object["status"], got.Object["status"])
	}
}

func hierarchiesOf(namespace string) dynamic.ResourceInterface {
	return admin.dynamic.Resource(hierarchies.GroupVersionResource).Namespace(namespace)
}

// waitUntilKnown returns when the server has heard of both namespaces, neither of which has a hierarchy: then a dry run
// answers with a status.
func waitUntilKnown(t *testing.T, child, parent string) {
	t.Helper()
	eventually(t, "the server knows "+child+" and "+parent, func() error {
		answer, err := hierarchiesOf(child).Create(t.Context(), hierarchies.hierarchy(child, parent), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil && len(typed(t, answer).Status.Conditions) == 0 {
			err = fmt.Errorf("it answers %v", answer.Object)
		}
		return err
	})
}

// checkReady checks that the status says nothing but that the namespace is ready, and returns since when.
func checkReady(t *testing.T, object *unstructured.Unstructured, generation int64) metav1.Time {
	t.Helper()
	h := typed(t, object)
	if len(h.Status.Children) > 0 || len(h.Status.Conditions) != 1 {
		t.Fatalf("status %+v", h.Status)
	}
	got, want := h.Status.Conditions[0], hnc.ReadyCondition()
	want.LastTransitionTime, want.ObservedGeneration = got.LastTransitionTime, generation
	if got != want || h.Generation != generation {
		t.Errorf("generation %d: got %+v, want %+v", h.Generation, got, want)
	}
	return got.LastTransitionTime
}

func typed(t *testing.T, object *unstructured.Unstructured) *v1beta1.Hierarchy {
	t.Helper()
	h := &v1beta1.Hierarchy{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, h); err != nil {
		t.Fatal(err)
	}
	return h
}
