package cache

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
)

// reflected is a store of one resource as a test sees it.
type reflected struct {
	// add, replace and wrote enter objects "name@version" as a watch, a list and a write of ours do.
	add     func(object string)
	replace func(version string, objects ...string)
	wrote   func(object string)
	// names returns the names that the state holds, in order.
	names func(*State) []string
}

func newReflected[T any](c *Cache, resource string, s *store[T], object func(metav1.ObjectMeta) any, wrote func(any), names func(*State) []string) reflected {
	s.cache, s.resource, s.synced = c, resource, func() {}
	read := func(text string) any {
		name, version, _ := strings.Cut(text, "@")
		return object(metav1.ObjectMeta{Name: name, Namespace: name, UID: types.UID(name), ResourceVersion: version})
	}
	return reflected{
		add: func(object string) { _ = s.Add(read(object)) },
		replace: func(version string, objects ...string) {
			var list []any
			for _, o := range objects {
				list = append(list, read(o))
			}
			_ = s.Replace(list, version)
		},
		wrote: func(object string) { wrote(read(object)) },
		names: names,
	}
}

// stores returns a function for each resource that makes a store of it.
func stores() map[string]func(*Cache) reflected {
	return map[string]func(*Cache) reflected{
		"namespaces": func(c *Cache) reflected {
			return newReflected(c, namespaces, c.state.namespaceStore(), func(m metav1.ObjectMeta) any { m.Namespace = ""; return &corev1.Namespace{ObjectMeta: m} },
				func(o any) { c.ObserveNamespace(o.(*corev1.Namespace)) },
				func(s *State) []string { return s.Tree.Names() })
		},
		"hierarchies": func(c *Cache) reflected {
			return newReflected(c, hierarchies, c.state.hierarchyStore(), func(m metav1.ObjectMeta) any { m.Name = hnc.Singleton; return &v1beta1.Hierarchy{ObjectMeta: m} },
				func(o any) { c.ObserveHierarchy(o.(*v1beta1.Hierarchy)) },
				func(s *State) []string {
					var names []string
					for h := range s.Tree.Hierarchies() {
						names = append(names, h.Namespace)
					}
					return names
				})
		},
		"subnamespaces": func(c *Cache) reflected {
			return newReflected(c, subnamespaces, c.state.subnamespaceStore(), func(m metav1.ObjectMeta) any { m.Namespace = "parent"; return &v1beta1.Subnamespace{ObjectMeta: m} },
				func(o any) { c.ObserveSubnamespace(o.(*v1beta1.Subnamespace)) },
				func(s *State) []string {
					var names []string
					for _, key := range s.Tree.SubnamespaceKeys() {
						names = append(names, key.Name)
					}
					return names
				})
		},
		"objects": func(c *Cache) reflected {
			s := c.state
			kind := s.register(copies.Roles.GroupResource())
			k := s.kinds[kind]
			k.Index, k.Synced = copies.NewIndex(copies.Roles), true
			rules := &copies.Rules{}
			convert := func(o any) (*copies.Object, error) { return copies.NewObject(o.(*unstructured.Unstructured), rules) }
			set := func(o *copies.Object) {
				if old, changed := k.Index.Set(o); changed {
					s.objectChanged(kind, old, k.Index.Get(o.Namespace, o.Name))
				}
			}
			return newReflected(c, copies.Roles.GroupResource().String(), &store[*copies.Object]{
				convert: convert, set: set,
				known:  k.Index.All,
				remove: func(o *copies.Object) { s.objectChanged(kind, k.Index.Delete(o.Namespace, o.Name, o.UID), nil) },
				identify: func(o *copies.Object) (types.NamespacedName, string) {
					return types.NamespacedName{Name: o.Name}, o.ResourceVersion
				},
			}, func(m metav1.ObjectMeta) any {
				u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role"}}
				u.SetName(m.Name)
				u.SetNamespace(m.Namespace)
				u.SetUID(m.UID)
				u.SetResourceVersion(m.ResourceVersion)
				return u
			}, func(o any) {
				object, _ := convert(o)
				c.Update(func(*State) { set(object) })
			}, func(s *State) []string {
				var names []string
				for o := range k.Index.All() {
					names = append(names, o.Name)
				}
				return names
			})
		},
	}
}

func wantNames(t *testing.T, c *Cache, r reflected, what, want string) {
	t.Helper()
	c.Read(func(s *State) {
		names := r.names(s)
		slices.Sort(names)
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	})
}

