package copyrelease

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Releases that are being created count, and those of one tree hold nobody else's.
func TestReleasesOfATreeAreBoundedWhileTheyAreCreated(t *testing.T) {
	stored := &hnc.CopyReleaseList{Items: make([]hnc.CopyRelease, maxPerTree-2)}
	for i := range stored.Items {
		stored.Items[i].ObjectMeta = metav1.ObjectMeta{Namespace: "eve-dev"}
	}
	lists := 0
	r := newRooms(func(namespace string) string { return namespace[:3] }, func(context.Context) (*hnc.CopyReleaseList, error) {
		lists++
		return stored, nil
	})
	var leaves []func()
	for range 2 {
		leave, err := r.enter(t.Context(), "eve")
		if err != nil {
			t.Fatal(err)
		}
		leaves = append(leaves, leave)
	}
	if _, err := r.enter(t.Context(), "eve"); !apierrors.IsTooManyRequests(err) {
		t.Errorf("one more than a tree may have: %v", err)
	}
	if leave, err := r.enter(t.Context(), "ann"); err != nil {
		t.Errorf("another tree: %v", err)
	} else {
		leave()
	}
	leaves[0]()
	if _, err := r.enter(t.Context(), "eve-dev"); err != nil {
		t.Errorf("after one has failed: %v", err)
	}
	stored.Items = nil
	for range maxPerTree {
		_, _ = r.enter(t.Context(), "eve")
	}
	before := lists
	if _, err := r.enter(t.Context(), "eve"); !apierrors.IsTooManyRequests(err) || lists != before {
		t.Errorf("more at once than a tree may have: %v, after %d lists", err, lists-before)
	}
	if leaves[1](); len(r.creating) != 1 {
		t.Errorf("remembered: %v", r.creating)
	}
}
