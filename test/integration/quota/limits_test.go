package quota

import (
	"fmt"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	held   = "Ready=Reserved Exceeded=WithinLimit"
	exceed = "Ready=Reserved Exceeded=OverLimit"
)

func TestLimitsOfAllAncestorsApplyToASubtree(t *testing.T) {
	tree(t, "limits-", "root", "mid<root", "leaf<mid", "other<root")
	limit(t, "limits-root", "r", "secrets=6 pods=20")
	limit(t, "limits-mid", "m", "secrets=3 services=2")
	limit(t, "limits-mid", "n", "secrets=4 services=1")
	wantHard(t, "limits-root", "pods=20 secrets=6")
	wantHard(t, "limits-other", "pods=20 secrets=6")
	wantHard(t, "limits-mid", "pods=20 secrets=3 services=1")
	wantHard(t, "limits-leaf", "pods=20 secrets=3 services=1")

	limit(t, "limits-mid", "m", "secrets=1")
	wantHard(t, "limits-leaf", "pods=20 secrets=1 services=1")
	unlimit(t, "limits-mid", "m")
	wantHard(t, "limits-leaf", "pods=20 secrets=4 services=1")
	unlimit(t, "limits-mid", "n")
	wantHard(t, "limits-leaf", "pods=20 secrets=6")

	createSecrets(t, "limits-leaf", "a", "b")
	createSecrets(t, "limits-other", "a")
	wantStatus(t, "limits-root", "r", "pods=0 secrets=3", held)
	wantNamespaces(t, "limits-root", "r", "limits-leaf: secrets=2", "limits-other: secrets=1")
	limit(t, "limits-mid", "m", "secrets=1 services=2")
	wantStatus(t, "limits-mid", "m", "secrets=2 services=0", exceed)
	unlimit(t, "limits-mid", "m")
	unlimit(t, "limits-root", "r")
	for _, namespace := range []string{"limits-root", "limits-mid", "limits-leaf", "limits-other"} {
		wantHard(t, namespace, "")
	}
}

func TestLimitsAndUseMoveWithANamespace(t *testing.T) {
	tree(t, "moves-", "a", "b", "mid<a", "leaf<mid")
	limit(t, "moves-a", "q", "secrets=5")
	limit(t, "moves-b", "q", "secrets=7")
	wantHard(t, "moves-leaf", "secrets=5")
	createSecrets(t, "moves-leaf", "x", "y")
	createSecrets(t, "moves-a", "z")
	wantStatus(t, "moves-a", "q", "secrets=3", held)
	wantStatus(t, "moves-b", "q", "secrets=0", held)

	setParent(t, "moves-mid", "moves-b")
	wantStatus(t, "moves-a", "q", "secrets=1", held)
	wantStatus(t, "moves-b", "q", "secrets=2", held)
	wantNamespaces(t, "moves-b", "q", "moves-leaf: secrets=2")
	wantHard(t, "moves-leaf", "secrets=7")

	setParent(t, "moves-mid", "")
	wantHard(t, "moves-leaf", "")
	wantStatus(t, "moves-b", "q", "secrets=0", held)
}

// Otherwise users allowed to delete the parent release the namespace from the limits above.
func TestOrphanKeepsItsLimits(t *testing.T) {
	tree(t, "orphan-", "root", "parent<root", "leaf<parent")
	limit(t, "orphan-root", "all", "secrets=3")
	wantHard(t, "orphan-leaf", "secrets=3")
	suite.Must(t, "deleting the parent", func() error {
		return admin.CoreV1().Namespaces().Delete(t.Context(), "orphan-parent", metav1.DeleteOptions{})
	})
	suite.Eventually(t, "the condition of the orphan", func() error {
		h, err := admin.HNC.HncV1beta1().Hierarchies("orphan-leaf").Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
		if err == nil && !meta.IsStatusConditionTrue(h.Status.Conditions, hnc.ConditionActivitiesHalted) {
			err = fmt.Errorf("not halted: %v", h.Status.Conditions)
		}
		return err
	})
	limit(t, "orphan-leaf", "own", "secrets=9 configmaps=9")
	wantHard(t, "orphan-leaf", "configmaps=9 secrets=3")
	setParent(t, "orphan-leaf", "")
	wantHard(t, "orphan-leaf", "configmaps=9 secrets=9")
}
