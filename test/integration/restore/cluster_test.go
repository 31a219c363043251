package restore

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// TestClusterUnderOtherUIDs keeps the hierarchies of a cluster that is created anew: its namespaces have their labels
// and annotations, and other UIDs. The garbage collector deletes objects whose owners have gone, so the labels are what
// is trusted.
func TestClusterUnderOtherUIDs(t *testing.T) {
	fresh(t)
	leafBelowBlue(t)
	setParent(t, "leaf", "red")
	subnamespace(t, "blue", "sub")
	eventuallyBelow(t, "leaf", "red", "blue")
	var saved []*corev1.Namespace
	for _, name := range all {
		ns, err := root.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		saved = append(saved, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: ns.Labels, Annotations: ns.Annotations}})
	}
	newCluster(t)
	for _, ns := range saved {
		if _, err := root.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	source(t, "blue")
	source(t, "red")
	before, untouched := uids(t, all...), suite.Footprint(t, root)
	startOurs(t)
	eventuallyPaused(t, hnc.ReasonOtherCluster)
	// The garbage collector may have deleted the hierarchies by then, or not: they are created or changed.
	doctorLists(t, "--trust=namespaces: create rolebindings.rbac.authorization.k8s.io: 2 (leaf/red, sub/blue)", "--trust=hierarchies: patch namespaces: ")
	unwritten(t, untouched)
	resume(t, hnc.TrustNamespaces)
	eventuallyBelow(t, "leaf", "red", "blue")
	eventuallyBelow(t, "sub", "blue", "red")
	suite.Eventually(t, "the Subnamespace is effective", func() error {
		s, err := root.HNC.HncV1beta1().Subnamespaces("blue").Get(t.Context(), "sub", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if s.Status.State != v1beta1.SubnamespaceOk || s.DeletionTimestamp != nil || len(s.OwnerReferences) != 1 || string(s.OwnerReferences[0].UID) != before["blue"] {
			return fmt.Errorf("got %+v %+v", s.ObjectMeta, s.Status)
		}
		return nil
	})
	if gone := lost(before, uids(t, all...)); len(gone) > 0 {
		t.Errorf("deleted: %v", gone)
	}
}
