package rbacindex

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
)

var (
	someNamespaces = []string{"a", "b", "c", "d"}
	someRoles      = []string{"r", "s", "t"}
	someRules      = []rbacv1.PolicyRule{
		rule("get", "", "namespaces"), rule("*", "*", "*"), rule("get", "", "namespaces", "a", "c"), rule("get", "", "namespaces", "b"),
		rule("get", "", "pods"), rule("list", "", "namespaces"), rule("get", "", "namespaces/status"), rule("get", "apps", "*"),
	}
	someSubjects = []rbacv1.Subject{
		{Kind: "User", Name: "ann"}, {Kind: "User", Name: "bob"}, {Kind: "Group", Name: "devs"}, {Kind: "Group", Name: "system:authenticated"},
		{Kind: "ServiceAccount", Name: "robot"}, {Kind: "ServiceAccount", Namespace: "a", Name: "robot"}, {Kind: "Group", Name: "system:masters"},
	}
	someUsers = []struct {
		name   string
		groups []string
	}{
		{"ann", []string{"system:authenticated"}}, {"bob", []string{"devs", "system:authenticated"}}, {"nobody", nil},
		{"system:serviceaccount:a:robot", []string{"system:serviceaccounts"}}, {"system:serviceaccount:b:robot", nil},
		{"root", []string{"system:masters"}},
	}
)

func some[T any](random *rand.Rand, all []T) T { return all[random.IntN(len(all))] }

// change makes the same random change of the reference and of the index.
func (c *cluster) change(random *rand.Rand, x *Index) {
	if random.IntN(2) == 0 {
		name := Role{Name: some(random, someRoles)}
		if random.IntN(2) == 0 {
			name.Namespace = some(random, someNamespaces)
		}
		if random.IntN(4) == 0 {
			delete(c.roles, name)
			x.DeleteRole(name)
			return
		}
		var rules []rbacv1.PolicyRule
		for range random.IntN(3) {
			rules = append(rules, some(random, someRules))
		}
		c.roles[name] = rules
		x.SetRole(name, GrantOf(name.Namespace, rules))
		return
	}
	key := BindingKey{Name: some(random, []string{"x", "y", "z"})}
	if random.IntN(5) > 0 {
		key.Namespace = some(random, someNamespaces)
	}
	if random.IntN(4) == 0 {
		delete(c.bindings, key)
		x.DeleteBinding(key)
		return
	}
	b := reference{role: rbacv1.RoleRef{Kind: "ClusterRole", Name: some(random, someRoles)}}
	if random.IntN(3) == 0 {
		b.role.Kind = "Role"
	}
	for range random.IntN(4) {
		b.subjects = append(b.subjects, some(random, someSubjects))
	}
	c.bindings[key] = b
	x.SetBinding(NewBinding(key.Namespace, key.Name, b.role, b.subjects))
}

// replace sends everything to the index again, as after a lost watch.
func (c *cluster) replace(x *Index) {
	for _, wide := range []bool{true, false} {
		var roles []*RoleGrant
		var bindings []*Binding
		for name, rules := range c.roles {
			if (name.Namespace == "") == wide {
				roles = append(roles, &RoleGrant{name, GrantOf(name.Namespace, rules)})
			}
		}
		for key, b := range c.bindings {
			if (key.Namespace == "") == wide {
				binding := NewBinding(key.Namespace, key.Name, b.role, b.subjects)
				bindings = append(bindings, &binding)
			}
		}
		x.ReplaceRoles(wide, roles)
		x.ReplaceBindings(wide, bindings)
	}
}

// permission is that of a subject to get a namespace.
type permission struct {
	subject   Subject
	namespace string
}

func TestIndexMatchesRBAC(t *testing.T) {
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 0))
		reported := map[permission]bool{{superuserGroup, AllNamespaces}: true}
		x := New(func(c Change) {
			for _, s := range c.Subjects {
				if reported[permission{s, c.Namespace}] == c.Gained {
					t.Fatalf("seed %d: %v is reported although it is so", seed, c)
				}
				reported[permission{s, c.Namespace}] = c.Gained
			}
		})
		c := &cluster{roles: map[Role][]rbacv1.PolicyRule{}, bindings: map[BindingKey]reference{}}
		for step := range 300 {
			if step%50 == 49 {
				// The index misses these changes until it is replaced.
				c.change(random, New(func(Change) {}))
				c.change(random, New(func(Change) {}))
				c.replace(x)
			}
			c.change(random, x)
			c.compare(t, x, reported, fmt.Sprintf("seed %d, step %d", seed, step))
		}
		clear(c.roles)
		clear(c.bindings)
		c.replace(x)
		if len(x.roles) > 0 || len(x.bindings) > 0 || len(x.subjects) != 1 {
			t.Fatalf("seed %d: %d roles, %d bindings and %d subjects are left over", seed, len(x.roles), len(x.bindings), len(x.subjects)-1)
		}
	}
}

// compare compares all answers for every user and namespace.
func (c *cluster) compare(t *testing.T, x *Index, reported map[permission]bool, when string) {
	t.Helper()
	for _, user := range someUsers {
		subjects := SubjectsOf(user.name, user.groups)
		var listed []string
		for _, s := range subjects {
			listed = slices.AppendSeq(listed, x.Namespaces(s))
		}
		for _, namespace := range someNamespaces {
			want := c.allows(user.name, user.groups, namespace)
			got := x.Allows(subjects, namespace)
			inList := x.AllowsAll(subjects) || slices.Contains(listed, namespace)
			changed := slices.ContainsFunc(subjects, func(s Subject) bool {
				return reported[permission{s, namespace}] || reported[permission{s, AllNamespaces}]
			})
			if got != want || inList != want || changed != want {
				t.Fatalf("%s: %s in %s: RBAC says %v, the index %v, its list %v, its changes %v", when, user.name, namespace, want, got, inList, changed)
			}
		}
	}
}
