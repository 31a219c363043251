package treerules

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestOnlyASubnamespaceIsAHolder(t *testing.T) {
	f := newFixture(t, map[string]string{"a": "", "other": "", "sub": "a", "child": "a", "mine": ""})
	f.change(t, "mine", nil, map[string]string{hnc.AnnotationSubnamespaceOf: "a"}, true)
	f.change(t, "child", nil, map[string]string{hnc.AnnotationSubnamespaceOf: "a"}, true)
	f.stored.put(t, "pending", edgeValue{Parent: "a", Subnamespace: uid("a")})
	f.sync(t)
	for name, want := range map[string]string{"sub": "a", "mine": "", "child": "", "a": ""} {
		if got, err := f.Claims.Holder(t.Context(), f.existing(t, name)); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
	}
	f.change(t, "sub", nil, nil, true)
	if got, err := f.Claims.Holder(t.Context(), f.existing(t, "sub")); err != nil || got != "" {
		t.Errorf("a converted namespace: got %q, %v", got, err)
	}
}

// Whoever may update a full namespace must not keep its admins from moving it.
func TestAnAnnotationAloneDoesNotKeepANamespaceWhereItIs(t *testing.T) {
	f := newFixture(t, map[string]string{"a": "", "b": "", "child": "a", "sub": "a"})
	f.change(t, "child", nil, map[string]string{hnc.AnnotationSubnamespaceOf: "a"}, true)
	for _, parent := range []string{"b", ""} {
		f.admin["user/b"], f.admin["user/a"] = true, false
		if _, err := f.Moves.Validate(as(t, "user"), f.existing(t, "child"), parent); !apierrors.IsForbidden(err) {
			t.Errorf("to %q, by a user who is not an admin of the tree: %v", parent, err)
		}
		f.admin["user/a"] = true
		if _, err := f.Moves.Validate(as(t, "user"), f.existing(t, "child"), parent); err != nil {
			t.Errorf("to %q: %v", parent, err)
		}
		if _, err := f.Moves.Validate(as(t, "user"), f.existing(t, "sub"), parent); !apierrors.IsConflict(err) {
			t.Errorf("a sub-namespace to %q: %v", parent, err)
		}
	}
}

// A Subnamespace that waits for a name does not affect the full namespace that has it.
func TestPendingSubnamespaceGivesNoParent(t *testing.T) {
	f := newFixture(t, map[string]string{"a": "", "evil": "", "full": ""})
	f.stored.put(t, "full", edgeValue{Parent: "evil", Subnamespace: uid("evil")})
	f.sync(t)
	f.admin["user/a"] = true
	guard, err := f.Moves.Validate(as(t, "user"), f.existing(t, "full"), "")
	if err != nil || len(guard.Put)+len(guard.Delete) != 0 {
		t.Errorf("staying a root: got %+v, %v", guard, err)
	}
	if _, err := f.Moves.Validate(as(t, "user"), f.existing(t, "full"), "a"); err != nil {
		t.Errorf("a user who is not an admin of the other parent was rejected: %v", err)
	}
	// The cache does not contain the annotation yet.
	f.change(t, "full", nil, map[string]string{hnc.AnnotationSubnamespaceOf: "evil"}, false)
	if _, err := f.Moves.Validate(as(t, "user"), f.existing(t, "full"), "a"); !apierrors.IsConflict(err) {
		t.Errorf("a sub-namespace was moved: %v", err)
	}
}

// Nor does it make its owner an admin of the tree of that namespace.
func TestAPendingSubnamespaceGivesNoPermissions(t *testing.T) {
	f := newFixture(t, map[string]string{"top": "", "evil": "top", "full": "", "x": "full", "y": "evil"})
	f.stored.put(t, "full", edgeValue{Parent: "evil", Subnamespace: uid("evil")})
	f.sync(t)
	f.admin["user/x"], f.admin["user/evil"] = true, true
	for _, parent := range []string{"", "evil"} {
		if _, err := f.Moves.Validate(as(t, "user"), f.existing(t, "x"), parent); !apierrors.IsForbidden(err) {
			t.Errorf("leaving for %q: got %v", parent, err)
		}
	}
	if _, err := f.Moves.ValidateRemoval(as(t, "user"), "x"); !apierrors.IsForbidden(err) {
		t.Errorf("deleting the hierarchy: got %v", err)
	}
	f.admin["user/full"] = true
	if _, err := f.Moves.Validate(as(t, "user"), f.existing(t, "x"), ""); err != nil {
		t.Errorf("an admin of the root: %v", err)
	}
	// The owner of the Subnamespace has another ancestor above it.
	if _, err := f.Moves.Validate(as(t, "user"), f.existing(t, "y"), "full"); !apierrors.IsForbidden(err) {
		t.Errorf("leaving for the namespace: got %v", err)
	}
}

func TestPropagatorOnlyRepeatsParents(t *testing.T) {
	f := newFixture(t, map[string]string{"a": "", "sub": "a", "mine": "", "lost": "", "far": "", "full": ""})
	f.stored.put(t, "full", edgeValue{Parent: "a", Subnamespace: uid("a")}) // a Subnamespace that waits for the name
	f.sync(t)
	f.change(t, "mine", nil, map[string]string{hnc.AnnotationSubnamespaceOf: "a"}, true)
	f.change(t, "lost", map[string]string{hnc.TreeLabel("a"): "1"}, nil, true)
	f.change(t, "far", map[string]string{hnc.TreeLabel("a"): "2"}, nil, true)
	propagator := as(t, hnc.PropagatorUser)
	for name, allowed := range map[string]bool{"sub": true, "lost": true, "mine": false, "far": false, "full": false} {
		guard, err := f.Authorizer.AuthorizePropagator(propagator, f.existing(t, name), "a", true)
		if err == nil && len(guard.Unchanged) == 0 {
			t.Errorf("%s: its edge is not compared at commit", name)
		}
		if (err == nil) != allowed || (err != nil && !apierrors.IsForbidden(err)) {
			t.Errorf("%s: got %v, want it allowed: %t", name, err, allowed)
		}
		// The labels of a namespace that has left lag behind.
		if _, err := f.Authorizer.AuthorizePropagator(propagator, f.existing(t, name), "a", false); (err == nil) != (name == "sub") {
			t.Errorf("%s, without a restore: got %v", name, err)
		}
		if _, err := f.Authorizer.AuthorizePropagator(as(t, "user"), f.existing(t, name), "a", false); err != nil {
			t.Errorf("%s: a user, whose permissions are reviewed: %v", name, err)
		}
	}
}

// As long as no Hierarchy names the parent, the tree labels do; the annotation is the owner's.
func TestChangingTheAnnotationTakesNothingOutOfItsTree(t *testing.T) {
	f := newFixture(t, map[string]string{"a": "", "sub": "a"})
	f.stored.put(t, "sub", edgeValue{Parent: "a", Subnamespace: uid("a")})
	f.sync(t)
	f.admin["user/sub"] = true
	for _, annotation := range []string{"a", "elsewhere", ""} {
		f.change(t, "sub", map[string]string{hnc.TreeLabel("a"): "1", hnc.TreeLabel("sub"): "0"}, map[string]string{hnc.AnnotationSubnamespaceOf: annotation}, true)
		if _, err := f.Claims.ValidateRelease(as(t, "user"), "sub", "a"); !apierrors.IsForbidden(err) {
			t.Errorf("annotated with %q: got %v, want Forbidden", annotation, err)
		}
	}
}
