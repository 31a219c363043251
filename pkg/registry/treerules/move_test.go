package treerules

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// forest of the rows below: root1 <- a <- b <- c, a <- sub, root2 <- x <- y, orphan's parent is gone, below is below
// it.
var forestOfRows = map[string]string{
	"root1": "", "a": "root1", "b": "a", "c": "b", "sub": "a",
	"root2": "", "x": "root2", "y": "x",
	"orphan": "gone", "below": "orphan",
	"guest": "kube-system", "kube-system": "",
	"loop1": "loop2", "loop2": "loop3", "loop3": "loop1",
}

// The permissions that each move needs. Source: docs/spec/hnc.md 2.4 and 2.4.2, with the holes closed.
func TestMoveNeedsAdminsOfBothTrees(t *testing.T) {
	for _, row := range []struct {
		name, namespace, parent string
		admin                   string // of these namespaces, each of which is needed
	}{
		{"AUTH-2 a root joins a tree", "root2", "a", "a"},
		{"AUTH-5 a child becomes a root", "b", "", "root1"},
		{"AUTH-6 from one tree to another", "b", "y", "root1 y"},
		{"AUTH-7 within a tree, upward", "c", "root1", "root1"},
		{"AUTH-7 within a tree, to a sibling's child", "c", "sub", "a sub"},
		{"AUTH-7 within a tree, below the old parent's child", "b", "sub", "a sub"},
		{"AUTH-3 a child of an excluded namespace becomes a root", "guest", "", ""},
		{"AUTH-2 a child of an excluded namespace finds a parent", "guest", "x", "x"},
		{"AUTH-8 one of an imported cycle becomes a root", "loop1", "", "loop1"},
		{"AUTH-8 one of an imported cycle finds a parent", "loop1", "x", "loop1 x"},
		{"AUTH-4 an orphan finds a parent", "orphan", "x", "x"},
		{"AUTH-4 an orphan becomes a root", "orphan", "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			needed := strings.Fields(row.admin)
			for _, resource := range []string{"hierarchies", "hierarchyconfigurations"} {
				f := newFixture(t, forestOfRows)
				f.resource = resource
				for _, at := range needed {
					f.admin["user/"+at] = true
				}
				guard, err := f.Moves.Validate(as(t, "user"), f.existing(t, row.namespace), row.parent)
				if err != nil {
					t.Fatalf("an admin of %v by %s was rejected: %v", needed, resource, err)
				}
				if _, ok := guard.Unchanged[row.namespace]; !ok {
					t.Errorf("the edge of %s itself is not fenced", row.namespace)
				}
				for _, at := range needed {
					if _, ok := guard.Unchanged[at]; !ok {
						t.Errorf("the edge of %s, which decided about the permission, is not fenced", at)
					}
				}
			}
			for _, missing := range needed {
				f := newFixture(t, forestOfRows)
				for name := range forestOfRows {
					f.admin["user/"+name] = name != missing
				}
				_, err := f.Moves.Validate(as(t, "user"), f.existing(t, row.namespace), row.parent)
				if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), fmt.Sprintf("%q", missing)) {
					t.Errorf("an admin of all but %s got %v, want Forbidden that names it", missing, err)
				}
			}
		})
	}
}

// The answers do not distinguish a parent that exists from one that does not exist, is in the requester's own tree, too
// deep or being deleted.
func TestMoveRevealsNothingAboutTheParentsOfOthers(t *testing.T) {
	parents := maps.Clone(forestOfRows)
	parents["root3"], parents["mine"] = "", "root3"
	f := newFixture(t, parents)
	excluding(t, f)
	f.admin["user/mine"], f.admin["user/root3"] = true, true
	f.change(t, "y", off, nil, false)
	answers := map[string][]string{}
	for _, parent := range []string{"x", "root2", "orphan", "gone", "never-there", "y"} {
		_, err := f.Moves.Validate(as(t, "user"), f.existing(t, "mine"), parent)
		_, preview := f.Moves.Preview(as(t, "user"), f.existing(t, "mine"), parent)
		if !apierrors.IsForbidden(err) || preview == nil || preview.Error() != err.Error() {
			t.Fatalf("%s: got %v, and %v from the preview, want the same Forbidden", parent, err, preview)
		}
		answer := strings.ReplaceAll(err.Error(), strconv.Quote(parent), "PARENT")
		answers[answer] = append(answers[answer], parent)
	}
	if len(answers) != 1 {
		t.Errorf("the answers differ: %v", answers)
	}
}

func TestPreviewOfAMoveIsItsValidation(t *testing.T) {
	for name, row := range map[string]struct {
		namespace, parent string
		overwrites        []string
		possible, allowed bool
	}{
		"legal":                         {"b", "root1", nil, true, true},
		"no move":                       {"b", "a", []string{"settings"}, true, true},
		"not authorized":                {"b", "y", nil, false, false},
		"below itself":                  {"a", "b", nil, false, false},
		"objects would be overwritten":  {"b", "root1", []string{"settings"}, true, false},
		"not authorized, and overwrite": {"b", "y", []string{"settings"}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, forestOfRows)
			f.config().Sources = &conflicting{names: row.overwrites}
			f.admin["user/root1"], f.admin["user/a"], f.admin["user/b"] = true, true, true
			_, err := f.Moves.Validate(as(t, "user"), f.existing(t, row.namespace), row.parent)
			possible, preview := f.Moves.Preview(as(t, "user"), f.existing(t, row.namespace), row.parent)
			if fmt.Sprint(preview) != fmt.Sprint(err) || (err == nil) != row.allowed || possible != row.possible {
				t.Errorf("got %v, and %t, %v from the preview", err, possible, preview)
			}
		})
	}
}

