package propagation

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/forest"
)

// TestClusterConverges has users change everything at once, and checks in the end that everything is as the hierarchies
// say. It does not use the decisions of the propagator.
func TestClusterConverges(t *testing.T) {
	c := newCluster(t)
	var full []string
	for i := range 6 {
		full = append(full, fmt.Sprintf("n%d", i))
	}
	c.namespaces(full...)
	c.start()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var running sync.WaitGroup
	var accepted atomic.Int32
	for user := range uint64(4) {
		running.Go(func() {
			random := rand.New(rand.NewPCG(seed, user))
			for range 60 {
				if c.changeAnything(random, full) == nil {
					accepted.Add(1)
				}
			}
		})
	}
	running.Wait()
	c.eventually("the cluster", "converged", func() string { return c.snapshot().divergence() })
	if n := accepted.Load(); n < 30 || len(c.written()) == 0 {
		t.Errorf("only %d of 240 changes were accepted, and there were %d writes", n, len(c.written()))
	}
	c.stop()
	c.created = nil
	for _, ns := range c.list("namespaces", "") {
		c.created = append(c.created, ns.GetName())
		// A sub-namespace that was given a child while its Subnamespace was deleted is an orphan, which other tests
		// would see reported.
		c.makeFull(ns.GetName())
	}
	c.created = append(c.created, "kube-public")
	t.Logf("%d writes, %d namespaces", len(c.written()), len(c.created))
}

// makeFull makes a namespace, given by its full name, a full one.
func (c *cluster) makeFull(namespace string) {
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:null}}}`, hnc.AnnotationSubnamespaceOf)
	if _, err := c.client("namespaces", "").Patch(c.t.Context(), namespace, mergePatch, patch, metav1.PatchOptions{}); err != nil && !apierrors.IsNotFound(err) {
		c.t.Error(err)
	}
}

func pick(random *rand.Rand, names []string) string { return names[random.IntN(len(names))] }

// changeAnything does something as a user, if the API servers let him. Otherwise it returns the error.
func (c *cluster) changeAnything(random *rand.Rand, full []string) (err error) {
	all := append([]string{"s0", "s1", "s2", "kube-public"}, full...)
	ns, role := pick(random, all), pick(random, []string{"x", "y", "z"})
	switch random.IntN(8) {
	case 0:
		parent := pick(random, append([]string{"", "missing"}, all...))
		err = c.try("hierarchies", ns, hnc.Singleton, object{"spec": object{"parent": c.full(parent)}})
	case 1, 2:
		err = c.try("roles", ns, role, rules(pick(random, []string{"get", "list"})))
	case 3:
		err = c.client("roles", ns).Delete(c.t.Context(), role, metav1.DeleteOptions{})
	case 4:
		_, err = c.client("roles", ns).Patch(c.t.Context(), role, mergePatch, fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q}}}`, hnc.LabelInheritedFrom, c.full("n1")), metav1.PatchOptions{})
	case 5:
		err = c.try("subnamespaces", pick(random, full), c.full(pick(random, []string{"s0", "s1", "s2"})), nil)
	case 6:
		if subnamespaces := c.list("subnamespaces", ""); len(subnamespaces) > 0 {
			s := subnamespaces[random.IntN(len(subnamespaces))]
			err = admin.HNC.HncV1beta1().Subnamespaces(s.GetNamespace()).Delete(c.t.Context(), s.GetName(), metav1.DeleteOptions{})
		}
	case 7:
		_, err = c.client("namespaces", "").Patch(c.t.Context(), c.full(ns), mergePatch, fmt.Appendf(nil, `{"metadata":{"labels":{%q:"9"}}}`, hnc.TreeLabel(c.full("n2"))), metav1.PatchOptions{})
	}
	return err
}

// snapshot is the state of the cluster.
type snapshot struct {
	namespaces, hierarchies map[string]unstructured.Unstructured
	// roles are by namespace and name.
	roles         map[string]map[string]unstructured.Unstructured
	subnamespaces []unstructured.Unstructured
	forest        *forest.Forest
}

