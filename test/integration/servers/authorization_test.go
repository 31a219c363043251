package servers

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// rule is one row of who may move: docs/spec/hnc.md 2.4.2 with its holes closed (design.md, section 4). All namespaces
// are named by what they are to the namespace that moves, which is "child".
type rule struct {
	name string
	// tree holds parents by child, in the order in which they have to be set.
	tree [][2]string
	// gone are namespaces of the tree that are deleted before the move.
	gone []string
	// act is the move, by a user under a name of the resource.
	act func(u *user, t *testing.T, n name, prefix string) error
	// needs are the namespaces that the user has to be an admin of, besides child.
	needs []string
	// others are further namespaces, being admin of which doesn't help.
	others []string
}

func moveTo(parent string) func(*user, *testing.T, name, string) error {
	return func(u *user, t *testing.T, n name, prefix string) error {
		if parent == "" {
			return u.patch(t, n, prefix+"child", "")
		}
		return u.patch(t, n, prefix+"child", prefix+parent)
	}
}

func remove(u *user, t *testing.T, n name, prefix string) error {
	return u.remove(t, n, prefix+"child")
}

func removeCollection(u *user, t *testing.T, n name, prefix string) error {
	return u.dynamic.Resource(n.GroupVersionResource).Namespace(prefix+"child").
		DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{})
}

var rules = []rule{
	{
		name: "AUTH-2 a root gets a parent", act: moveTo("new"),
		tree: [][2]string{{"new", "above"}}, needs: []string{"new"}, others: []string{"above"},
	},
	{
		name: "AUTH-2 a root gets its first hierarchy", act: func(u *user, t *testing.T, n name, prefix string) error {
			if err := admin.remove(t, hierarchies, prefix+"child"); err != nil {
				return err
			}
			return u.create(t, n, prefix+"child", prefix+"new")
		},
		tree: [][2]string{{"new", "above"}}, needs: []string{"new"}, others: []string{"above"},
	},
	{
		name: "AUTH-5 a child becomes a root", act: moveTo(""),
		tree: [][2]string{{"old", "root"}, {"child", "old"}}, needs: []string{"root"}, others: []string{"old"},
	},
	{
		name: "AUTH-5 CASE-1 a child's hierarchy is deleted", act: remove,
		tree: [][2]string{{"old", "root"}, {"child", "old"}}, needs: []string{"root"}, others: []string{"old"},
	},
	{
		name: "AUTH-5 a child's hierarchies are deleted", act: removeCollection,
		tree: [][2]string{{"old", "root"}, {"child", "old"}}, needs: []string{"root"}, others: []string{"old"},
	},
	{
		name: "AUTH-6 to another tree", act: moveTo("new"),
		tree:  [][2]string{{"old", "root"}, {"child", "old"}, {"new", "newroot"}},
		needs: []string{"root", "new"}, others: []string{"old", "newroot"},
	},
	{
		name: "AUTH-7 CASE-1 to another branch of the same tree", act: moveTo("new"),
		tree:  [][2]string{{"common", "root"}, {"old", "common"}, {"beside", "common"}, {"new", "beside"}, {"child", "old"}},
		needs: []string{"common", "new"}, others: []string{"root", "old", "beside"},
	},
	{
		name: "AUTH-7 up in the same tree", act: moveTo("new"),
		tree:  [][2]string{{"new", "root"}, {"old", "new"}, {"child", "old"}},
		needs: []string{"new"}, others: []string{"root", "old"},
	},
	{
		name: "AUTH-7 below a sibling", act: moveTo("new"),
		tree:  [][2]string{{"old", "root"}, {"new", "old"}, {"child", "old"}},
		needs: []string{"old", "new"}, others: []string{"root"},
	},
	{
		name: "AUTH-4 CASE-1 an orphan gets a parent", act: moveTo("new"),
		tree: [][2]string{{"child", "gone"}, {"new", "above"}}, gone: []string{"gone"},
		needs: []string{"new"}, others: []string{"above"},
	},
	{
		name: "AUTH-4 an orphan becomes a root", act: moveTo(""),
		tree: [][2]string{{"child", "gone"}}, gone: []string{"gone"},
	},
	{
		name: "AUTH-1 a parent stays", act: func(u *user, t *testing.T, n name, prefix string) error {
			return u.apply(t, n, prefix+"child", prefix+"old")
		},
		tree: [][2]string{{"old", "root"}, {"child", "old"}}, others: []string{"old", "root"},
	},
}

