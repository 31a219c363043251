package children

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const withoutFinalizers = `{"metadata":{"finalizers":null}}`

// free removes our finalizer from a Subnamespace as the user in all ways that the API has, and returns the ways that
// have worked.
func (u user) free(t *testing.T, parent, name string) []string {
	t.Helper()
	ctx := t.Context()
	records, anchors := u.HNC.HncV1beta1().Subnamespaces(parent), u.HNC.HncV1alpha2().SubnamespaceAnchors(parent)
	var worked []string
	for _, way := range []struct {
		name string
		try  func() error
	}{
		{"merge patch", func() error {
			_, err := records.Patch(ctx, name, types.MergePatchType, []byte(withoutFinalizers), metav1.PatchOptions{})
			return err
		}},
		{"merge patch of HNC's version", func() error {
			_, err := anchors.Patch(ctx, name, types.MergePatchType, []byte(withoutFinalizers), metav1.PatchOptions{})
			return err
		}},
		{"JSON patch", func() error {
			_, err := records.Patch(ctx, name, types.JSONPatchType, []byte(`[{"op":"remove","path":"/metadata/finalizers"}]`), metav1.PatchOptions{})
			return err
		}},
		{"update", func() error {
			s, err := records.Get(ctx, name, metav1.GetOptions{})
			if err == nil {
				s.Finalizers = []string{"example.com/other"}
				_, err = records.Update(ctx, s, metav1.UpdateOptions{})
			}
			return err
		}},
		{"update of HNC's version", func() error {
			s, err := anchors.Get(ctx, name, metav1.GetOptions{})
			if err == nil {
				s.Finalizers = nil
				_, err = anchors.Update(ctx, s, metav1.UpdateOptions{})
			}
			return err
		}},
		// Whoever applies the finalizer owns it, and removes it by not applying it again.
		{"server-side apply", func() error {
			return errors.Join(u.apply(t, parent, name, hnc.FinalizerSubnamespace), u.apply(t, parent, name))
		}},
	} {
		if err := way.try(); err != nil {
			t.Errorf("%s: %v", way.name, err)
		}
		s, err := root.HNC.HncV1beta1().Subnamespaces(parent).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(s.Finalizers, hnc.FinalizerSubnamespace) {
			worked = append(worked, way.name)
		}
	}
	return worked
}

// apply applies a Subnamespace with finalizers.
func (u user) apply(t *testing.T, parent, name string, finalizers ...string) error {
	t.Helper()
	applied := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1beta1.SchemeGroupVersion.String(), "kind": "Subnamespace", "metadata": map[string]any{"name": name},
	}}
	applied.SetFinalizers(finalizers)
	_, err := u.Dynamic.Resource(v1beta1.SchemeGroupVersion.WithResource("subnamespaces")).Namespace(parent).
		Apply(t.Context(), name, applied, metav1.ApplyOptions{FieldManager: "detaches", Force: true})
	return err
}

