package chaos

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/forest"
)

// promise is what all clients were answered, and what follows from it.
type promise struct {
	// parents are those of all namespaces that have to be there.
	parents map[string]string
	subs    map[string]string
	gone    map[string]bool
	// bindings are the sources; each has to be copied to all descendants of its namespace.
	bindings map[types.NamespacedName]binding
}

func newPromise(names []string) *promise {
	p := &promise{
		parents: map[string]string{}, subs: map[string]string{}, gone: map[string]bool{}, bindings: map[types.NamespacedName]binding{},
	}
	for _, name := range names {
		p.parents[name] = ""
	}
	return p
}

func (p *promise) add(w *worker) {
	maps.Copy(p.parents, w.parents)
	maps.Copy(p.parents, w.subs)
	maps.Copy(p.subs, w.subs)
	maps.Copy(p.gone, w.gone)
	maps.Copy(p.bindings, w.bindings)
}

// found is the state of the cluster.
type found struct {
	namespaces    map[string]*corev1.Namespace
	hierarchies   map[string]*v1beta1.Hierarchy
	subnamespaces map[types.NamespacedName]*v1beta1.Subnamespace
	bindings      map[types.NamespacedName]*rbacv1.RoleBinding
}

func observe(ctx context.Context, client *clients) (*found, error) {
	f := &found{
		namespaces: map[string]*corev1.Namespace{}, hierarchies: map[string]*v1beta1.Hierarchy{},
		subnamespaces: map[types.NamespacedName]*v1beta1.Subnamespace{}, bindings: map[types.NamespacedName]*rbacv1.RoleBinding{},
	}
	namespaces, err := client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range namespaces.Items {
		f.namespaces[namespaces.Items[i].Name] = &namespaces.Items[i]
	}
	hierarchies, err := client.hnc.HncV1beta1().Hierarchies("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range hierarchies.Items {
		f.hierarchies[hierarchies.Items[i].Namespace] = &hierarchies.Items[i]
	}
	subnamespaces, err := client.hnc.HncV1beta1().Subnamespaces("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i, s := range subnamespaces.Items {
		f.subnamespaces[types.NamespacedName{Namespace: s.Namespace, Name: s.Name}] = &subnamespaces.Items[i]
	}
	bindings, err := client.RbacV1().RoleBindings("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i, b := range bindings.Items {
		f.bindings[types.NamespacedName{Namespace: b.Namespace, Name: b.Name}] = &bindings.Items[i]
	}
	return f, nil
}

// compare returns a line for everything that is not as it was promised.
func (p *promise) compare(f *found) (mismatches []string) {
	report := func(format string, args ...any) { mismatches = append(mismatches, fmt.Sprintf(format, args...)) }
	trees := p.trees()
	for _, name := range slices.Sorted(maps.Keys(p.parents)) {
		if f.namespaces[name] == nil || f.namespaces[name].DeletionTimestamp != nil {
			report("namespace %s is missing or going: %v", name, f.namespaces[name])
			continue
		}
		p.compareNamespace(f.namespaces[name], trees, report)
		p.compareHierarchy(f.hierarchies[name], f.namespaces[name], trees, report)
	}
	for name := range p.gone {
		if f.namespaces[name] != nil {
			report("namespace %s is still there: %v", name, f.namespaces[name].Status)
		}
	}
	for key, s := range f.subnamespaces {
		if p.subs[key.Name] != key.Namespace {
			report("Subnamespace %s should not be there: %+v", key, s)
		}
	}
	for name, parent := range p.subs {
		s := f.subnamespaces[types.NamespacedName{Namespace: parent, Name: name}]
		switch {
		case s == nil:
			report("Subnamespace %s/%s is lost", parent, name)
		case s.DeletionTimestamp != nil || s.Status.State != v1beta1.SubnamespaceOk || !ready(s.Status.Conditions, s.Generation):
			report("Subnamespace %s/%s: %+v", parent, name, s.Status)
		}
	}
	p.compareBindings(f, trees, report)
	return mismatches
}

// trees returns the forest that the namespaces form.
func (p *promise) trees() *forest.Forest {
	trees := forest.New(nil)
	for name, parent := range p.parents {
		trees.SetExists(name, true)
		trees.SetParent(name, parent)
	}
	return trees
}

