package treerules

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

var namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

func TestClaim(t *testing.T) {
	for _, row := range []struct {
		name, child, parent string
		is                  func(error) bool
		says                string
	}{
		{"A7 a new name", "new", "c", nil, ""},
		{"A5 a sub-namespace whose record was lost", "sub", "a", nil, ""},
		{"A5 a name with another parent", "b", "c", apierrors.IsConflict, `"b" has another parent already`},
		{"A5 a root", "root2", "c", apierrors.IsConflict, "exists already"},
		{"A4 an excluded name", "kube-system", "c", apierrors.IsForbidden, "excluded"},
		{"the namespace of repositories", hnc.RepositoriesNamespace, "c", apierrors.IsForbidden, "the accounts of RepositorySyncs"},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newFixture(t, forestOfRows)
			guard, err := f.Claims.Validate(as(t, "nobody"), row.child, f.existing(t, row.parent))
			if row.is != nil {
				if !row.is(err) || !strings.Contains(fmt.Sprint(err), row.says) {
					t.Errorf("got %v, want an error that says %s", err, row.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var edge edgeValue
			if err := json.Unmarshal(guard.Put[row.child], &edge); err != nil {
				t.Fatal(err)
			}
			if edge.Parent != row.parent || edge.Subnamespace != uid(row.parent) {
				t.Errorf("got the edge %+v", edge)
			}
			for _, at := range append(f.Index.forest.Chain(row.parent), row.child) {
				if _, ok := guard.Unchanged[at]; !ok {
					t.Errorf("the edge of %s is not compared", at)
				}
			}
		})
	}
}

func TestRequiredChildrenAreValidatedLikeTheirCreation(t *testing.T) {
	long := map[string]string{"c0": ""}
	for i := 1; i < 60; i++ {
		long[fmt.Sprintf("c%d", i)] = fmt.Sprintf("c%d", i-1)
	}
	for _, row := range []struct {
		name, child, parent string
		is                  func(error) bool
		says                string
		parents             map[string]string
	}{
		{"a new name", "new", "c", nil, "", forestOfRows},
		{"a sub-namespace that is there", "sub", "a", nil, "", forestOfRows},
		{"a name with another parent", "b", "c", apierrors.IsConflict, `"b" has another parent already`, forestOfRows},
		{"a root", "root2", "c", apierrors.IsConflict, "exists already", forestOfRows},
		{"itself", "root2", "root2", apierrors.IsConflict, `"root2" exists already`, forestOfRows},
		{"an excluded name", "kube-system", "c", apierrors.IsForbidden, "excluded", forestOfRows},
		{"the namespace of repositories", hnc.RepositoriesNamespace, "c", apierrors.IsForbidden, "the accounts of RepositorySyncs", forestOfRows},
		{"somebody's missing parent", "gone", "below", apierrors.IsInvalid, "below <- orphan <- gone", forestOfRows},
		{"too deep", "new", "c59", apierrors.IsInvalid, "60", long},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newFixture(t, row.parents)
			names := map[int]string{1: row.child}
			if err := f.Claims.ValidateRequired(as(t, "user"), names, f.existing(t, row.parent)); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "create on subnamespaces") {
				t.Errorf("a user without the permission to create it got %v", err)
			}
			f.creator["user/subnamespaceanchors/"+row.parent] = true
			err := f.Claims.ValidateRequired(as(t, "user"), names, f.existing(t, row.parent))
			if row.is == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !row.is(err) || !strings.Contains(err.Error(), row.says) || !strings.Contains(err.Error(), "spec.requiredChildren[1]: ") {
				t.Errorf("got %v, want an error that says %s", err, row.says)
			}
		})
	}
}

// A missing parent can't become a sub-namespace below its children.
func TestClaimRejectsACycle(t *testing.T) {
	f := newFixture(t, forestOfRows)
	if _, err := f.Claims.Validate(as(t, "nobody"), "gone", f.existing(t, "below")); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "below <- orphan <- gone") {
		t.Errorf("got %v, want Invalid that shows the cycle", err)
	}
}

// The name of a namespace that is being deleted is free when its edge is gone, too.
func TestClaimRejectsATerminatingNamespace(t *testing.T) {
	f := newFixture(t, map[string]string{"a": "", "b": "", "sub": "a"})
	refused := func(parent, says string) {
		t.Helper()
		if _, err := f.Claims.Validate(WithFreshReads(as(t, "nobody")), "sub", f.existing(t, parent)); !apierrors.IsConflict(err) || !strings.Contains(err.Error(), says) {
			t.Errorf("below %s: got %v, want a Conflict that says %s", parent, err, says)
		}
	}
	terminating := f.existing(t, "sub").DeepCopy()
	terminating.DeletionTimestamp = &metav1.Time{Time: time.Now()}
	if err := f.client.Tracker().Update(namespaces, terminating, ""); err != nil {
		t.Fatal(err)
	}
	refused("a", "being deleted; try again when it is gone")
	refused("b", "being deleted; try again when it is gone")
	if err := f.client.Tracker().Delete(namespaces, "", "sub"); err != nil {
		t.Fatal(err)
	}
	refused("b", "try again if it has just been deleted")
}

