package treerules

import (
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestRemoval(t *testing.T) {
	f := newFixture(t, forestOfRows)
	if _, err := f.Moves.ValidateRemoval(as(t, "user"), "b"); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `"root1"`) {
		t.Errorf("without admin of the root: got %v, want Forbidden", err)
	}
	f.admin["user/root1"] = true
	guard, err := f.Moves.ValidateRemoval(as(t, "user"), "b")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(guard.Delete, []string{"b"}) {
		t.Errorf("got %+v, want the edge deleted", guard)
	}
	if _, err := f.Moves.ValidateRemoval(as(t, "nobody"), "sub"); !apierrors.IsForbidden(err) {
		t.Errorf("without admin of the root, for a sub-namespace: got %v, want Forbidden", err)
	}
	guard, err = f.Moves.ValidateRemoval(as(t, "user"), "sub")
	if err != nil || len(guard.Put) != 1 {
		t.Errorf("got %+v, %v, want the edge kept for the Subnamespace", guard, err)
	}
	// Without its annotation the namespace leaves, and the Subnamespace no longer holds the edge.
	f.change(t, "sub", nil, nil, true)
	if _, err := f.Moves.ValidateRemoval(as(t, "nobody"), "sub"); !apierrors.IsForbidden(err) {
		t.Errorf("a converted namespace: got %v, want Forbidden", err)
	}
	guard, err = f.Moves.ValidateRemoval(as(t, "user"), "sub")
	if err != nil || !slices.Equal(guard.Delete, []string{"sub"}) {
		t.Errorf("got %+v, %v, want the edge deleted", guard, err)
	}
}

func TestRemovalFromATerminatingNamespaceNeedsNoPermissions(t *testing.T) {
	f := newFixture(t, forestOfRows)
	terminating := f.existing(t, "b").DeepCopy()
	terminating.DeletionTimestamp = &metav1.Time{Time: time.Now()}
	// The cache is stale.
	if err := f.client.Tracker().Update(namespaces, terminating, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Moves.ValidateRemoval(as(t, "nobody"), "b"); err != nil {
		t.Error(err)
	}
}

// A cache may still have an earlier namespace of that name, which is being deleted.
func TestRemovalIsAuthorizedWhereACacheHasAnEarlierNamespace(t *testing.T) {
	f := newFixture(t, forestOfRows)
	earlier := f.existing(t, "b").DeepCopy()
	earlier.UID, earlier.DeletionTimestamp = "earlier", &metav1.Time{}
	if err := f.indexer.Update(earlier); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Moves.ValidateRemoval(as(t, "nobody"), "b"); !apierrors.IsForbidden(err) {
		t.Errorf("got %v", err)
	}
}