func (c *cluster) snapshot() *snapshot {
	s := &snapshot{
		namespaces: map[string]unstructured.Unstructured{}, hierarchies: map[string]unstructured.Unstructured{},
		roles: map[string]map[string]unstructured.Unstructured{}, subnamespaces: c.list("subnamespaces", ""),
		forest: forest.New(func(string) bool { return false }),
	}
	for _, u := range c.list("namespaces", "") {
		s.namespaces[u.GetName()] = u
	}
	for _, u := range c.list("hierarchies", "") {
		s.hierarchies[u.GetNamespace()] = u
	}
	for _, u := range c.list("roles", "") {
		if s.roles[u.GetNamespace()] == nil {
			s.roles[u.GetNamespace()] = map[string]unstructured.Unstructured{}
		}
		s.roles[u.GetNamespace()][u.GetName()] = u
	}
	for name, ns := range s.namespaces {
		s.forest.SetExists(name, true)
		parent := ns.GetAnnotations()[hnc.AnnotationSubnamespaceOf]
		if !slices.ContainsFunc(s.subnamespaces, func(u unstructured.Unstructured) bool { return u.GetNamespace() == parent && u.GetName() == name }) {
			parent = ""
		}
		if p, _, _ := unstructured.NestedString(s.hierarchies[name].Object, "spec", "parent"); p != "" {
			parent = p
		}
		s.forest.SetParent(name, parent)
	}
	return s
}

// divergence returns what is not as the hierarchies say.
func (s *snapshot) divergence() string {
	for _, u := range s.subnamespaces {
		if u.GetDeletionTimestamp() != nil {
			return u.GetNamespace() + "/" + u.GetName() + " is not released"
		}
		if _, ok := s.namespaces[u.GetName()]; !ok {
			return u.GetNamespace() + "/" + u.GetName() + " is not created"
		}
	}
	for name := range s.namespaces {
		divergences := []string{s.labelDivergence(name), s.childrenDivergence(name)}
		if at, _ := s.forest.HaltedAt(name); at == "" {
			divergences = append(divergences, s.roleDivergence(s.forest.Chain(name)))
		}
		if found := strings.Join(divergences, ""); found != "" {
			return found
		}
	}
	return "converged"
}

func (s *snapshot) labelDivergence(name string) string {
	want := map[string]string{}
	at, _ := s.forest.HaltedAt(name)
	for depth, ancestor := range s.forest.Chain(name) {
		want[hnc.TreeLabel(ancestor)] = fmt.Sprint(depth)
		if ancestor == at {
			break
		}
	}
	ns := s.namespaces[name]
	got := ns.GetLabels()
	maps.DeleteFunc(got, func(key, _ string) bool { _, ok := hnc.TreeLabelAncestor(key); return !ok })
	if !maps.Equal(got, want) {
		return fmt.Sprintf("%s has the labels %v, want %v", name, got, want)
	}
	return ""
}

func (s *snapshot) childrenDivergence(name string) string {
	children := slices.DeleteFunc(s.forest.Children(name), func(child string) bool { return !s.forest.Exists(child) })
	h, exists := s.hierarchies[name]
	if !exists && len(children) > 0 {
		return name + " has no hierarchy"
	}
	got, _, _ := unstructured.NestedStringSlice(h.Object, "status", "children")
	if !slices.Equal(got, children) {
		return fmt.Sprintf("%s has the children %v, want %v", name, got, children)
	}
	return ""
}

func (s *snapshot) roleDivergence(chain []string) string {
	governing := map[string]string{}
	for i := len(chain) - 1; i > 0; i-- {
		for name, o := range s.roles[chain[i]] {
			if o.GetLabels()[hnc.LabelInheritedFrom] == "" && governing[name] == "" {
				governing[name] = valueOf(o) + "<" + chain[i]
			}
		}
	}
	got := map[string]string{}
	for name, o := range s.roles[chain[0]] {
		from := o.GetLabels()[hnc.LabelInheritedFrom]
		if from != "" || governing[name] != "" {
			got[name] = valueOf(o) + "<" + from
		}
	}
	if !maps.Equal(got, governing) {
		return fmt.Sprintf("%s has the copies %v, want %v", chain[0], got, governing)
	}
	return ""
}
