package upgrade

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// Each test is about one state of record/states.go: what its people can do now, and that mallory can't go on.

func TestUpgradeWithAMissingParentThatWasClaimed(t *testing.T) {
	eventuallyReady(t, "claimed-orphan")
	patchHierarchy(t, root, "claimed-orphan", `{"spec":{"parent":null}}`)
	eventuallyNotCopied(t, "claimed-orphan", "mallory-edit")
	eventuallyReady(t, "claimed-orphan")
}

func TestUpgradeWithAMissingParent(t *testing.T) {
	eventuallyReports(t, "claimed-missing", hnc.ReasonParentMissing)
	forbidden(t, trySubnamespace(t, as(t, "mallory"), "claimed-evil", "claimed-lost"), "is the parent of 1 existing namespace", "update on hierarchies")
	createNamespace(t, as(t, "nora"), "claimed-lost")
	eventuallyReady(t, "claimed-missing")
}

func TestUpgradeWithANamespaceThatJoinedByAnAnnotation(t *testing.T) {
	eventuallyReports(t, "joined-mine", hnc.ReasonSubnamespaceMissing)
	// Its owner makes it a full namespace again.
	mallory := as(t, "mallory")
	patchNamespace(t, mallory, "joined-mine", `{"metadata":{"annotations":{"hnc.x-k8s.io/subnamespace-of":null}}}`)
	suite.Eventually(t, "it becomes a root", func() error { return tryHierarchy(t, root, "joined-mine", `{"spec":{"parent":null}}`) })
	eventuallyReady(t, "joined-mine")
	suite.Eventually(t, "what it has inherited goes", func() error {
		_, err := root.CoreV1().Secrets("joined-mine").Get(t.Context(), "credentials", metav1.GetOptions{})
		return absent(err)
	})
	must(t, trySubnamespace(t, mallory, "joined-mine", "joined-mine-sub"))
}

func TestUpgradeWithASubnamespaceThatLostItsRecord(t *testing.T) {
	eventuallyReports(t, "unheld-sub", hnc.ReasonSubnamespaceMissing)
	must(t, trySubnamespace(t, as(t, "vera"), "unheld-top", "unheld-sub"))
	eventuallyReady(t, "unheld-sub")
	eventuallyCopied(t, "unheld-sub", "vera-admin")
}

func TestUpgradeWithAHierarchyThatIsBoundElsewhere(t *testing.T) {
	// The policy that was shed is back.
	eventuallyCopied(t, "foreign-child", "vera-admin")
	suite.Eventually(t, "the managed label is back", func() error {
		ns, err := root.CoreV1().Namespaces().Get(t.Context(), "foreign-child", metav1.GetOptions{})
		if err == nil && ns.Labels["team"] != "policy" {
			err = fmt.Errorf("got %v", ns.Labels)
		}
		return err
	})
	eventuallyReady(t, "foreign-child")
	eventuallyReady(t, "foreign-sub")
	forbidden(t, tryHierarchy(t, as(t, "mallory"), "foreign-child", `{"spec":{"parent":null}}`))
	// What is bound now stays so.
	patchHierarchy(t, as(t, "mallory"), "foreign-child", `{"metadata":{"ownerReferences":[
		{"apiVersion":"v1","kind":"Namespace","name":"absent-none","uid":"00000000-0000-0000-0000-000000000000"}]}}`)
	if owners := hierarchy(t, "foreign-child").OwnerReferences; len(owners) != 1 || owners[0].Name != "foreign-child" {
		t.Errorf("its owners are %v", owners)
	}
}

func TestUpgradeWithASubnamespaceWithoutPodSecurity(t *testing.T) {
	suite.Eventually(t, "the parent's label", func() error {
		ns, err := root.CoreV1().Namespaces().Get(t.Context(), "restricted-sub", metav1.GetOptions{})
		if err == nil && ns.Labels["pod-security.kubernetes.io/enforce"] != "restricted" {
			err = fmt.Errorf("got %v", ns.Labels)
		}
		return err
	})
	ns, err := root.CoreV1().Namespaces().Get(t.Context(), "restricted-own", metav1.GetOptions{})
	must(t, err)
	if level := ns.Labels["pod-security.kubernetes.io/enforce"]; level != "baseline" {
		t.Errorf("what an admin has set is %q now", level)
	}
}

