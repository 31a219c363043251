package hierarchyplan

import (
	"fmt"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/plan"
)

func binding(role string, users ...string) grant {
	g := grant{role: rbacv1.RoleRef{Kind: "Role", Name: role}}
	for _, name := range users {
		g.subjects = append(g.subjects, rbacv1.Subject{Kind: rbacv1.UserKind, Name: name})
	}
	return g
}

func TestGrantsAreSetsOfRolesOfSubjects(t *testing.T) {
	var gained, lost, stays grants
	gained.add(binding("edit", "ann", "bob", "ann"))
	gained.add(binding("edit", "bob", "eve"))
	stays.add(binding("edit", "bob"))
	stays.add(binding("view", "ann"))
	lost.add(binding("edit", "eve"))
	var got []string
	for _, a := range gained.without(hnc.AccessGained, &stays, &lost) {
		got = append(got, fmt.Sprintf("%s %s %s", a.Change, a.Name, a.Role))
	}
	if want := []string{"Gained ann edit"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A RoleBinding has tens of thousands of subjects at most; comparing each with each took minutes.
func BenchmarkGrants(b *testing.B) {
	users := make([]string, 30000)
	for i := range users {
		users[i] = fmt.Sprint(i)
	}
	for b.Loop() {
		var gained, stays grants
		gained.add(binding("edit", users...))
		stays.add(binding("edit", users[1:]...))
		gained.without(hnc.AccessGained, &stays)
	}
}

func TestAPageCountsTheSubjectsThatItContains(t *testing.T) {
	snap := &snapshot{indexes: []*copies.Index{copies.NewIndex(copies.RoleBindings)}, grants: map[types.UID]grant{"1": binding("edit", "ann", "bob", "eve")}}
	planner := &Planner{}
	p := &page{Planner: planner, visibility: planner.visibility(&prediction{snapshot: snap}), status: &hnc.HierarchyPlanStatus{}, started: true, limit: 4}
	for _, name := range []string{"a", "b", "c"} {
		p.add(t.Context(), plan.Effect{Namespace: name, Writes: []copies.Write{
			{Kind: copies.RoleBindings, Verb: copies.Delete, Namespace: name, Name: "editors", Present: &copies.Object{Namespace: name, Name: "editors", UID: "1"}},
		}})
	}
	if len(p.status.Namespaces) != 2 || len(p.status.Namespaces[0].Access) != 3 || p.status.Continue == "" {
		t.Errorf("%d namespaces are on the page, want the 2 that reach the limit of 4 with their subjects: %+v", len(p.status.Namespaces), p.status)
	}
}