// The child of a namespace that is no longer excluded needs permissions to leave.
func TestStaleCacheFreesNoChild(t *testing.T) {
	f := newFixture(t, map[string]string{"a": "", "b": "a"})
	excluding(t, f)
	f.change(t, "a", off, nil, true)
	if _, err := f.Moves.Validate(as(t, "user"), f.existing(t, "b"), ""); err != nil {
		t.Errorf("AUTH-3: rejected: %v", err)
	}
	f.change(t, "a", nil, nil, false)
	if _, err := f.Moves.Validate(as(t, "user"), f.existing(t, "b"), ""); !apierrors.IsForbidden(err) {
		t.Errorf("AUTH-5: got %v, want Forbidden", err)
	}
}

func TestTheAuthorizerFails(t *testing.T) {
	t.Run("AUTH-10 nothing is decided", func(t *testing.T) {
		f := newFixture(t, forestOfRows)
		f.config().Authorizer = authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
			return authorizer.DecisionNoOpinion, "", errors.New("no answer")
		})
		if _, err := f.Moves.Validate(as(t, "user"), f.existing(t, "b"), ""); !apierrors.IsInternalError(err) {
			t.Errorf("got %v, want an internal error", err)
		}
	})
}

func TestMoveRejectsIllegalParents(t *testing.T) {
	deep := map[string]string{"n0": "", "leaf": "", "high": "", "below-high": "high"}
	for i := 1; i < 60; i++ {
		deep[fmt.Sprintf("n%d", i)] = fmt.Sprintf("n%d", i-1)
	}
	for _, row := range []struct {
		name, namespace, parent string
		is                      func(error) bool
		says                    string
		parents                 map[string]string
	}{
		{"H10 self", "a", "a", apierrors.IsInvalid, `"a" cannot be its own parent`, forestOfRows},
		{"H10 cycle of two", "a", "b", apierrors.IsInvalid, "(b <- a)", forestOfRows},
		{"H10 cycle of four", "root1", "c", apierrors.IsInvalid, "(c <- b <- a <- root1)", forestOfRows},
		{"H2 excluded parent", "root2", "kube-system", apierrors.IsForbidden, `"kube-system" is excluded`, forestOfRows},
		{"H1 excluded namespace", "kube-system", "", apierrors.IsForbidden, `"kube-system" is excluded`, map[string]string{"kube-system": ""}},
		{"H8 sub-namespace to another parent", "sub", "root1", apierrors.IsConflict, "sub-namespace", forestOfRows},
		{"H8 sub-namespace to a root", "sub", "", apierrors.IsConflict, "<none>", forestOfRows},
		{"H5 below a halted ancestor", "below", "a", apierrors.IsForbidden, `"orphan"`, forestOfRows},
		{"too deep", "leaf", "n59", apierrors.IsInvalid, "60", deep},
		{"too deep with what is below", "high", "n58", apierrors.IsInvalid, "the longest chain of a descendant would have 61 namespaces", deep},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newFixture(t, row.parents)
			// The propagator is authorized to do everything that is legal.
			_, err := f.Moves.Validate(as(t, hnc.PropagatorUser), f.existing(t, row.namespace), row.parent)
			if !row.is(err) || !strings.Contains(fmt.Sprint(err), row.says) {
				t.Errorf("got %v, want an error that says %s", err, row.says)
			}
		})
	}
	// HNC's clients get the errors that HNC returned.
	f := newFixture(t, forestOfRows)
	alpha := genericapirequest.WithRequestInfo(as(t, hnc.PropagatorUser), &genericapirequest.RequestInfo{APIVersion: "v1alpha2", Resource: "hierarchyconfigurations"})
	if _, err := f.Moves.Validate(alpha, f.existing(t, "a"), "b"); !apierrors.IsConflict(err) || !strings.Contains(err.Error(), `hierarchyconfigurations.hnc.x-k8s.io "hierarchy": spec.parent: namespace "a"`) {
		t.Errorf("in v1alpha2: got %v, want a Conflict", err)
	}
	f = newFixture(t, deep)
	if _, err := f.Moves.Validate(as(t, hnc.PropagatorUser), f.existing(t, "leaf"), "n58"); err != nil {
		t.Errorf("a chain of 60 was rejected: %v", err)
	}
	if _, err := f.Moves.Validate(as(t, hnc.PropagatorUser), f.existing(t, "high"), "n57"); err != nil {
		t.Errorf("a subtree with a chain of 60 was rejected: %v", err)
	}
}

func TestH7UnchangedParentIsNotValidatedButCompared(t *testing.T) {
	f := newFixture(t, forestOfRows)
	guard, err := f.Moves.Validate(as(t, "nobody"), f.existing(t, "below"), "orphan")
	if err != nil {
		t.Fatal(err)
	}
	if len(guard.Put) != 0 || len(guard.Delete) != 0 || guard.Unchanged["below"] == 0 {
		t.Errorf("got %+v, want only the comparison of the edge", guard)
	}
}

func TestGuardNeedsItsContext(t *testing.T) {
	if err := fence.Set(t.Context(), &fence.Guard{}); err == nil {
		t.Error("a write to the tree would have been unguarded")
	}
}
