package children

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// annotate says of which namespace another is a sub-namespace; "" says of none.
func (u user) annotate(t *testing.T, namespace, of string) error {
	t.Helper()
	value := "null"
	if of != "" {
		value = fmt.Sprintf("%q", of)
	}
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, hnc.AnnotationSubnamespaceOf, value)
	_, err := u.CoreV1().Namespaces().Patch(t.Context(), namespace, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

// owner makes the user an admin of a namespace who may also update and delete the namespace itself.
func (u user) owner(t *testing.T, namespace string) {
	t.Helper()
	u.admin(t, namespace)
	u.grant(t, namespace, "get,update,patch,delete /namespaces")
}

// binding creates a RoleBinding, and returns its name.
func binding(t *testing.T, namespace string) string {
	t.Helper()
	b := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: namespace + "-viewers"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"}}
	if _, err := root.RbacV1().RoleBindings(namespace).Create(t.Context(), b, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.Name
}

func eventuallyCopied(t *testing.T, namespace, name string) {
	t.Helper()
	suite.Eventually(t, name+" is copied to "+namespace, func() error {
		_, err := root.RbacV1().RoleBindings(namespace).Get(t.Context(), name, metav1.GetOptions{})
		return err
	})
}

func TestAnAnnotationAloneDoesNotJoinATree(t *testing.T) {
	namespaces(t, "anno-victim", "anno-mine", "anno-other")
	mallory := newUser(t, "mallory-anno")
	mallory.owner(t, "anno-mine")
	secret := binding(t, "anno-victim")
	outside := func() {
		t.Helper()
		eventuallyReports(t, "anno-mine", hnc.ReasonSubnamespaceMissing, `"anno-victim", which has no Subnamespace`)
		ancestryIs(t, "anno-mine", "anno-mine")
		h, err := root.HNC.HncV1beta1().Hierarchies("anno-mine").Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
		if err != nil || h.Spec.Parent != "" {
			t.Errorf("the hierarchy is %+v, %v", h, err)
		}
		if _, err := root.RbacV1().RoleBindings("anno-mine").Get(t.Context(), secret, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("a RoleBinding was copied: %v", err)
		}
		victim, err := root.CoreV1().Namespaces().Get(t.Context(), "anno-victim", metav1.GetOptions{})
		if err != nil || victim.Labels[hnc.LabelHasSubnamespaces] != "" || victim.Labels[hnc.LabelInTree] != "" {
			t.Errorf("the parent that was named has the labels %v, %v", victim.Labels, err)
		}
	}
	suite.Eventually(t, "the policy denies the annotation", func() error {
		if err := mallory.annotate(t, "anno-mine", "anno-victim"); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "in namespace anno-victim") {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
	// One that was written before there was such a policy.
	if err := root.annotate(t, "anno-mine", "anno-victim"); err != nil {
		t.Fatal(err)
	}
	outside()

	// Making the hierarchy anew changes nothing, no matter who does it.
	mine := mallory.HNC.HncV1beta1().Hierarchies("anno-mine")
	if err := mine.Delete(t.Context(), hnc.Singleton, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	outside()
	if err := mallory.hierarchy(t, "anno-mine", requires()); err != nil {
		t.Fatal(err)
	}
	outside()
	refused(t, "naming the parent as well", mallory.hierarchy(t, "anno-mine", below("anno-victim")), apierrors.IsForbidden, `"anno-victim", which is the new parent`)

	// Another copy is the proof that everything has been looked at.
	if err := root.hierarchy(t, "anno-other", below("anno-victim")); err != nil {
		t.Fatal(err)
	}
	eventuallyCopied(t, "anno-other", secret)
	h, err := root.HNC.HncV1beta1().Hierarchies("anno-victim").Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
	if err == nil && len(h.Status.Children) > 1 {
		t.Errorf("the children of the parent are %v", h.Status.Children)
	}

	// With a Subnamespace it does: so a restore may bring the namespace first.
	if _, err := root.subnamespace(t, "anno-victim", "anno-mine"); err != nil {
		t.Fatal(err)
	}
	ancestryIs(t, "anno-mine", "anno-mine", "anno-victim")
	eventuallyReports(t, "anno-mine", "-"+hnc.ReasonSubnamespaceMissing)
	eventuallyCopied(t, "anno-mine", secret)
	suite.Eventually(t, "the hierarchy names the parent", func() error {
		h, err := root.HNC.HncV1beta1().Hierarchies("anno-mine").Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
		if err == nil && h.Spec.Parent != "anno-victim" {
			err = fmt.Errorf("got %+v", h.Spec)
		}
		return err
	})
}

func managedBy(t *testing.T, u user, namespace, who string) error {
	t.Helper()
	_, err := u.CoreV1().Namespaces().Patch(t.Context(), namespace, types.MergePatchType,
		fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%s}}}`, hnc.AnnotationManagedBy, who), metav1.PatchOptions{})
	return err
}

// Users allowed to patch a namespace, and nothing in it, must not take it into a tree of theirs.
func TestUpdatingANamespaceTakesItIntoNoTree(t *testing.T) {
	namespaces(t, "taken-victim", "taken-lab")
	mallory := newUser(t, "mallory-taken")
	mallory.admin(t, "taken-lab")
	mallory.grant(t, "", "get,patch /namespaces taken-victim")
	suite.Eventually(t, "the policy denies the annotation", func() error {
		if err := mallory.annotate(t, "taken-victim", "taken-lab"); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "join the tree of taken-lab") {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
	// One that was written before there was such a policy.
	if err := root.annotate(t, "taken-victim", "taken-lab"); err != nil {
		t.Fatal(err)
	}
	_, err := mallory.subnamespace(t, "taken-lab", "taken-victim")
	refused(t, "a Subnamespace", err, apierrors.IsForbidden, `"taken-victim" exists and is in no tree`, "update on hierarchies.hnc.x-k8s.io")
	refused(t, "a required child", mallory.hierarchy(t, "taken-lab", requires("taken-victim")), apierrors.IsForbidden, "spec.requiredChildren[0]", "create the Subnamespace first")

	// An owner of the namespace who may create sub-namespaces in the tree, which is less than its admins may.
	eve := newUser(t, "eve-taken")
	eve.bind(t, "taken-lab", "edit")
	eve.admin(t, "taken-victim")
	eve.eventuallyMay(t, "create", hnc.GroupName, "subnamespaces", "taken-lab", "")
	_, err = eve.subnamespace(t, "taken-lab", "taken-victim")
	refused(t, "a Subnamespace of an editor", err, apierrors.IsForbidden, `namespace "taken-lab", which is the new parent`, "update on hierarchies.hnc.x-k8s.io")

	alice := newUser(t, "alice-taken")
	alice.admin(t, "taken-lab", "taken-victim")
	if _, err := alice.subnamespace(t, "taken-lab", "taken-victim"); err != nil {
		t.Fatal(err)
	}
	ancestryIs(t, "taken-victim", "taken-victim", "taken-lab")
}

// Whether a namespace in a tree is external decides what its descendants inherit, and takes an orphan out of its tree.
func TestUpdatingANamespaceMakesNoneInATreeExternal(t *testing.T) {
	namespaces(t, "ext-root", "ext-child", "ext-gone", "ext-orphan", "ext-alone")
	for child, parent := range map[string]string{"ext-child": "ext-root", "ext-orphan": "ext-gone"} {
		if err := root.hierarchy(t, child, below(parent)); err != nil {
			t.Fatal(err)
		}
		ancestryIs(t, child, child, parent)
	}
	if err := root.CoreV1().Namespaces().Delete(t.Context(), "ext-gone", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventuallyReports(t, "ext-orphan", hnc.ReasonParentMissing)
	mallory := newUser(t, "mallory-ext")
	mallory.grant(t, "", "get,patch /namespaces")
	for _, name := range []string{"ext-root", "ext-orphan"} {
		suite.Eventually(t, "the policy protects "+name, func() error {
			if err := managedBy(t, mallory, name, `"mallory"`); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "update on hierarchies.hnc.x-k8s.io in namespace "+name) {
				return fmt.Errorf("got %w", err)
			}
			return nil
		})
	}
	if err := managedBy(t, mallory, "ext-alone", `"mallory"`); err != nil {
		t.Errorf("in no tree: %v", err)
	}
	alice := newUser(t, "alice-ext")
	alice.owner(t, "ext-root")
	if err := managedBy(t, alice, "ext-root", `"alice"`); err != nil {
		t.Errorf("its admin: %v", err)
	}
	refused(t, "no longer external", managedBy(t, mallory, "ext-root", "null"), apierrors.IsForbidden, "to remove it takes the verb update on hierarchies.hnc.x-k8s.io")
	if err := managedBy(t, alice, "ext-root", "null"); err != nil {
		t.Errorf("its admin: %v", err)
	}
}

// An annotation on a full namespace, which somebody else holds by its hierarchy, does not keep its admins from moving
// it.
func TestAnAnnotationAloneDoesNotBlockAMove(t *testing.T) {
	namespaces(t, "stuck-old", "stuck-new", "stuck")
	if err := root.hierarchy(t, "stuck", below("stuck-old")); err != nil {
		t.Fatal(err)
	}
	owner, alice := newUser(t, "owner-stuck"), newUser(t, "alice-stuck")
	owner.owner(t, "stuck")
	alice.admin(t, "stuck-old", "stuck-new", "stuck")
	// Nor does it protect the parent from deletion, nor the next one.
	eventuallyLabelled(t, "stuck", hnc.TreeLabel("stuck-old"), "1")
	refused(t, "its owner, before it is a child", owner.annotate(t, "stuck", "stuck-new"), apierrors.IsForbidden, "in namespace stuck-new")
	refused(t, "its owner", owner.annotate(t, "stuck", "stuck-old"), apierrors.IsForbidden, "would make the child stuck a sub-namespace of stuck-old",
		"in namespace stuck-old")
	owner.admin(t, "stuck-old")
	if err := owner.annotate(t, "stuck", "stuck-old"); err != nil {
		t.Fatal(err)
	}
	eventuallyLabelled(t, "stuck-old", hnc.LabelHasSubnamespaces, "true")
	if err := alice.hierarchy(t, "stuck", below("stuck-new")); err != nil {
		t.Fatal(err)
	}
	ancestryIs(t, "stuck", "stuck", "stuck-new")
}

// Tree labels, which the admission policy reads, are late while no propagator runs. What was authorized decides.
func TestNoAnnotationTakesANamespaceOutBeforeItHasItsTreeLabels(t *testing.T) {
	namespaces(t, "late-root", "late-child")
	inherited := binding(t, "late-root")
	mallory := newUser(t, "mallory-late")
	mallory.grant(t, "", "get,patch /namespaces late-child")
	mallory.eventuallyMay(t, "patch", "", "namespaces", "", "late-child")
	if err := cp.StopProcess(t.Context(), propagator.Name); err != nil {
		t.Fatal(err)
	}
	moved := root.hierarchy(t, "late-child", below("late-root"))
	annotated := managedBy(t, mallory, "late-child", `"mallory"`)
	if _, err := cp.StartServer(t.Context(), installation, propagator); err != nil {
		t.Fatal(err)
	}
	if moved != nil || annotated != nil {
		t.Fatal(moved, annotated)
	}
	ancestryIs(t, "late-child", "late-child", "late-root")
	eventuallyCopied(t, "late-child", inherited)
	// Nor afterwards, when the namespace is deleted: Kubernetes deletes the hierarchy before it.
	suite.Eventually(t, "the annotation is removed", func() error {
		ns, err := root.CoreV1().Namespaces().Get(t.Context(), "late-child", metav1.GetOptions{})
		if err == nil && ns.Annotations[hnc.AnnotationManagedBy] != "" {
			err = errors.New("it is there")
		}
		return err
	})
}
