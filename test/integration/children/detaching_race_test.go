package children

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// A Subnamespace is deleted while its namespace has no child, which gets one before the propagator sees the deletion.
// So it stays, without its Subnamespace, and its parent still is the parent of a sub-namespace.
func TestAChildThatRacesWithADeletionDoesNotUnprotectTheParent(t *testing.T) {
	namespaces(t, "race-top")
	subnamespaces(t, "race-top", "race-sub")
	eventuallyLabelled(t, "race-top", hnc.LabelHasSubnamespaces, "true")
	eve := newUser(t, "eve-race")
	eve.bind(t, "race-top", "edit")
	eve.eventuallyMay(t, "delete", hnc.GroupName, "subnamespaces", "race-top", "race-sub")
	operator := newOperator(t, "operator-race")
	stopped(t, func() {
		if err := eve.HNC.HncV1beta1().Subnamespaces("race-top").Delete(t.Context(), "race-sub", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		eve.bind(t, "race-sub", "edit")
		eve.eventuallyMay(t, "create", hnc.GroupName, "subnamespaces", "race-sub", "")
		eve.claim(t, "race-sub", "race-below")
	})
	eventuallyReports(t, "race-sub", hnc.ReasonSubnamespaceMissing)
	eventuallyReady(t, "race-sub", "race-below")
	ancestryIs(t, "race-below", "race-below", "race-sub", "race-top")
	// The policy reads the label in the write that deletes the namespace.
	refused(t, "deleting the parent", operator.CoreV1().Namespaces().Delete(t.Context(), "race-top", metav1.DeleteOptions{}), apierrors.IsForbidden,
		"race-top has sub-namespaces", "allowCascadingDeletion")

	if err := root.hierarchy(t, "race-top", cascades); err != nil {
		t.Fatal(err)
	}
	gone := vanishing(t, "race-top", "race-top", "race-sub", "race-below")
	operator.deleteNamespace(t, "race-top")
	leave(t, gone(), "race-below", "race-sub", "race-top")
}