func TestListRemovesWhatItLacks(t *testing.T) {
	for resource, newStore := range stores() {
		t.Run(resource, func(t *testing.T) {
			c := New(Config{Managed: managedkeys.Default()})
			r := newStore(c)
			r.replace("5", "gone@3", "stays@4")
			wantNames(t, c, r, "after the first list", "gone stays")
			r.wrote("ours@12")
			r.replace("10", "stays@4", "new@9")
			wantNames(t, c, r, "after a list before our own write", "new ours stays")
			r.replace("13", "stays@4", "new@9")
			wantNames(t, c, r, "after a list that has to include our own write", "new stays")
		})
	}
}

func TestListAtAnEarlierVersionRebuildsTheState(t *testing.T) {
	for resource, newStore := range stores() {
		t.Run(resource, func(t *testing.T) {
			c := New(Config{Managed: managedkeys.Default()})
			r := newStore(c)
			r.replace("1000", "a@999")
			r.add("lost@1001")
			r.replace("10", "a@5", "b@6")
			wantNames(t, c, r, "after the list", "a b")
			// Versions are compared with those of the new history.
			r.wrote("ours@11")
			wantNames(t, c, r, "after a write", "a b ours")
			r.add("c@12")
			r.replace("13", "b@6", "c@12")
			wantNames(t, c, r, "after another list", "b c")
		})
	}
}

func TestResultOfAWriteThatTheWatchHasPassedIsIgnored(t *testing.T) {
	c := New(Config{Managed: managedkeys.Default()})
	r := stores()["hierarchies"](c)
	r.replace("5")
	r.add("other@8")
	// The watch is at 8 without it, so it was deleted since.
	r.wrote("deleted@7")
	wantNames(t, c, r, "after the write", "other")
	r.wrote("written@9")
	wantNames(t, c, r, "after a later write", "other written")
}

func TestConfigurationThatAListLacksIsForgotten(t *testing.T) {
	c := New(Config{})
	s := c.state
	config := func(uid, version string) *v1beta1.HNCConfiguration {
		return &v1beta1.HNCConfiguration{ObjectMeta: metav1.ObjectMeta{Name: hnc.ConfigurationName, UID: types.UID(uid), ResourceVersion: version}}
	}
	st := s.configurationStore()
	st.cache, st.resource, st.synced = c, configurations, func() {}
	for _, step := range []struct {
		what, version string
		list          []any
		want          types.UID
	}{
		{"a list with it", "10", []any{config("a", "9")}, "a"},
		{"a list without it", "11", nil, ""},
		{"another one", "20", []any{config("b", "19")}, "b"},
		{"a list at an earlier version", "5", []any{config("c", "4")}, "c"},
	} {
		if err := st.Replace(step.list, step.version); err != nil {
			t.Fatal(err)
		}
		var got types.UID
		if s.Configuration != nil {
			got = s.Configuration.UID
		}
		if got != step.want {
			t.Errorf("%s: %q, want %q", step.what, got, step.want)
		}
	}
}

func TestEventsOfAStoppedWatchAreIgnored(t *testing.T) {
	c := New(Config{Managed: managedkeys.Default()})
	wanted := true
	st := c.state.namespaceStore()
	st.cache, st.resource, st.synced, st.current = c, namespaces, func() { t.Error("synced") }, func() bool { return wanted }
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "a", ResourceVersion: "1"}}
	_ = st.Add(ns)
	wanted = false
	_ = st.Delete(ns)
	_ = st.Add(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "b", UID: "b", ResourceVersion: "2"}})
	_ = st.Replace(nil, "3")
	if got := c.state.Tree.Names(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("the state holds %v", got)
	}
}

// The watch of ResourceQuotas may be later than that of namespaces.
func TestNoNamespaceHasTheResourceQuotasOfAnEarlierOne(t *testing.T) {
	c := New(Config{Managed: managedkeys.Default()})
	namespace := func(uid types.UID, version string) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: uid, ResourceVersion: version}}
	}
	limit := func(uid types.UID, version string) {
		c.ObserveResourceQuota(&corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: hnc.ResourceQuotaName, UID: uid, ResourceVersion: version}})
	}
	store := c.state.namespaceStore()
	store.cache, store.resource = c, namespaces
	first, second := namespace("first", "1"), namespace("second", "4")
	_ = store.Add(first)
	limit("of-the-first", "2")
	_ = store.Delete(first)
	if left := c.state.Quotas.ObjectsIn("a"); len(left) > 0 {
		t.Errorf("%s remains", left[0].UID)
	}
	_ = store.Add(second)
	limit("of-the-second", "5")
	limit("of-the-first", "3")
	_ = store.Delete(first)
	if left := c.state.Quotas.ObjectsIn("a"); len(left) != 1 || left[0].UID != "of-the-second" {
		t.Errorf("the second namespace has %d ResourceQuotas", len(left))
	}
}