// An editor would keep a namespace with the own permissions in it when the team's namespace is deleted.
func TestAnEditorDoesNotDetachASubnamespace(t *testing.T) {
	namespaces(t, "detach-top", "detach")
	eve, team := newUser(t, "eve-detach"), newUser(t, "team-detach")
	if err := root.hierarchy(t, "detach", below("detach-top")); err != nil {
		t.Fatal(err)
	}
	eve.bind(t, "detach", "edit")
	eve.eventuallyMay(t, "patch", hnc.GroupName, "subnamespaceanchors", "detach", "")
	// Admin of the parent, but not of the root of the tree that the namespace would leave.
	team.admin(t, "detach")
	subnamespaces(t, "detach", "detach-sub")
	subnamespaces(t, "detach", "detach-held")
	for _, u := range []user{eve, team} {
		if worked := u.free(t, "detach", "detach-sub"); len(worked) > 0 {
			t.Errorf("%s has detached it by %v", u.Name, worked)
		}
	}

	// Nor while it is being deleted.
	records := eve.HNC.HncV1beta1().Subnamespaces("detach")
	hold := func(patch string) {
		t.Helper()
		if _, err := root.CoreV1().Namespaces().Patch(t.Context(), "detach-held", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	hold(`{"metadata":{"finalizers":["example.com/hold"]}}`)
	if err := records.Delete(t.Context(), "detach-held", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if s, err := records.Patch(t.Context(), "detach-held", types.MergePatchType, []byte(withoutFinalizers), metav1.PatchOptions{}); err != nil || len(s.Finalizers) == 0 {
		t.Errorf("while it is being deleted: got %v, %v", s.Finalizers, err)
	}
	hold(withoutFinalizers)
	eventuallyNoNamespace(t, "detach-held")

	if err := root.hierarchy(t, "detach", cascades); err != nil {
		t.Fatal(err)
	}
	newOperator(t, "operator-detach").deleteNamespace(t, "detach")
	eventuallyNoNamespace(t, "detach-sub")
	eventuallyNoNamespace(t, "detach")
}

// A full namespace whose name a Subnamespace claims is not kept by it.
func TestAnEditorFreesAClaimInVain(t *testing.T) {
	namespaces(t, "vain-top")
	eve := newUser(t, "eve-vain")
	eve.bind(t, "vain-top", "edit")
	eve.eventuallyMay(t, "patch", hnc.GroupName, "subnamespaces", "vain-top", "")
	stopped(t, func() {
		eve.claim(t, "vain-top", "vain-full")
		namespaces(t, "vain-full")
		s, err := eve.HNC.HncV1beta1().Subnamespaces("vain-top").Patch(t.Context(), "vain-full", types.MergePatchType, []byte(withoutFinalizers), metav1.PatchOptions{})
		if err != nil || len(s.Finalizers) > 0 {
			t.Errorf("got %v, %v", s.Finalizers, err)
		}
	})
}

// An admin of the root may detach a sub-namespace, and earlier versions let editors do so. It still goes with its
// parent.
func TestADetachedSubnamespaceGoesWithItsParent(t *testing.T) {
	namespaces(t, "alone")
	subnamespaces(t, "alone", "alone-sub", "alone-below")
	admin, operator := newUser(t, "admin-alone"), newOperator(t, "operator-alone")
	admin.admin(t, "alone")
	admin.eventuallyMay(t, "delete", hnc.GroupName, "subnamespaces", "alone-sub", "")
	if err := admin.hierarchy(t, "alone", cascades); err != nil {
		t.Fatal(err)
	}
	for _, key := range [][2]string{{"alone", "alone-sub"}, {"alone-sub", "alone-below"}} {
		records := admin.HNC.HncV1beta1().Subnamespaces(key[0])
		s, err := records.Patch(t.Context(), key[1], types.MergePatchType, []byte(withoutFinalizers), metav1.PatchOptions{})
		if err != nil || len(s.Finalizers) > 0 {
			t.Fatalf("got %v, %v", s.Finalizers, err)
		}
		if err := records.Delete(t.Context(), key[1], metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		eventuallyReports(t, key[1], hnc.ReasonSubnamespaceMissing)
		eventuallyLabelled(t, key[0], hnc.LabelCascadingDeletion, hnc.CascadingAllowed)
		eventuallyLabelled(t, key[0], hnc.LabelHasSubnamespaces, "true")
	}
	// Its parent waits for it, although Kubernetes has deleted all content of the parent.
	stopped(t, func() {
		operator.deleteNamespace(t, "alone")
		suite.Eventually(t, "only our finalizer keeps the parent", func() error {
			ns, err := root.CoreV1().Namespaces().Get(t.Context(), "alone", metav1.GetOptions{})
			if err == nil && (len(ns.Spec.Finalizers) > 0 || !finalized(ns)) {
				err = fmt.Errorf("it has %v and %v", ns.Spec.Finalizers, ns.Finalizers)
			}
			return err
		})
	})
	for _, name := range []string{"alone-below", "alone-sub", "alone"} {
		eventuallyNoNamespace(t, name)
	}
}