// compareNamespace compares all labels that say where a namespace stands.
func (p *promise) compareNamespace(namespace *corev1.Namespace, trees *forest.Forest, report func(string, ...any)) {
	wanted := map[string]string{hnc.LabelIncludedNamespace: "true"}
	for depth, ancestor := range trees.Chain(namespace.Name) {
		wanted[hnc.TreeLabel(ancestor)] = strconv.Itoa(depth)
	}
	if len(trees.Chain(namespace.Name)) > 1 || len(trees.Children(namespace.Name)) > 0 {
		wanted[hnc.LabelInTree] = "true"
	}
	if slices.Contains(slices.Collect(maps.Values(p.subs)), namespace.Name) {
		wanted[hnc.LabelHasSubnamespaces] = "true"
	}
	got := maps.Clone(namespace.Labels)
	maps.DeleteFunc(got, func(key, _ string) bool {
		prefix, _, _ := strings.Cut(key, "/")
		return !strings.HasSuffix(prefix, hnc.GroupName)
	})
	if !maps.Equal(got, wanted) {
		report("namespace %s has labels %v, want %v", namespace.Name, got, wanted)
	}
	if of := namespace.Annotations[hnc.AnnotationSubnamespaceOf]; of != p.subs[namespace.Name] {
		report("namespace %s is a sub-namespace of %q, want %q", namespace.Name, of, p.subs[namespace.Name])
	}
}

// compareHierarchy compares a namespace's parent and status. A namespace that is alone needs no hierarchy.
func (p *promise) compareHierarchy(h *v1beta1.Hierarchy, namespace *corev1.Namespace, trees *forest.Forest, report func(string, ...any)) {
	children := trees.Children(namespace.Name)
	if h == nil {
		if trees.Parent(namespace.Name) != "" || len(children) > 0 {
			report("the hierarchy of %s is lost", namespace.Name)
		}
		return
	}
	if h.Spec.Parent != trees.Parent(namespace.Name) {
		report("%s is below %q, want %q", namespace.Name, h.Spec.Parent, trees.Parent(namespace.Name))
	}
	if len(h.OwnerReferences) != 1 || h.OwnerReferences[0].UID != namespace.UID {
		report("the hierarchy of %s belongs to %v", namespace.Name, h.OwnerReferences)
	}
	if !slices.Equal(h.Status.Children, children) || len(h.Status.Conditions) != 1 || !ready(h.Status.Conditions, h.Generation) {
		report("the hierarchy of %s reports %+v, want children %v", namespace.Name, h.Status, children)
	}
}

func ready(conditions []metav1.Condition, generation int64) bool {
	return slices.ContainsFunc(conditions, func(c metav1.Condition) bool {
		return c.Type == hnc.ConditionReady && c.Status == metav1.ConditionTrue && c.ObservedGeneration == generation
	})
}

// compareBindings compares all RoleBindings in the namespaces of the forest: the sources, their copies, and nothing
// else.
func (p *promise) compareBindings(f *found, trees *forest.Forest, report func(string, ...any)) {
	wanted := map[types.NamespacedName]*rbacv1.RoleBinding{}
	for key, content := range p.bindings {
		wanted[key] = content.object(key)
		for _, below := range trees.Descendants(key.Namespace) {
			copied := content.object(types.NamespacedName{Namespace: below, Name: key.Name})
			copied.Labels[hnc.LabelInheritedFrom], copied.Labels[hnc.LabelManagedBy] = key.Namespace, hnc.GroupName
			wanted[types.NamespacedName{Namespace: below, Name: key.Name}] = copied
		}
	}
	for key, want := range wanted {
		got := f.bindings[key]
		switch {
		case got == nil:
			report("RoleBinding %s is lost (inherited from %q)", key, want.Labels[hnc.LabelInheritedFrom])
		case !maps.Equal(got.Labels, want.Labels) || !maps.Equal(got.Annotations, want.Annotations) ||
			got.RoleRef != want.RoleRef || !equality.Semantic.DeepEqual(got.Subjects, want.Subjects):
			report("RoleBinding %s is %v %v %v %v, want %v %v %v %v", key, got.Labels, got.Annotations, got.RoleRef, got.Subjects,
				want.Labels, want.Annotations, want.RoleRef, want.Subjects)
		}
	}
	for key := range f.bindings {
		if _, ours := p.parents[key.Namespace]; ours && wanted[key] == nil {
			report("RoleBinding %s should not be there: %v", key, f.bindings[key].Labels)
		}
	}
}
