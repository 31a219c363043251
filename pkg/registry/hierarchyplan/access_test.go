package hierarchyplan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/plan"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
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

func TestRolesAndSubjectsWithTheSameBeginningAreNotTheSame(t *testing.T) {
	long := strings.Repeat("x", 300)
	bindings := func(name string) (of grants) {
		for _, b := range []*rbacv1.RoleBinding{
			{RoleRef: rbacv1.RoleRef{Name: name}, Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: "ann"}}},
			{RoleRef: rbacv1.RoleRef{Name: "edit"}, Subjects: []rbacv1.Subject{
				{Kind: rbacv1.UserKind, Name: name}, {Kind: rbacv1.ServiceAccountKind, Namespace: name, Name: "bot"},
			}},
		} {
			of.add(newGrant(b))
		}
		return of
	}
	gained, stays, same := bindings(long+"1"), bindings(long+"2"), bindings(long+"1")
	list := gained.without(hnc.AccessGained, &stays)
	if len(list) != 3 || len(gained.without(hnc.AccessGained, &same)) != 0 {
		t.Fatalf("got %d changes, want 3", len(list))
	}
	for i, name := range []string{list[0].Role, list[1].Name, list[2].Namespace} {
		if name != names.Shorten(long) {
			t.Errorf("name %d is %q", i, name)
		}
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

// pages returns the pages of a plan that removes a RoleBinding from namespaces.
func pages(t *testing.T, removed grant, namespaces []string, limit int) []hnc.HierarchyPlanStatus {
	t.Helper()
	snap := &snapshot{indexes: []*copies.Index{copies.NewIndex(copies.RoleBindings)}, grants: map[types.UID]grant{"1": removed}}
	planner := &Planner{}
	var all []hnc.HierarchyPlanStatus
	for at := (position{}); len(all) < 100; {
		var status hnc.HierarchyPlanStatus
		p := &page{
			Planner: planner, visibility: planner.visibility(&prediction{snapshot: snap}), status: &status,
			start: at, started: at == position{}, limit: limit,
		}
		for _, name := range namespaces {
			p.add(t.Context(), plan.Effect{Namespace: name, Writes: []copies.Write{
				{Kind: copies.RoleBindings, Verb: copies.Delete, Namespace: name, Name: "editors", Present: &copies.Object{Namespace: name, Name: "editors", UID: "1"}},
			}})
		}
		all = append(all, status)
		if status.Continue == "" {
			return all
		}
		var err error
		if at, err = parsePosition(status.Continue); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("the plan has no end")
	return nil
}

func TestAPageCountsTheSubjectsThatItContains(t *testing.T) {
	var got []string
	for _, status := range pages(t, binding("edit", "ann", "bob", "eve"), []string{"a", "b", "c"}, 4) {
		words := ""
		for _, n := range status.Namespaces {
			words += fmt.Sprintf(" %s:%d", n.Name, len(n.Objects))
			for _, a := range n.Access {
				words += "," + a.Name
			}
		}
		got = append(got, words)
	}
	if want := []string{" a:1,ann,bob,eve b:1,ann", " b:0,bob,eve c:1,ann,bob", " c:0,eve"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Abstract ancestors change labels of many namespaces, and each page is a whole plan.
func TestAPageCountsLabels(t *testing.T) {
	p := &page{Planner: &Planner{}, visibility: (&Planner{}).visibility(&prediction{snapshot: &snapshot{}}), status: &hnc.HierarchyPlanStatus{}, started: true, limit: 4}
	for i, labels := range []int{20, 11, 1} {
		p.add(t.Context(), plan.Effect{Namespace: string('a' + rune(i)), Labels: make([]hnc.PlannedLabel, labels)})
	}
	if next, err := parsePosition(p.status.Continue); err != nil || next.Namespace != "c" || len(p.status.Namespaces) != 2 {
		t.Errorf("%d namespaces are on the page, the next is %q", len(p.status.Namespaces), next.Namespace)
	}
}

// The names of Roles have any length.
func TestAccessOfAPlanIsBoundedInBytes(t *testing.T) {
	binding := &rbacv1.RoleBinding{RoleRef: rbacv1.RoleRef{Kind: "Role", Name: strings.Repeat("r", 64<<10)}}
	for i := range 1200 {
		binding.Subjects = append(binding.Subjects, rbacv1.Subject{Kind: rbacv1.UserKind, Name: fmt.Sprint(i)})
	}
	shown := map[hnc.PlannedAccess]int{}
	for i, status := range pages(t, newGrant(binding), []string{"a", "b"}, defaultLimit) {
		if encoded, err := json.Marshal(status); err != nil || len(encoded) > 1<<20 {
			t.Fatalf("page %d has %d bytes: %v", i, len(encoded), err)
		}
		onPage := 0
		for _, n := range status.Namespaces {
			for _, a := range n.Access {
				shown[a]++
			}
			onPage += len(n.Access)
		}
		if onPage > defaultLimit {
			t.Errorf("page %d has %d changes of access", i, onPage)
		}
	}
	if len(shown) != len(binding.Subjects) {
		t.Errorf("%d subjects are shown, want %d", len(shown), len(binding.Subjects))
	}
	for a, namespaces := range shown {
		if namespaces != 2 {
			t.Fatalf("%s is shown %d times", a.Name, namespaces)
		}
	}
}
