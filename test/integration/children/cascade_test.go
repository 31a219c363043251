package children

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const namespaceController = "kube-controller-manager"

// withoutNamespaceController runs f while nothing deletes the content of terminating namespaces.
func withoutNamespaceController(t *testing.T, f func()) {
	t.Helper()
	if err := cp.StopProcess(t.Context(), namespaceController); err != nil {
		t.Fatal(err)
	}
	f()
	if _, err := controlplane.Start(t.Context(), suite.Config(cp.Dir(), binDir)); err != nil {
		t.Fatal(err)
	}
}

// subnamespaces creates sub-namespaces, each below the one before; the first one exists.
func subnamespaces(t *testing.T, names ...string) {
	t.Helper()
	for i, name := range names[1:] {
		if _, err := root.subnamespace(t, names[i], name); err != nil {
			t.Fatal(err)
		}
		eventuallyReady(t, names[i], name)
	}
}

func cascades(s *v1beta1.HierarchySpec) { allowed := true; s.AllowCascadingDeletion = &allowed }

// deleteNamespace deletes a namespace as the user, once the policy has learned that this is allowed.
func (u user) deleteNamespace(t *testing.T, name string) {
	t.Helper()
	suite.Must(t, "deleting "+name, func() error { return u.CoreV1().Namespaces().Delete(t.Context(), name, metav1.DeleteOptions{}) })
}

// newOperator makes a user who may delete namespaces.
func newOperator(t *testing.T, name string) user {
	t.Helper()
	u := newUser(t, name)
	u.grant(t, "", "get,patch,update,delete /namespaces")
	return u
}

// claim creates a Subnamespace without waiting for its namespace.
func (u user) claim(t *testing.T, parent, name string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		_, _ = u.HNC.HncV1beta1().Subnamespaces(parent).Create(ctx, subnamespaceOf(name), metav1.CreateOptions{})
	}()
	suite.Eventually(t, "the Subnamespace is stored", func() error {
		_, err := root.HNC.HncV1beta1().Subnamespaces(parent).Get(t.Context(), name, metav1.GetOptions{})
		return err
	})
}

// eventuallyTerminating waits until namespaces are being deleted.
func eventuallyTerminating(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		suite.Eventually(t, name+" terminates", func() error {
			ns, err := root.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{})
			if err == nil && ns.DeletionTimestamp == nil {
				err = fmt.Errorf("it is %s", ns.Status.Phase)
			}
			return err
		})
	}
}

func active(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if ns, err := root.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{}); err != nil || ns.Status.Phase != corev1.NamespaceActive {
			t.Errorf("%s: %v, %v", name, ns.Status.Phase, err)
		}
	}
}

// eventuallyReleased waits until a Subnamespace has no finalizers, deleted or not.
func eventuallyReleased(t *testing.T, parent, name string) {
	t.Helper()
	suite.Eventually(t, fmt.Sprintf("Subnamespace %s/%s has no finalizers", parent, name), func() error {
		s, err := root.HNC.HncV1beta1().Subnamespaces(parent).Get(t.Context(), name, metav1.GetOptions{})
		if err == nil && len(s.Finalizers) > 0 {
			err = fmt.Errorf("it has %v", s.Finalizers)
		}
		return err
	})
}

