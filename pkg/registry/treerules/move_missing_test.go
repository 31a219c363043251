package treerules

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/warning"
	clienttesting "k8s.io/client-go/testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestH9MissingParentNeedsCreatingItAndItsAdmin(t *testing.T) {
	f := newFixture(t, map[string]string{"a": "", "b": "a"})
	f.admin["user/missing"] = true // granted in all namespaces
	_, err := f.Moves.Validate(as(t, "user"), f.existing(t, "a"), "missing")
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), `spec.parent: Invalid value: "missing": namespace "missing" does not exist; create it first. Naming a parent before it exists takes the verb create on namespaces`) {
		t.Errorf("got %v, want Invalid", err)
	}
	f.creator["user/namespaces/"] = true
	var warned warnings
	if _, err := f.Moves.Validate(warning.WithWarningRecorder(as(t, "user"), &warned), f.existing(t, "a"), "missing"); err != nil {
		t.Errorf("a user allowed to create namespaces and admin of it got %v", err)
	}
	if len(warned) != 1 || !strings.Contains(warned[0], `spec.parent: namespace "missing" does not exist; nothing is propagated to namespace "a"`) {
		t.Errorf("the warnings are %q", warned)
	}
	// The tree that the namespace leaves is authorized as always.
	if _, err := f.Moves.Validate(as(t, "user"), f.existing(t, "b"), "missing"); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `"a"`) {
		t.Errorf("without admin of the root that is left: got %v, want Forbidden", err)
	}
	f.admin["user/missing"] = false
	if _, err := f.Moves.Validate(as(t, "user"), f.existing(t, "a"), "missing"); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `namespace "missing", which is the new parent`) {
		t.Errorf("without admin of it: got %v, want Forbidden", err)
	}
	if _, err := f.Moves.Validate(as(t, "user"), f.existing(t, "a"), "kube-public"); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "excluded") {
		t.Errorf("an excluded parent got %v, want Forbidden", err)
	}
}

// A Subnamespace is about to create the parent: its children need the permissions of that namespace.
func TestMissingParentWithAClaimNeedsAdmin(t *testing.T) {
	f := newFixture(t, map[string]string{"a": "", "root": ""})
	f.stored.put(t, "coming", edgeValue{Parent: "root", Subnamespace: uid("root")})
	f.sync(t)
	f.creator["user/namespaces/"] = true
	if _, err := f.Moves.Validate(as(t, "user"), f.existing(t, "a"), "coming"); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `namespace "coming", which is the new parent`) {
		t.Errorf("got %v, want Forbidden", err)
	}
	f.admin["user/coming"] = true
	if _, err := f.Moves.Validate(as(t, "user"), f.existing(t, "a"), "coming"); err != nil {
		t.Errorf("an admin got %v", err)
	}
}

// Neither of two edges can be committed on a snapshot without the other: each compares what the other writes.
func TestTheEdgeToAMissingParentIsFenced(t *testing.T) {
	f := newFixture(t, map[string]string{"a": "", "b": ""})
	b := f.existing(t, "b")
	if err := f.indexer.Delete(b); err != nil {
		t.Fatal(err)
	}
	if err := f.client.Tracker().Delete(namespaces, "", "b"); err != nil {
		t.Fatal(err)
	}
	guard, err := f.Moves.Validate(as(t, hnc.PropagatorUser), f.existing(t, "a"), "b")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if revision, compared := guard.Unchanged[name]; !compared || revision != 0 {
			t.Errorf("the edge of %s is not compared with none", name)
		}
	}
	var edge edgeValue
	if err := json.Unmarshal(guard.Put["a"], &edge); err != nil || edge.Parent != "b" {
		t.Fatalf("got the edge %+v, %v", edge, err)
	}
	// b is created, and moves below a.
	f.stored.put(t, "a", edge)
	if err := f.client.Tracker().Add(b); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Moves.Validate(WithFreshReads(as(t, hnc.PropagatorUser)), b, "a"); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "(a <- b)") {
		t.Errorf("got %v, want Invalid that shows the cycle", err)
	}
}

// The parent is created, and moves below its child, after the snapshot has read that it does not exist and before it
// reads its edge.
func TestEdgeOfAParentThatIsCreatedDuringValidationIsRead(t *testing.T) {
	for name, ctx := range map[string]context.Context{"cached": as(t, hnc.PropagatorUser), "fresh": WithFreshReads(as(t, hnc.PropagatorUser))} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, map[string]string{"a": "", "b": ""})
			b := f.existing(t, "b")
			if err := f.indexer.Delete(b); err != nil {
				t.Fatal(err)
			}
			if err := f.client.Tracker().Delete(namespaces, "", "b"); err != nil {
				t.Fatal(err)
			}
			create := sync.OnceFunc(func() {
				f.stored.put(t, "b", edgeValue{Parent: "a", Hierarchy: b.UID})
				f.sync(t)
				if err := f.client.Tracker().Add(b); err != nil {
					t.Error(err)
				}
			})
			f.client.PrependReactor("get", "namespaces", func(action clienttesting.Action) (bool, runtime.Object, error) {
				if name := action.(clienttesting.GetAction).GetName(); name != "b" {
					return false, nil, nil
				}
				found, err := f.client.Tracker().Get(namespaces, "", "b")
				create()
				return true, found, err
			})
			guard, err := f.Moves.Validate(ctx, f.existing(t, "a"), "b")
			if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "(b <- a)") && !strings.Contains(err.Error(), "(a <- b)") {
				t.Errorf("got %+v, %v, want Invalid that shows the cycle", guard, err)
			}
		})
	}
}