func TestUpgradeWithASubnamespaceThatLeft(t *testing.T) {
	vera := as(t, "vera")
	eventuallyVoid(t, "left-top", "left-sub")
	// The record is nobody's: deleting it deletes nothing else.
	must(t, vera.HNC.HncV1beta1().Subnamespaces("left-top").Delete(t.Context(), "left-sub", metav1.DeleteOptions{}))
	suite.Eventually(t, "the record goes", func() error {
		_, err := vera.HNC.HncV1beta1().Subnamespaces("left-top").Get(t.Context(), "left-sub", metav1.GetOptions{})
		return absent(err)
	})
	ns, err := root.CoreV1().Namespaces().Get(t.Context(), "left-sub", metav1.GetOptions{})
	if err != nil || ns.DeletionTimestamp != nil {
		t.Fatalf("the namespace goes with it: %v, %v", ns, err)
	}
	// A user with the right moves it back.
	join(t, root, "left-sub", "left-top")
	eventuallyCopied(t, "left-sub", "vera-admin")
}

// HNC's way to take a sub-namespace apart was begun before the upgrade, and ends after it.
func TestUpgradeWithAConvertedSubnamespace(t *testing.T) {
	eventuallyVoid(t, "converted-top", "converted-sub")
	eventuallyReady(t, "converted-sub")
	must(t, root.CoreV1().Namespaces().Delete(t.Context(), "converted-sub", metav1.DeleteOptions{}))
	eventuallyGone(t, "converted-sub")
	must(t, root.CoreV1().Namespaces().Delete(t.Context(), "converted-top", metav1.DeleteOptions{}))
	eventuallyGone(t, "converted-top")
	_, err := root.CoreV1().Namespaces().Get(t.Context(), "converted-sub", metav1.GetOptions{})
	must(t, absent(err))
}

func TestUpgradeWithATerminatingHierarchy(t *testing.T) {
	h := hierarchy(t, "bomb-child")
	if h.DeletionTimestamp == nil || h.Spec.Parent != "bomb-top" {
		t.Fatalf("the state is not there: %v", h)
	}
	forbidden(t, tryHierarchy(t, as(t, "mallory"), "bomb-child", `{"metadata":{"finalizers":null}}`))
	patchHierarchy(t, root, "bomb-child", `{"metadata":{"finalizers":null}}`)
	eventuallyNotCopied(t, "bomb-child", "vera-admin")
	join(t, root, "bomb-child", "bomb-top")
	eventuallyCopied(t, "bomb-child", "vera-admin")
}

func TestUpgradeWithAParentToCome(t *testing.T) {
	eventuallyReports(t, "early-child", hnc.ReasonParentMissing)
	forbidden(t, tryHierarchy(t, as(t, "nora"), "early-child", `{"spec":{"parent":"early-other"}}`))
	createNamespace(t, as(t, "nora"), "early-future")
	eventuallyReady(t, "early-child")
	if !below(t, "early-child", "early-future") {
		t.Error("the child has no parent")
	}
}

func TestUpgradeWithASubnamespaceOfAnyName(t *testing.T) {
	mallory := as(t, "mallory")
	_, err := mallory.HNC.HncV1beta1().Subnamespaces("named-top").Patch(t.Context(), "argocd", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
	must(t, err)
	must(t, trySubnamespace(t, mallory, "argocd", "argocd-apps"))
	must(t, mallory.HNC.HncV1beta1().Subnamespaces("argocd").Delete(t.Context(), "argocd-apps", metav1.DeleteOptions{}))
	eventuallyGone(t, "argocd-apps")
	must(t, mallory.HNC.HncV1beta1().Subnamespaces("named-top").Delete(t.Context(), "argocd", metav1.DeleteOptions{}))
	eventuallyGone(t, "argocd")
}

func TestUpgradeWithANamespaceThatIsBeingDeleted(t *testing.T) {
	patchHierarchy(t, root, "ending-child", `{"metadata":{"finalizers":null}}`)
	eventuallyGone(t, "ending-child")
}

func TestUpgradeWithAHierarchyOfNoNamespace(t *testing.T) {
	// The garbage collector may have deleted the hierarchy before it was bound again.
	join(t, root, "absent-child", "absent-top")
	eventuallyCopied(t, "absent-child", "vera-admin")
	eventuallyReady(t, "absent-child")
}

func createNamespace(t *testing.T, u user, name string) {
	t.Helper()
	_, err := u.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	must(t, err)
}