// Each rule under both names of the resource, one through kube-apiserver and the other not: the error for a user who
// lacks a single right names the namespace, having all others, and one who has only what is needed may move. A
// permission under either name is enough.
func TestH12WhoMayMove(t *testing.T) {
	for i, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			r.check(t, fmt.Sprintf("rule-%d-", i))
		})
	}
}

func (r rule) check(t *testing.T, prefix string) {
	at := func(names []string) []string {
		var prefixed []string
		for _, name := range names {
			prefixed = append(prefixed, prefix+name)
		}
		return prefixed
	}
	members := map[string]bool{"child": true}
	for _, edge := range r.tree {
		members[edge[0]], members[edge[1]] = true, true
	}
	createNamespaces(t, at(slices.Sorted(maps.Keys(members)))...)
	r.plant(t, prefix)
	if len(r.gone) > 0 {
		deleteNamespaces(t, at(r.gone)...)
	}

	present := slices.DeleteFunc(slices.Sorted(maps.Keys(members)), func(name string) bool { return slices.Contains(r.gone, name) })
	for _, missing := range r.needs {
		u := newAccount(t, prefix+"without-"+missing)
		u.grant(t, fullAdmin, at(slices.DeleteFunc(slices.Clone(present), func(name string) bool { return name == missing }))...)
		for n, client := range u.byRoute(t) {
			err := r.act(client, t, n, prefix)
			if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), fmt.Sprintf("may not modify the subtree of namespace %q", prefix+missing)) {
				t.Errorf("%s by an admin of all but %s: got %v, want Forbidden that names the namespace", n.kind, missing, err)
			}
			// Refused means unchanged.
			r.plant(t, prefix)
		}
	}
	for _, n := range bothHierarchies {
		for _, needed := range []right{fullAdmin, updateHierarchies, updateConfigurations} {
			if len(r.gone) > 0 && (n != hierarchies || needed != updateConfigurations) {
				continue // orphaned only once
			}
			u := newAccount(t, prefix+strings.ToLower(n.kind)+"-"+needed.role)
			u.grant(t, fullAdmin, prefix+"child")
			u.grant(t, needed, at(r.needs)...)
			if err := r.act(u.byRoute(t)[n], t, n, prefix); err != nil {
				t.Errorf("%s by an admin of child with the permission %s in %v: %v", n.kind, needed.role, r.needs, err)
			}
			if len(r.gone) == 0 {
				r.plant(t, prefix)
			}
		}
	}
}

// byRoute returns the clients with which the user reaches a resource by each of its names.
func (u *user) byRoute(t *testing.T) map[name]*user {
	return map[name]*user{hierarchies: u, configurations: u.at(t, 1)}
}

// plant brings the tree into its first shape.
func (r rule) plant(t *testing.T, prefix string) {
	t.Helper()
	if len(r.gone) > 0 {
		for _, gone := range r.gone {
			if _, err := admin.CoreV1().Namespaces().Get(t.Context(), prefix+gone, metav1.GetOptions{}); apierrors.IsNotFound(err) {
				return
			}
		}
	}
	for _, edge := range append([][2]string{{"child", ""}}, r.tree...) {
		parent := edge[1]
		if parent != "" {
			parent = prefix + parent
		}
		if err := admin.apply(t, hierarchies, prefix+edge[0], parent); err != nil {
			t.Fatal(err)
		}
	}
}
