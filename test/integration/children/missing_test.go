package children

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// ancestryIs waits until a namespace reports a path, and has the tree labels of all who are on it.
func ancestryIs(t *testing.T, name string, path ...string) {
	t.Helper()
	suite.Eventually(t, fmt.Sprintf("the ancestors of %s are %v", name, path), func() error {
		ns, err := root.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		want, labels := "", 0
		for i, at := range path {
			if i > 0 {
				want += "."
			}
			want += at
			if ns.Labels[hnc.TreeLabel(at)] != fmt.Sprint(i) {
				return fmt.Errorf("got the labels %v", ns.Labels)
			}
		}
		for key := range ns.Labels {
			if _, ok := hnc.TreeLabelAncestor(key); ok {
				labels++
			}
		}
		if got := ns.Annotations[hnc.AnnotationAncestry]; got != want || labels != len(path) {
			return fmt.Errorf("got %q, and the labels %v", got, ns.Labels)
		}
		return nil
	})
}

func TestAParentMayComeLater(t *testing.T) {
	namespaces(t, "early", "early-child")
	alice, operator := newUser(t, "alice-early"), newUser(t, "operator-early")
	alice.admin(t, "early", "early-child")
	operator.admin(t, "early")
	operator.grant(t, "", "create /namespaces")
	if err := alice.hierarchy(t, "early-child", below("early")); err != nil {
		t.Fatal(err)
	}

	refused(t, "who has no permission to it", alice.hierarchy(t, "early", below("later")), apierrors.IsForbidden, `namespace "later", which is the new parent`)
	everywhere := newUser(t, "everywhere-early")
	everywhere.bind(t, "", "admin")
	everywhere.eventuallyMay(t, "update", hnc.GroupName, "hierarchies", "", "")
	refused(t, "who may not create namespaces", everywhere.hierarchy(t, "early", below("later")), apierrors.IsInvalid,
		`spec.parent: Invalid value: "later": namespace "later" does not exist; create it first`, "takes the verb create on namespaces in the cluster", `"everywhere-early"`)
	refused(t, "an excluded parent", operator.hierarchy(t, "early", below("kube-public")), apierrors.IsForbidden, "excluded")
	refused(t, "who is not admin of what is to come", operator.hierarchy(t, "early", below("later")), apierrors.IsForbidden,
		`namespace "later", which is the new parent`, "update on hierarchies.hnc.x-k8s.io")
	operator.bind(t, "", "admin")
	suite.Eventually(t, "an admin of all namespaces names it", func() error { return operator.hierarchy(t, "early", below("later")) })
	eventuallyReports(t, "early", hnc.ReasonParentMissing, `"later" does not exist; create it`)
	eventuallyReports(t, "early-child", hnc.ReasonAncestorHalted, `"early"`)
	ancestryIs(t, "early-child", "early-child", "early")

	namespaces(t, "later")
	ancestryIs(t, "early", "early", "later")
	ancestryIs(t, "early-child", "early-child", "early", "later")
	eventuallyReports(t, "early", "-"+hnc.ReasonParentMissing)
	alice.admin(t, "later")
	alice.eventuallyMay(t, "update", hnc.GroupName, "hierarchies", "early-child", "")
	refused(t, "the parent below its child", root.hierarchy(t, "later", below("early-child")), apierrors.IsInvalid, "which is its descendant")
}

func TestTheAncestryIsKeptRight(t *testing.T) {
	namespaces(t, "path")
	if _, err := root.subnamespace(t, "path", "path-sub"); err != nil {
		t.Fatal(err)
	}
	// It is there from the start.
	ns, err := root.CoreV1().Namespaces().Get(t.Context(), "path-sub", metav1.GetOptions{})
	if err != nil || ns.Annotations[hnc.AnnotationAncestry] != "path-sub.path" {
		t.Errorf("got %v, %v", ns.Annotations, err)
	}
	ancestryIs(t, "path", "path")

	alice := newUser(t, "alice-path")
	alice.grant(t, "", "get,patch /namespaces")
	suite.Eventually(t, "the policy has effect", func() error {
		_, err := alice.CoreV1().Namespaces().Patch(t.Context(), "path", types.MergePatchType, []byte(`{"metadata":{"annotations":{"hnc.x-k8s.io/ancestry":"path.mine"}}}`), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
		if !apierrors.IsForbidden(err) {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
	if _, err := alice.CoreV1().Namespaces().Patch(t.Context(), "path", types.MergePatchType, []byte(`{"metadata":{"annotations":{"a":"b"}}}`), metav1.PatchOptions{}); err != nil {
		t.Errorf("a user who leaves it alone got %v", err)
	}
	// A restore may bring an outdated one.
	restored := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "path-restored", Annotations: map[string]string{hnc.AnnotationAncestry: "path-restored.elsewhere"}}}
	if _, err := root.CoreV1().Namespaces().Create(t.Context(), restored, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	ancestryIs(t, "path-restored", "path-restored")
	if err := root.hierarchy(t, "path-restored", below("path-sub")); err != nil {
		t.Fatal(err)
	}
	ancestryIs(t, "path-restored", "path-restored", "path-sub", "path")
	ns, err = root.CoreV1().Namespaces().Get(t.Context(), "kube-public", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if path, ok := ns.Annotations[hnc.AnnotationAncestry]; ok {
		t.Errorf("an excluded namespace reports %q", path)
	}
}
