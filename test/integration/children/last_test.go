package children

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/migration/release"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// vanishing returns the order in which namespaces and Subnamespaces vanish, which are named "subns NAME", once the last
// of them has.
func vanishing(t *testing.T, last string, names ...string) func() []string {
	t.Helper()
	namespaces, err := root.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	changes, err := root.CoreV1().Namespaces().Watch(t.Context(), metav1.ListOptions{ResourceVersion: namespaces.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	return func() []string {
		defer changes.Stop()
		ctx, cancel := context.WithTimeout(t.Context(), suite.Deadline)
		defer cancel()
		var gone []string
		for !slices.Contains(gone, last) {
			select {
			case event := <-changes.ResultChan():
				if ns, ok := event.Object.(*corev1.Namespace); ok && event.Type == watch.Deleted && slices.Contains(names, ns.Name) {
					gone = append(gone, ns.Name)
				}
			case <-ctx.Done():
				t.Fatalf("gone are only %v", gone)
			}
		}
		return gone
	}
}

// leave fails the test unless the namespaces have vanished in this order.
func leave(t *testing.T, gone []string, want ...string) {
	t.Helper()
	if !slices.Equal(gone, want) {
		t.Errorf("the namespaces vanished in the order %v, want %v", gone, want)
	}
}

func finalized(ns *corev1.Namespace) bool {
	return slices.Contains(ns.Finalizers, hnc.FinalizerSubnamespaces)
}

// As kubectl does, which waits for what it deletes.
func TestWhatHasSubnamespacesVanishesLast(t *testing.T) {
	namespaces(t, "last", "last-stays")
	subnamespaces(t, "last", "last-1", "last-2", "last-3")
	subnamespaces(t, "last-stays", "last-sub", "last-sub-1", "last-sub-2")
	for _, name := range []string{"last", "last-sub"} {
		if err := root.hierarchy(t, name, cascades); err != nil {
			t.Fatal(err)
		}
	}
	operator, editor := newOperator(t, "operator-last"), newUser(t, "editor-last")
	editor.bind(t, "last-stays", "edit")
	editor.eventuallyMay(t, "delete", hnc.GroupName, "subnamespaces", "last-stays", "")

	gone := vanishing(t, "last", "last", "last-1", "last-2", "last-3")
	operator.deleteNamespace(t, "last")
	leave(t, gone(), "last-3", "last-2", "last-1", "last")

	subs, err := editor.HNC.HncV1beta1().Subnamespaces("last-stays").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	changes, err := editor.HNC.HncV1beta1().Subnamespaces("last-stays").Watch(t.Context(), metav1.ListOptions{ResourceVersion: subs.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer changes.Stop()
	gone = vanishing(t, "last-sub", "last-sub", "last-sub-1", "last-sub-2")
	suite.Must(t, "deleting the Subnamespace", func() error {
		return editor.HNC.HncV1beta1().Subnamespaces("last-stays").Delete(t.Context(), "last-sub", metav1.DeleteOptions{})
	})
	for event := range changes.ResultChan() {
		if s, ok := event.Object.(*v1beta1.Subnamespace); ok && event.Type == watch.Deleted && s.Name == "last-sub" {
			break
		}
	}
	all, err := root.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, ns := range all.Items {
		if strings.HasPrefix(ns.Name, "last-sub") {
			t.Errorf("%s is still there without the Subnamespace", ns.Name)
		}
		if ns.Name == "last-stays" {
			suite.Eventually(t, "a namespace without sub-namespaces has no finalizer", func() error {
				live, err := root.CoreV1().Namespaces().Get(t.Context(), ns.Name, metav1.GetOptions{})
				if err == nil && finalized(live) {
					err = fmt.Errorf("it has %v", live.Finalizers)
				}
				return err
			})
		}
	}
	leave(t, gone(), "last-sub-2", "last-sub-1", "last-sub")
}

// A tenant's finalizer on a leaf keeps what is above it, which says so. Only its own admins can keep a namespace: not
// by an annotation, nor by our finalizer.
func TestANamespaceSaysWhatKeepsIt(t *testing.T) {
	namespaces(t, "kept", "kept-pretender")
	subnamespaces(t, "kept", "kept-1", "kept-2")
	if err := root.hierarchy(t, "kept", cascades); err != nil {
		t.Fatal(err)
	}
	operator := newOperator(t, "operator-kept")
	mallory := newUser(t, "mallory-kept")
	mallory.grant(t, "", "get,patch /namespaces kept-2", "get,patch,delete /namespaces kept-pretender")
	patchAs := func(u user, namespace, change string) {
		t.Helper()
		suite.Must(t, "patching "+namespace, func() error {
			_, err := u.CoreV1().Namespaces().Patch(t.Context(), namespace, types.MergePatchType, []byte(change), metav1.PatchOptions{})
			return err
		})
	}
	patch := func(namespace, change string) { t.Helper(); patchAs(mallory, namespace, change) }
	// Its owner could only create it with this annotation.
	patchAs(root, "kept-pretender", `{"metadata":{"annotations":{"hnc.x-k8s.io/subnamespace-of":"kept"}}}`)
	patch("kept-pretender", `{"metadata":{"finalizers":["example.com/mine","hnc.x-k8s.io/subnamespaces"]}}`)
	suite.Must(t, "deleting it", func() error {
		return mallory.CoreV1().Namespaces().Delete(t.Context(), "kept-pretender", metav1.DeleteOptions{})
	})
	patch("kept-2", `{"metadata":{"finalizers":["example.com/mine"]}}`)

	operator.deleteNamespace(t, "kept")
	suite.Eventually(t, "the condition names the leaf", func() error {
		ns, err := root.CoreV1().Namespaces().Get(t.Context(), "kept", metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, condition := range ns.Status.Conditions {
			if condition.Type == hnc.ConditionSubnamespacesRemain && condition.Status == corev1.ConditionTrue && strings.Contains(condition.Message, ": kept-2;") {
				return nil
			}
		}
		return fmt.Errorf("the conditions are %v", ns.Status.Conditions)
	})
	patch("kept-2", `{"metadata":{"finalizers":null}}`)
	for _, name := range []string{"kept-2", "kept-1", "kept"} {
		eventuallyNoNamespace(t, name)
	}
	patch("kept-pretender", `{"metadata":{"finalizers":null}}`)
	eventuallyNoNamespace(t, "kept-pretender")
}

// Without our servers, the finalizers would keep namespaces for ever. Managed fields that are written in protobuf may have so many levels that
// kubectl can decode neither their namespace nor a list with it.
func TestFinalizersOfNamespacesGoWithOurServers(t *testing.T) {
	deep := []metav1.ManagedFieldsEntry{{
		Manager: "tenant", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", FieldsType: "FieldsV1",
		FieldsV1: metav1.NewFieldsV1(strings.Repeat(`{"f:a":`, 9_998) + "{}" + strings.Repeat("}", 9_998)),
	}}
	for name, release := range map[string]func() error{
		"left-removal": func() error { return release.Namespaces(t.Context(), root, "test") },
		"left-emergency": func() error {
			file := filepath.Join(t.TempDir(), "apiservices.yaml")
			if err := suite.Emergency(t.Context(), cp, binDir, "suspend", file); err != nil {
				return err
			}
			return suite.Emergency(t.Context(), cp, binDir, "resume", file)
		},
	} {
		namespaces(t, name)
		subnamespaces(t, name, name+"-sub")
		stopped(t, func() {
			ns, err := root.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			ns.Finalizers, ns.ManagedFields = append(ns.Finalizers, "example.com/others"), deep
			if _, err := root.CoreV1().Namespaces().Update(t.Context(), ns, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			if err := release(); err != nil {
				t.Fatal(err)
			}
			ns, err = root.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{})
			if err != nil || !slices.Equal(ns.Finalizers, []string{"example.com/others"}) {
				t.Errorf("%s: got %v, %v", name, ns.Finalizers, err)
			}
		})
		suite.Eventually(t, name+" has the finalizer again", func() error {
			ns, err := root.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{})
			if err == nil && !finalized(ns) {
				err = fmt.Errorf("it has %v", ns.Finalizers)
			}
			return err
		})
		// Other tests list namespaces in JSON.
		if _, err := root.CoreV1().Namespaces().Patch(t.Context(), name, types.StrategicMergePatchType, []byte(`{"metadata":{"managedFields":[{}]}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}
