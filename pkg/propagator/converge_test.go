package propagator

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/forest"
)

// TestWhateverHappensTheClusterConverges has users change everything at once, and asks in the end whether everything is as the
// hierarchies say. It knows nothing of how the propagator decides.
func TestWhateverHappensTheClusterConverges(t *testing.T) {
	c := newCluster(t)
	c.namespace("kube-system")
	var full []string
	for i := range 6 {
		full = append(full, fmt.Sprintf("n%d", i))
		c.namespace(full[i])
	}
	c.start()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var users sync.WaitGroup
	for user := range 4 {
		users.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(user)))
			for range 300 {
				c.mu.Lock()
				c.meddle(random, full)
				c.mu.Unlock()
				runtime.Gosched() // the propagator shall have its turns
			}
		})
	}
	users.Wait()
	c.eventually("the cluster", "as it should be", func() string {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.judge()
	})
	c.stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	t.Logf("%d writes, %d namespaces", len(c.writes), len(c.in("namespaces", "")))
}

// meddle does something as a user. What can't be done isn't.
func (c *cluster) meddle(random *rand.Rand, full []string) {
	pick := func(names []string) string { return names[random.IntN(len(names))] }
	all := slices.Sorted(maps.Keys(c.in("namespaces", "")))
	ns, other := pick(all), pick(append([]string{"", "missing"}, all...))
	role := location{"roles", ns, pick([]string{"x", "y", "z"})}
	switch random.IntN(8) {
	case 0:
		h := location{"hierarchies", ns, hnc.Singleton}
		if c.objects[h] == nil {
			c.write("POST", location{"hierarchies", ns, ""}, false, body("hnc.x-k8s.io/v1beta1", "Hierarchy", hnc.Singleton, `"spec":{"parent":"`+other+`"}`))
		} else {
			c.write("PATCH", h, false, []byte(`{"spec":{"parent":"`+other+`"}}`))
		}
	case 1, 2:
		verb := pick([]string{"get", "list"})
		if _, failed := c.write("POST", location{"roles", ns, ""}, false, body(rbacVersion, "Role", role.name, `"rules":[{"verbs":["`+verb+`"]}]`)); failed != nil {
			c.write("PATCH", role, false, []byte(`{"rules":[{"verbs":["`+verb+`"]}]}`))
		}
	case 3:
		c.write("DELETE", role, false, nil)
	case 4:
		c.write("PATCH", role, false, []byte(`{"metadata":{"labels":{"hnc.x-k8s.io/inherited-from":"n1"}}}`))
	case 5:
		parent, name := pick(full), pick([]string{"s0", "s1", "s2"})
		c.write("POST", location{"subnamespaces", parent, ""}, false, body("hnc.x-k8s.io/v1beta1", "Subnamespace", name, `"spec":{}`))
	case 6:
		for l := range c.objects {
			if l.resource == "subnamespaces" {
				c.write("DELETE", l, false, nil)
				return
			}
		}
	case 7:
		c.write("PATCH", location{"namespaces", "", ns}, false, []byte(`{"metadata":{"labels":{"n2.tree.hnc.x-k8s.io/depth":"9"}}}`))
	}
}

const rbacVersion = "rbac.authorization.k8s.io/v1"

func body(version, kind, name, rest string) []byte {
	return []byte(`{"apiVersion":"` + version + `","kind":"` + kind + `","metadata":{"name":"` + name + `","finalizers":` + finalizers(kind) + `},` + rest + `}`)
}

func finalizers(kind string) string {
	if kind == "Subnamespace" {
		return `["` + hnc.FinalizerSubnamespace + `"]`
	}
	return "null"
}

// in returns the objects of a resource in a namespace by name. The lock must be held.
func (c *cluster) in(resource, namespace string) map[string]*unstructured.Unstructured {
	found := map[string]*unstructured.Unstructured{}
	for l, o := range c.objects {
		if l.resource == resource && l.namespace == namespace {
			found[l.name] = o
		}
	}
	return found
}

// judge returns what is not as it should be. The lock must be held.
func (c *cluster) judge() string {
	f := forest.New(func(name string) bool { return name == "kube-system" })
	namespaces := c.in("namespaces", "")
	for name, ns := range namespaces {
		f.SetExists(name, true)
		parent := ns.GetAnnotations()[hnc.AnnotationSubnamespaceOf]
		if c.objects[location{"subnamespaces", parent, name}] == nil {
			parent = ""
		}
		if h := c.objects[location{"hierarchies", name, hnc.Singleton}]; h != nil {
			if p, _, _ := unstructured.NestedString(h.Object, "spec", "parent"); p != "" {
				parent = p
			}
		}
		if name != "kube-system" {
			f.SetParent(name, parent)
		}
	}
	for l, s := range c.objects {
		if l.resource != "subnamespaces" {
			continue
		}
		if s.GetDeletionTimestamp() != nil {
			return fmt.Sprintf("%v is not released", l)
		}
		if namespaces[l.name] == nil {
			return fmt.Sprintf("%v is not created", l)
		}
	}
	for name, ns := range namespaces {
		if problem := judgeLabels(f, name, ns.GetLabels()); problem != "" {
			return problem
		}
		if problem := c.judgeChildren(f, name); problem != "" {
			return problem
		}
		if at, _ := f.HaltedAt(name); at == "" && name != "kube-system" {
			if problem := c.judgeRoles(f.Chain(name)); problem != "" {
				return problem
			}
		}
	}
	return "as it should be"
}

func judgeLabels(f *forest.Forest, name string, labels map[string]string) string {
	want := map[string]string{}
	if at, _ := f.HaltedAt(name); name != "kube-system" {
		for depth, ancestor := range f.Chain(name) {
			want[hnc.TreeLabel(ancestor)] = fmt.Sprint(depth)
			if ancestor == at {
				break
			}
		}
	}
	got := maps.Clone(labels)
	maps.DeleteFunc(got, func(key, _ string) bool { _, ok := hnc.TreeLabelAncestor(key); return !ok })
	if !maps.Equal(got, want) {
		return fmt.Sprintf("%s has the labels %v, want %v", name, got, want)
	}
	return ""
}

func (c *cluster) judgeChildren(f *forest.Forest, name string) string {
	children := slices.DeleteFunc(f.Children(name), func(child string) bool { return !f.Exists(child) })
	h := c.objects[location{"hierarchies", name, hnc.Singleton}]
	if name == "kube-system" || (h == nil && len(children) == 0) {
		return ""
	}
	if h == nil {
		return name + " has no hierarchy"
	}
	got, _, _ := unstructured.NestedStringSlice(h.Object, "status", "children")
	if !slices.Equal(got, children) {
		return fmt.Sprintf("%s has the children %v, want %v", name, got, children)
	}
	return ""
}

func (c *cluster) judgeRoles(chain []string) string {
	governing := map[string]string{}
	for i := len(chain) - 1; i > 0; i-- {
		for name, o := range c.in("roles", chain[i]) {
			if _, isCopy := o.GetLabels()[hnc.LabelInheritedFrom]; !isCopy && governing[name] == "" {
				governing[name] = verb(o) + "<" + chain[i]
			}
		}
	}
	got := map[string]string{}
	for name, o := range c.in("roles", chain[0]) {
		from, isCopy := o.GetLabels()[hnc.LabelInheritedFrom]
		if isCopy || governing[name] != "" {
			got[name] = verb(o) + "<" + from
		}
	}
	if !maps.Equal(got, governing) {
		return fmt.Sprintf("%s has the copies %v, want %v", chain[0], got, governing)
	}
	return ""
}
