package treeplacement

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/forest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

func TestErrorsNameEachRejectedPlacement(t *testing.T) {
	cycle := apierrors.NewInvalid(schema.GroupKind{Group: hnc.GroupName, Kind: "Hierarchy"}, hnc.Singleton,
		field.ErrorList{field.Invalid(field.NewPath("spec", "parent"), "a", "a cycle")})
	forbidden := apierrors.NewForbidden(hnc.Resource("hierarchies"), hnc.Singleton, errors.New("not yours"))
	missing := apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "b")
	for name, row := range map[string]struct {
		errs  []error
		moved int
		is    func(error) bool
		says  []string
	}{
		"a cycle":               {[]error{cycle}, 0, apierrors.IsInvalid, []string{"nothing was changed", `spec.placements[0].parent: namespace "n0"`, "a cycle"}},
		"the most severe":       {[]error{cycle, forbidden}, 0, apierrors.IsForbidden, []string{"spec.placements[0].parent", `spec.placements[1]: namespace "n1"`, "not yours"}},
		"a missing namespace":   {[]error{missing}, 0, apierrors.IsInvalid, []string{`namespaces "b" not found`}},
		"after a part is moved": {[]error{forbidden}, 1, apierrors.IsForbidden, []string{"1 of 2 namespaces are moved; repeat the request"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := &request{placements: []forest.Placement{{Name: "n0"}, {Name: "n1"}}, results: map[string]hnc.PlacementResult{}}
			for _, p := range r.placements[2-row.moved:] {
				r.results[p.Name] = hnc.PlacementResult{Outcome: hnc.PlacementMoved}
			}
			rejected := &rejection{names: map[string]bool{}}
			for i, err := range row.errs {
				rejected.add(i, forest.Placement{Name: "n" + string(rune('0'+i)), Parent: "p"}, err)
			}
			err := r.incomplete(rejected)
			if !row.is(err) {
				t.Errorf("got %v of reason %s", err, apierrors.ReasonForError(err))
			}
			var moved []metav1.StatusCause
			var status *apierrors.StatusError
			if !errors.As(err, &status) {
				t.Fatalf("got %T, want a status", err)
			}
			for _, cause := range status.ErrStatus.Details.Causes {
				if cause.Type == metav1.CauseType(hnc.PlacementMoved) {
					moved = append(moved, cause)
				}
			}
			if len(moved) != row.moved || row.moved > 0 && (moved[0].Field != "spec.placements[1]" || !strings.Contains(moved[0].Message, `"n1"`)) {
				t.Errorf("got the causes %v for %d moved namespaces", moved, row.moved)
			}
			for _, part := range row.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("got %v, want %q in it", err, part)
				}
			}
		})
	}
}

func TestPlacementsBelowARejectedOneAreNotEvaluated(t *testing.T) {
	r := &rejection{names: map[string]bool{}}
	r.add(0, forest.Placement{Name: "a", Parent: "x"}, errors.New("rejected"))
	if !r.includesParent(forest.Placement{Name: "b", Parent: "a"}) || !r.includesParent(forest.Placement{Name: "c", Parent: "b"}) {
		t.Error("a descendant of a rejected namespace is evaluated")
	}
	if r.includesParent(forest.Placement{Name: "d", Parent: "x"}) {
		t.Error("a sibling of a rejected namespace is not evaluated")
	}
}

func TestALostFenceIsAConflict(t *testing.T) {
	r := &request{placements: make([]forest.Placement, 1)}
	if err := r.incomplete(fence.ErrLost); !apierrors.IsConflict(err) {
		t.Errorf("got %v", err)
	}
	if err := r.incomplete(errors.New("no etcd")); !apierrors.IsInternalError(err) {
		t.Errorf("got %v", err)
	}
}