func TestReleaseKeepsTheEdgeThatAHierarchyHolds(t *testing.T) {
	f := newFixture(t, forestOfRows)
	guard, err := f.Claims.ValidateRelease(t.Context(), "sub", "a")
	if err != nil {
		t.Fatal(err)
	}
	var edge edgeValue
	if err := json.Unmarshal(guard.Put["sub"], &edge); err != nil {
		t.Fatal(err)
	}
	if edge != (edgeValue{Parent: "a", Hierarchy: uid("sub")}) {
		t.Errorf("got %+v", edge)
	}
	guard, err = f.Claims.ValidateRelease(t.Context(), "b", "elsewhere")
	if err != nil || len(guard.Put)+len(guard.Delete) != 0 {
		t.Errorf("got %+v, %v: another parent's edge was changed", guard, err)
	}
}

// Removing the finalizer of a Subnamespace makes its namespace a root if nothing else holds the edge.
func TestReleaseNeedsAdminOfTheRoot(t *testing.T) {
	f := newFixture(t, forestOfRows)
	f.stored.put(t, "sub", edgeValue{Parent: "a", Subnamespace: uid("a")})
	f.sync(t)
	if _, err := f.Claims.ValidateRelease(as(t, "user"), "sub", "a"); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `"root1"`) {
		t.Errorf("without admin of the root: got %v, want Forbidden", err)
	}
	for _, user := range []string{"user", hnc.PropagatorUser} {
		f.admin["user/root1"] = true
		if guard, err := f.Claims.ValidateRelease(as(t, user), "sub", "a"); err != nil || len(guard.Delete) != 1 {
			t.Errorf("%s: got %+v, %v, want the edge deleted", user, guard, err)
		}
	}
	// A full namespace whose name the Subnamespace claims stays a root.
	f.change(t, "sub", nil, nil, true)
	if _, err := f.Claims.ValidateRelease(as(t, "nobody"), "sub", "a"); err != nil {
		t.Error(err)
	}
}

// Unlike the release, which leaves the edge to the Hierarchy.
func TestDetachmentNeedsAdminOfTheRoot(t *testing.T) {
	f := newFixture(t, map[string]string{"root1": "", "a": "root1", "sub": "a", "full": "a"})
	f.stored.put(t, "new", edgeValue{Parent: "a", Subnamespace: uid("a")})
	f.stored.put(t, "full", edgeValue{Parent: "a", Subnamespace: uid("a")})
	f.sync(t)
	for _, name := range []string{"sub", "new"} {
		if err := f.Claims.AuthorizeDetachment(as(t, "user"), name, "a"); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `"root1"`) {
			t.Errorf("%s, without admin of the root: got %v, want Forbidden", name, err)
		}
		if err := f.Claims.AuthorizeDetachment(as(t, hnc.PropagatorUser), name, "a"); err != nil {
			t.Errorf("%s, the propagator: %v", name, err)
		}
	}
	for name, parent := range map[string]string{"full": "a", "sub": "elsewhere", "unclaimed": "a"} {
		if err := f.Claims.AuthorizeDetachment(as(t, "user"), name, parent); err != nil {
			t.Errorf("%s, which nothing holds below %s: %v", name, parent, err)
		}
	}
	f.admin["user/root1"] = true
	if err := f.Claims.AuthorizeDetachment(as(t, "user"), "sub", "a"); err != nil {
		t.Error(err)
	}
}

func TestVoidingKeepsTheParent(t *testing.T) {
	f := newFixture(t, map[string]string{"a": "", "sub": "a", "full": ""})
	f.change(t, "sub", map[string]string{hnc.TreeLabel("a"): "1"}, nil, true)
	guard, err := f.Claims.ValidateVoiding(t.Context(), "sub", "a")
	if err != nil {
		t.Fatal(err)
	}
	var edge edgeValue
	if err := json.Unmarshal(guard.Put["sub"], &edge); err != nil || edge != (edgeValue{Parent: "a", Hierarchy: uid("sub")}) {
		t.Errorf("got %+v, %v", edge, err)
	}
	f.stored.put(t, "sub", edgeValue{Parent: "a", Subnamespace: uid("a")})
	f.stored.put(t, "full", edgeValue{Parent: "a", Subnamespace: uid("a")})
	f.sync(t)
	if _, err := f.Claims.ValidateVoiding(t.Context(), "sub", "a"); !apierrors.IsConflict(err) {
		t.Errorf("nothing else holds the edge: got %v, want a Conflict", err)
	}
	if guard, err := f.Claims.ValidateVoiding(t.Context(), "full", "a"); err != nil || len(guard.Delete) != 1 {
		t.Errorf("got %+v, %v", guard, err)
	}
}

// Objects that are left over from namespaces which are gone, after a restore for instance, claim no name.
func TestVoidEdgesClaimNoName(t *testing.T) {
	f := newFixture(t, map[string]string{"a": "", "old": ""})
	f.stored.put(t, "taken", edgeValue{Parent: "old", Hierarchy: uid("taken"), Subnamespace: "uid-of-an-earlier-old"})
	f.sync(t)
	guard, err := f.Claims.Validate(as(t, "nobody"), "taken", f.existing(t, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if guard.Unchanged["taken"] == 0 {
		t.Error("the void edge is not compared")
	}
}
