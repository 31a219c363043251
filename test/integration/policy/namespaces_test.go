package policy

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// setLabel patches one label of a namespace, through a subresource if any is named; a nil value removes it.
func setLabel(t *testing.T, u user, name, key string, value any, subresources ...string) error {
	t.Helper()
	patch := merge(t, "labels", map[string]any{key: value})
	_, err := u.CoreV1().Namespaces().Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}, subresources...)
	return err
}

func TestN6N7TreeLabelsAreWrittenByThePropagatorOnly(t *testing.T) {
	for key, value := range map[string]string{
		hnc.TreeLabel("acme"):      "1",
		hnc.LabelHasSubnamespaces:  "true",
		hnc.LabelCascadingDeletion: hnc.CascadingAllowed,
		hnc.LabelOrphaned:          "true",
	} {
		t.Run(key, func(t *testing.T) {
			message := "labels " + key + " of namespace "
			with, without := newNamespace(t, label(key, value)), newNamespace(t)
			for name, u := range map[string]user{"namespaces' admin": alice, "cluster's admin": admin, "restorer": restorer} {
				t.Run(name, func(t *testing.T) {
					denied(t, setLabel(t, u, without, key, value), message+without)
					denied(t, setLabel(t, u, with, key, "7"), message+with)
					denied(t, setLabel(t, u, with, key, nil), message+with)
					if err := setLabel(t, u, with, "a", "b"); err != nil {
						t.Error(err)
					}
				})
			}
			denied(t, setLabel(t, alice, with, key, nil, "status"), message+with)
			ns, err := alice.CoreV1().Namespaces().Get(t.Context(), with, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			must(t)(alice.CoreV1().Namespaces().Finalize(t.Context(), ns, metav1.UpdateOptions{}))
			delete(ns.Labels, key)
			_, err = alice.CoreV1().Namespaces().Finalize(t.Context(), ns, metav1.UpdateOptions{})
			denied(t, err, message+with)

			for _, value := range []any{nil, value} {
				if err := setLabel(t, propagator, with, key, value); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestN6NamespacesAreCreatedWithoutTreeLabels(t *testing.T) {
	ctx := t.Context()
	foreign := label(hnc.TreeLabel("acme"), "1")
	_, err := alice.CoreV1().Namespaces().Create(ctx, namespace("foreign", foreign), metav1.CreateOptions{})
	denied(t, err, "labels "+hnc.TreeLabel("acme")+" of namespace foreign")
	_, err = alice.CoreV1().Namespaces().Create(ctx, namespace("own-invalid", label(hnc.TreeLabel("own-invalid"), "1")), metav1.CreateOptions{})
	denied(t, err, "labels "+hnc.TreeLabel("own-invalid")+" of namespace own-invalid")
	must(t)(alice.CoreV1().Namespaces().Create(ctx, namespace("own-right", label(hnc.TreeLabel("own-right"), "0")), metav1.CreateOptions{}))
	must(t)(restorer.CoreV1().Namespaces().Create(ctx, namespace("restored", foreign, label(hnc.LabelHasSubnamespaces, "true"),
		annotation(hnc.AnnotationSubnamespaceOf, "acme")), metav1.CreateOptions{}))
}

func TestN2N3NamespacesAreIncludedUnlessExcluded(t *testing.T) {
	ctx := t.Context()
	created, err := alice.CoreV1().Namespaces().Create(ctx, namespace("included"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if value := created.Labels[hnc.LabelIncludedNamespace]; value != "true" {
		t.Errorf("want a new namespace to be included, got %q", value)
	}
	generated := namespace("")
	generated.GenerateName = "included-"
	if created, err = alice.CoreV1().Namespaces().Create(ctx, generated, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if value := created.Labels[hnc.LabelIncludedNamespace]; value != "true" {
		t.Errorf("want a namespace with a generated name to be included, got %q", value)
	}

	// It was there before the policies were.
	if value, ok := labels(t, "default")[hnc.LabelIncludedNamespace]; ok {
		t.Fatalf("namespace default has the label already: %q", value)
	}
	if err := setLabel(t, alice, "default", "a", "b"); err != nil {
		t.Fatal(err)
	}
	if err := setLabel(t, alice, "included", hnc.LabelIncludedNamespace, nil); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"default", "included"} {
		if value := labels(t, name)[hnc.LabelIncludedNamespace]; value != "true" {
			t.Errorf("want namespace %s to be included when it is changed, got %q", name, value)
		}
	}

	message := "label hnc.x-k8s.io/included-namespace of namespace "
	_, err = alice.CoreV1().Namespaces().Create(ctx, namespace("not-included", label(hnc.LabelIncludedNamespace, "false")), metav1.CreateOptions{})
	denied(t, err, message+"not-included must be \"true\"")
	denied(t, setLabel(t, alice, "included", hnc.LabelIncludedNamespace, "false"), message+"included")
	denied(t, setLabel(t, alice, "included", hnc.LabelIncludedNamespace, nil, "status"), message+"included")

	for _, name := range []string{"kube-system", hnc.SystemNamespace} {
		if err := setLabel(t, alice, name, "a", "b"); err != nil {
			t.Error(err)
		}
		denied(t, setLabel(t, alice, name, hnc.LabelIncludedNamespace, "true"), "namespace "+name+" is excluded from hierarchies")
		if value, ok := labels(t, name)[hnc.LabelIncludedNamespace]; ok {
			t.Errorf("want namespace %s not to be included, got %q", name, value)
		}
	}
}

func labels(t *testing.T, name string) map[string]string {
	t.Helper()
	namespace, err := admin.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return namespace.Labels
}

func TestN8SubnamespacesAreDeletedThroughTheirParent(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	sub := annotation(hnc.AnnotationSubnamespaceOf, "acme")
	protected := newNamespace(t, sub)
	for name, u := range map[string]user{"a namespace's admin": alice, "a cluster's admin": admin} {
		t.Run(name, func(t *testing.T) {
			denied(t, u.CoreV1().Namespaces().Delete(ctx, protected, metav1.DeleteOptions{}),
				"namespace "+protected+" is a sub-namespace of acme", "kubectl delete subns "+protected+" -n acme")
		})
	}
	orphaned := newNamespace(t, sub, label(hnc.LabelOrphaned, "true"))
	if err := alice.CoreV1().Namespaces().Delete(ctx, orphaned, metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	// Users allowed to update a namespace may make it a full one.
	converted := newNamespace(t, sub)
	patch := merge(t, "annotations", map[string]any{hnc.AnnotationSubnamespaceOf: nil})
	must(t)(alice.CoreV1().Namespaces().Patch(ctx, converted, types.MergePatchType, patch, metav1.PatchOptions{}))
	if err := alice.CoreV1().Namespaces().Delete(ctx, converted, metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}

	// A finalizer keeps it terminating for long enough to be deleted again.
	hold(t, protected)
	if err := propagator.CoreV1().Namespaces().Delete(ctx, protected, metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	if err := alice.CoreV1().Namespaces().Delete(ctx, protected, metav1.DeleteOptions{}); err != nil && !apierrors.IsConflict(err) {
		t.Error(err)
	}
	release(t, protected)
	for _, name := range []string{orphaned, converted, protected} {
		gone(t, name)
	}
}

func TestN9ParentsAreDeletedOnlyWhenCascadingIsAllowed(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	parent := label(hnc.LabelHasSubnamespaces, "true")
	protected := newNamespace(t, parent)
	for name, u := range map[string]user{"a namespace's admin": alice, "a cluster's admin": admin} {
		t.Run(name, func(t *testing.T) {
			denied(t, u.CoreV1().Namespaces().Delete(ctx, protected, metav1.DeleteOptions{}),
				"namespace "+protected+" has sub-namespaces: delete them first", "spec.allowCascadingDeletion")
		})
	}
	cascading := newNamespace(t, parent, label(hnc.LabelCascadingDeletion, hnc.CascadingAllowed))
	if err := alice.CoreV1().Namespaces().Delete(ctx, cascading, metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	if err := setLabel(t, propagator, protected, hnc.LabelHasSubnamespaces, nil); err != nil {
		t.Fatal(err)
	}
	if err := alice.CoreV1().Namespaces().Delete(ctx, protected, metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	gone(t, cascading)
	gone(t, protected)
}

// If kube-apiserver learnt to delete namespaces by collection, its admission of them would have to be looked at.
func TestNamespacesAreNotDeletedByCollection(t *testing.T) {
	namespaces := admin.CoreV1().RESTClient().Delete().Resource("namespaces").Do(t.Context())
	if err := namespaces.Error(); !apierrors.IsMethodNotSupported(err) {
		t.Errorf("want the method not to be supported, got: %v", err)
	}
}

func hold(t *testing.T, name string) {
	t.Helper()
	patch := merge(t, "finalizers", []string{"example.com/hold"})
	must(t)(alice.CoreV1().Namespaces().Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}))
}

func release(t *testing.T, name string) {
	t.Helper()
	must(t)(alice.CoreV1().Namespaces().Patch(t.Context(), name, types.MergePatchType, merge(t, "finalizers", nil), metav1.PatchOptions{}))
}
