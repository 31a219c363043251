package treerules

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestStaleIndexDoesNotReject(t *testing.T) {
	f := newFixture(t, map[string]string{"a": "", "b": "a"})
	delete(f.stored, "b") // b has become a root, and the index is stale
	if _, err := f.Moves.Validate(as(t, hnc.PropagatorUser), f.existing(t, "a"), "b"); err != nil {
		t.Errorf("a legal move was rejected: %v", err)
	}
}

func TestStaleIndexRevalidatesWithQuorumReads(t *testing.T) {
	f := newFixture(t, map[string]string{"a": "", "b": ""})
	f.stored.put(t, "b", edgeValue{Parent: "a", Hierarchy: uid("b")})
	guard, err := f.Moves.Validate(as(t, hnc.PropagatorUser), f.existing(t, "a"), "b")
	if err != nil {
		t.Fatal(err)
	}
	if guard.Unchanged["b"] != 0 {
		t.Errorf("the stale index compares revision %d of the edge of b, which it does not contain", guard.Unchanged["b"])
	}
	// The comparison fails at commit, and the retry reads the store.
	if _, err := f.Moves.Validate(WithFreshReads(as(t, hnc.PropagatorUser)), f.existing(t, "a"), "b"); !apierrors.IsInvalid(err) {
		t.Errorf("got %v, want Invalid", err)
	}
}

func TestEdgesOfAnEarlierNamespaceAreVoid(t *testing.T) {
	f := newFixture(t, map[string]string{"a": "", "b": "", "c": ""})
	f.stored.put(t, "b", edgeValue{Parent: "a", Hierarchy: "uid-of-an-earlier-b"})
	f.sync(t)
	// a may move below b: the new b is a root, unlike the earlier one.
	guard, err := f.Moves.Validate(as(t, hnc.PropagatorUser), f.existing(t, "a"), "b")
	if err != nil {
		t.Fatal(err)
	}
	if guard.Unchanged["b"] == 0 {
		t.Error("the void edge is not compared")
	}
	// Leaving the tree of the earlier b needs no permissions.
	f.admin["user/c"] = true
	if _, err := f.Moves.Validate(as(t, "user"), f.existing(t, "b"), "c"); err != nil {
		t.Errorf("the new b could not join c: %v", err)
	}
}

func TestStaleCacheOfNamespacesVoidsNoEdge(t *testing.T) {
	f := newFixture(t, map[string]string{"a": "", "b": "a"})
	stale := f.existing(t, "b").DeepCopy()
	stale.UID = "uid-of-an-earlier-b"
	if err := f.indexer.Update(stale); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Moves.Validate(as(t, hnc.PropagatorUser), f.existing(t, "a"), "b"); !apierrors.IsInvalid(err) {
		t.Errorf("got %v: a cycle was overlooked", err)
	}
}