// terminatingInTree waits until exactly these namespaces of a tree are shown as being deleted.
func terminatingInTree(t *testing.T, namespace, want string) {
	t.Helper()
	suite.EventuallyEqual(t, "what is being deleted in the tree of "+namespace, want, func() string {
		answer, err := root.HNC.HncV1beta1().Hierarchies(namespace).GetTree(t.Context(), hnc.Singleton, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		var names []string
		for _, n := range answer.Nodes {
			if n.Terminating {
				names = append(names, n.Name)
			}
		}
		return strings.Join(names, " ")
	})
}

// childrenAre waits until the status of a hierarchy lists these children, in the version of HNC's clients.
func childrenAre(t *testing.T, namespace, want string) {
	t.Helper()
	suite.EventuallyEqual(t, "the children of "+namespace, want, func() string {
		h, err := root.HNC.HncV1alpha2().HierarchyConfigurations(namespace).Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		return strings.Join(h.Status.Children, " ")
	})
}

// Kubernetes reaches the Subnamespaces of a terminating namespace after seconds, and the next level after more. Here it
// never does.
func TestCascadeDeletesAllLevelsAtOnce(t *testing.T) {
	namespaces(t, "at-once", "at-once-full", "at-once-stays")
	subnamespaces(t, "at-once", "at-once-1", "at-once-2", "at-once-3")
	subnamespaces(t, "at-once-full", "at-once-below")
	subnamespaces(t, "at-once-stays", "at-once-sub", "at-once-leaf")
	for namespace, change := range map[string]func(*v1beta1.HierarchySpec){"at-once": cascades, "at-once-sub": cascades, "at-once-full": below("at-once-1")} {
		if err := root.hierarchy(t, namespace, change); err != nil {
			t.Fatal(err)
		}
	}
	operator, editor := newOperator(t, "operator-at-once"), newUser(t, "editor-at-once")
	editor.bind(t, "at-once-stays", "edit")
	editor.eventuallyMay(t, "delete", hnc.GroupName, "subnamespaces", "at-once-stays", "")
	withoutNamespaceController(t, func() {
		operator.deleteNamespace(t, "at-once")
		if err := editor.HNC.HncV1beta1().Subnamespaces("at-once-stays").Delete(t.Context(), "at-once-sub", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		eventuallyTerminating(t, "at-once-1", "at-once-2", "at-once-3", "at-once-sub", "at-once-leaf")
		eventuallyReleased(t, "at-once", "at-once-1")
		eventuallyReleased(t, "at-once-1", "at-once-2")
		eventuallyReleased(t, "at-once-2", "at-once-3")
		eventuallyReleased(t, "at-once-sub", "at-once-leaf")
		// Its parent stays, so it waits for its namespace.
		s, err := root.HNC.HncV1beta1().Subnamespaces("at-once-stays").Get(t.Context(), "at-once-sub", metav1.GetOptions{})
		if err != nil || !slices.Contains(s.Finalizers, hnc.FinalizerSubnamespace) {
			t.Errorf("DEL-4: got %v, %v", s.Finalizers, err)
		}
		active(t, "at-once-full", "at-once-below", "at-once-stays")
		terminatingInTree(t, "at-once", "at-once at-once-1 at-once-2 at-once-3")
		terminatingInTree(t, "at-once-stays", "at-once-sub at-once-leaf")
		// HNC's plugin prints the children that the status lists.
		childrenAre(t, "at-once-stays", "at-once-sub")
		if err := root.HNC.HncV1beta1().Hierarchies("at-once-sub").Delete(t.Context(), hnc.Singleton, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		childrenAre(t, "at-once-stays", "")
		terminatingInTree(t, "at-once-stays", "at-once-sub at-once-leaf")
	})
	for _, name := range []string{"at-once", "at-once-1", "at-once-2", "at-once-3", "at-once-sub", "at-once-leaf"} {
		eventuallyNoNamespace(t, name)
	}
	active(t, "at-once-full", "at-once-below", "at-once-stays")
	eventuallyReports(t, "at-once-full", hnc.ReasonParentMissing)
	suite.Eventually(t, "the Subnamespace is gone", func() error {
		if _, err := root.HNC.HncV1beta1().Subnamespaces("at-once-stays").Get(t.Context(), "at-once-sub", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
}

// A tenant who may delete a namespace and its sub-namespaces must not delete those of others along with them, whatever
// else has a Subnamespace there.
func TestCascadeLeavesWhatDoesNotBelongToIt(t *testing.T) {
	namespaces(t, "leaves", "leaves-victim-top")
	subnamespaces(t, "leaves", "leaves-converted", "leaves-converted-sub")
	subnamespaces(t, "leaves", "leaves-void")
	subnamespaces(t, "leaves", "leaves-again")
	subnamespaces(t, "leaves", "leaves-goes")
	mallory := newOperator(t, "mallory-leaves")
	mallory.admin(t, "leaves")
	if err := mallory.hierarchy(t, "leaves", cascades); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"leaves-void", "leaves-again"} {
		if err := mallory.annotate(t, name, ""); err != nil {
			t.Fatal(err)
		}
		eventuallyVoid(t, "leaves", name)
	}
	// A void Subnamespace does not come to life again, but the namespace is a sub-namespace again, whose Subnamespace
	// she could create again.
	if err := mallory.annotate(t, "leaves-again", "leaves"); err != nil {
		t.Fatal(err)
	}
	eventuallyReports(t, "leaves-again", hnc.ReasonSubnamespaceMissing)
	stopped(t, func() {
		// Names that are claimed while they are free.
		for _, name := range []string{"leaves-victim", "leaves-victim-sub"} {
			mallory.claim(t, "leaves", name)
		}
		namespaces(t, "leaves-victim")
		if _, err := root.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: "leaves-victim-sub", Annotations: map[string]string{hnc.AnnotationSubnamespaceOf: "leaves-victim-top"},
		}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		mallory.deleteNamespace(t, "leaves")
		if err := mallory.annotate(t, "leaves-converted", ""); err != nil {
			t.Fatal(err)
		}
	})
	eventuallyNoNamespace(t, "leaves-goes")
	eventuallyNoNamespace(t, "leaves-again")
	eventuallyNoNamespace(t, "leaves")
	active(t, "leaves-converted", "leaves-converted-sub", "leaves-void", "leaves-victim", "leaves-victim-sub", "leaves-victim-top")
}

// A namespace is deleted before the label by which the policy permits that follows its hierarchy.
func TestARevokedPermissionDoesNotCascade(t *testing.T) {
	namespaces(t, "revoked")
	subnamespaces(t, "revoked", "revoked-1")
	if err := root.hierarchy(t, "revoked", cascades); err != nil {
		t.Fatal(err)
	}
	eventuallyLabelled(t, "revoked", hnc.LabelCascadingDeletion, hnc.CascadingAllowed)
	operator := newOperator(t, "operator-revoked")
	withoutNamespaceController(t, func() {
		stopped(t, func() {
			if err := root.hierarchy(t, "revoked", func(s *v1beta1.HierarchySpec) { s.AllowCascadingDeletion = nil }); err != nil {
				t.Fatal(err)
			}
			operator.deleteNamespace(t, "revoked")
		})
		eventuallyLabelled(t, "revoked", hnc.LabelCascadingDeletion, "")
		eventuallyReleased(t, "revoked", "revoked-1")
	})
	eventuallyNoNamespace(t, "revoked")
	eventuallyReports(t, "revoked-1", hnc.ReasonParentMissing)
	active(t, "revoked-1")
}
