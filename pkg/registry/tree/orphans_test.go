package tree

import (
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Creating the missing parent of orphans as a sub-namespace takes them into another tree.
func TestAdoptingOrphansTakesTheirAdmins(t *testing.T) {
	parents := map[string]string{"a": "", "orphan1": "gone", "orphan2": "gone", "left": "gone"}
	f := newFixture(t, parents)
	f.stored.put(t, "void", Edge{Parent: "gone", Hierarchy: "uid-of-a-namespace-that-is-gone"})
	f.stored.put(t, "left", Edge{Parent: "a", Hierarchy: uid("left")}) // the index has not heard of it
	f.marks["gone"] = 7
	refused := func(user string) {
		t.Helper()
		_, err := f.Claim(as(t, user), "gone", f.existing(t, "a"))
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `metadata.name: namespace "gone" does not exist but is the parent of `) ||
			!strings.Contains(err.Error(), "update on hierarchies") || strings.Contains(err.Error(), "orphan1") {
			t.Errorf("%s got %v, want Forbidden", user, err)
		}
	}
	f.creator["user/subnamespaces/a"] = true
	refused("user")
	f.admin["user/orphan1"], f.admin["user/a"], f.admin["user/gone"] = true, true, true
	refused("user")
	refused(hnc.PropagatorUser)
	f.forest.SetParent("left", "a")
	f.admin["user/orphan2"] = true
	guard, err := f.Claim(as(t, "user"), "gone", f.existing(t, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := guard.Unmarked["gone"]; !ok || got != 7 {
		t.Errorf("the mark is compared with %d, %t", got, ok)
	}
	f.admin["operator/"] = true
	if _, err := f.Claim(as(t, "operator"), "gone", f.existing(t, "a")); err != nil {
		t.Errorf("an admin of all namespaces got %v", err)
	}
	// The propagator creates what is required, and may not adopt.
	if err := f.Require(as(t, "user"), map[int]string{0: "gone"}, f.existing(t, "a")); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "create the Subnamespace first") {
		t.Errorf("requiring got %v, want Forbidden", err)
	}
}

// A replica that has not heard of an orphan yet claims its parent's name only if nobody has ever named it.
func TestAClaimComparesTheMarkOfItsName(t *testing.T) {
	f := newFixture(t, map[string]string{"a": "", "b": ""})
	guard, err := f.Claim(as(t, "user"), "new", f.existing(t, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if mark, ok := guard.Unmarked["new"]; !ok || mark != 0 {
		t.Errorf("the mark is compared with %d, %t", mark, ok)
	}
	guard, err = f.Move(as(t, hnc.PropagatorUser), f.existing(t, "b"), "new")
	if err != nil || !slices.Equal(guard.Mark, []string{"new"}) {
		t.Errorf("a move sets the marks %v, %v", guard, err)
	}
}

// The parent of that name could take it back by its annotation.
func TestASubnamespaceWithoutAPlaceIsAnOrphan(t *testing.T) {
	f := newFixture(t, map[string]string{"a": "", "sub": "gone"})
	delete(f.stored, "sub")
	delete(f.edges, "sub")
	f.forest.SetParent("sub", "")
	if _, err := f.Claim(as(t, "user"), "gone", f.existing(t, "a")); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "1 existing namespace") {
		t.Errorf("got %v, want Forbidden", err)
	}
	f.admin["user/sub"] = true
	if _, err := f.Claim(as(t, "user"), "gone", f.existing(t, "a")); err != nil {
		t.Errorf("an admin of it got %v", err)
	}
}
