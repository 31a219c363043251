package tree

import (
	"errors"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/forest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// evaluate evaluates placements one after the other, as a request does, and returns their guards.
func (f *fixture) evaluate(t *testing.T, who string, placements ...forest.Placement) ([]*fence.Guard, error) {
	t.Helper()
	p := f.Moves.NewPlacements(placements, true)
	ctx := WithPlacements(as(t, who), p)
	order, err := p.Order(ctx, placements)
	if err != nil {
		t.Fatal(err)
	}
	var guards []*fence.Guard
	for _, i := range order {
		guard, err := f.Moves.Validate(ctx, f.existing(t, placements[i].Name), placements[i].Parent)
		if err != nil {
			return nil, err
		}
		if err := p.Plan(guard); err != nil {
			t.Fatal(err)
		}
		guards = append(guards, guard)
	}
	return guards, nil
}

func TestPlacementsSeeTheMovesBeforeThem(t *testing.T) {
	f := newFixture(t, forestOfRows)
	for _, name := range []string{"root1", "b", "c"} {
		f.admin["user/"+name] = true
	}
	// a <- b <- c becomes c <- b <- a, although b cannot move below c while c is below b.
	guards, err := f.evaluate(t, "user", forest.Placement{Name: "a", Parent: "b"}, forest.Placement{Name: "b", Parent: "c"}, forest.Placement{Name: "c", Parent: "root1"})
	if err != nil {
		t.Fatal(err)
	}
	var moved []string
	for _, guard := range guards {
		for name := range guard.Put {
			moved = append(moved, name)
		}
	}
	if want := []string{"c", "b", "a"}; !slices.Equal(moved, want) {
		t.Errorf("moved %v, want %v", moved, want)
	}
}

func TestPlacementsWithACycleInTheResultAreInvalid(t *testing.T) {
	f := newFixture(t, forestOfRows)
	for _, name := range []string{"root1", "root2", "a", "x"} {
		f.admin["user/"+name] = true
	}
	// Each move is legal in the tree as it is.
	if _, err := f.evaluate(t, "user", forest.Placement{Name: "a", Parent: "x"}, forest.Placement{Name: "x", Parent: "a"}); !apierrors.IsInvalid(err) {
		t.Errorf("got %v, want an Invalid error", err)
	}
}

func TestPlacementsNeedTheRightsOfEachMove(t *testing.T) {
	f := newFixture(t, forestOfRows)
	f.admin["user/root1"] = true
	into := forest.Placement{Name: "c", Parent: "y"}
	if _, err := f.evaluate(t, "user", forest.Placement{Name: "b", Parent: "root1"}, into); !apierrors.IsForbidden(err) {
		t.Errorf("got %v, want a Forbidden error", err)
	}
	f.admin["user/y"] = true
	if _, err := f.evaluate(t, "user", forest.Placement{Name: "b", Parent: "root1"}, into); err != nil {
		t.Error(err)
	}
}

func TestClosedPlacementsEvaluateNothing(t *testing.T) {
	f := newFixture(t, forestOfRows)
	f.admin["user/root1"] = true
	p := f.Moves.NewPlacements([]forest.Placement{{Name: "b", Parent: "root1"}}, true)
	p.Close()
	if _, err := f.Moves.Validate(WithPlacements(as(t, "user"), p), f.existing(t, "b"), "root1"); !errors.Is(err, fence.ErrLost) {
		t.Errorf("got %v, want %v", err, fence.ErrLost)
	}
}

func TestNamespacesThatMoveElsewhereDoNotMoveWithTheirParent(t *testing.T) {
	p := &Placements{targets: map[string]string{"b": "root2", "kept": "a"}}
	var names []string
	for _, n := range p.staying([]Node{{Name: "a"}, {Name: "b", Parent: "a"}, {Name: "c", Parent: "b"}, {Name: "kept", Parent: "a"}, {Name: "other", Parent: "a"}}) {
		names = append(names, n.Name)
	}
	if want := []string{"a", "kept", "other"}; !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
}
