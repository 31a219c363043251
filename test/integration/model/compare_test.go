package model

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// found is the state of the cluster, by the names of the model.
type found struct {
	prefix      string
	spaces      map[string]*corev1.Namespace
	hierarchies map[string]*v1beta1.Hierarchy
	subs        map[string]*v1beta1.Subnamespace
	objects     map[key]*unstructured.Unstructured
	limits      map[string]string
}

func (c *client) observe(ctx context.Context) (*found, error) {
	f := &found{c.prefix, map[string]*corev1.Namespace{}, map[string]*v1beta1.Hierarchy{}, map[string]*v1beta1.Subnamespace{}, map[key]*unstructured.Unstructured{}, map[string]string{}}
	spaces, err := c.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	hierarchies, err := c.HNC.HncV1beta1().Hierarchies("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	subs, err := c.HNC.HncV1beta1().Subnamespaces("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	limits, err := c.CoreV1().ResourceQuotas("").List(ctx, metav1.ListOptions{LabelSelector: "hnc.x-k8s.io/hrq"})
	if err != nil {
		return nil, err
	}
	for i, ns := range spaces.Items {
		if name, ok := strings.CutPrefix(ns.Name, c.prefix); ok {
			f.spaces[name] = &spaces.Items[i]
		}
	}
	for i, h := range hierarchies.Items {
		if name, ok := strings.CutPrefix(h.Namespace, c.prefix); ok {
			f.hierarchies[name] = &hierarchies.Items[i]
		}
	}
	for i, s := range subs.Items {
		if name, ok := strings.CutPrefix(s.Name, c.prefix); ok {
			f.subs[name] = &subs.Items[i]
		}
	}
	for _, q := range limits.Items {
		if name, ok := strings.CutPrefix(q.Namespace, c.prefix); ok {
			hard := q.Spec.Hard[counted]
			f.limits[name] += strconv.FormatInt(hard.Value(), 10)
		}
	}
	for kind, resource := range resources {
		list, err := c.Dynamic.Resource(resource).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		for i, u := range list.Items {
			if name, ok := strings.CutPrefix(u.GetNamespace(), c.prefix); ok && u.GetName() != "kube-root-ca.crt" {
				f.objects[key{kind, name, u.GetName()}] = &list.Items[i]
			}
		}
	}
	return f, nil
}

// compare returns a line for everything that is not as the model says. Of the objects that doubt covers, those count
// that have survived.
func (f *found) compare(w *world, d *doubt) (lines []string) {
	report := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for name, ns := range f.spaces {
		if _, ok := w.spaces[name]; !ok {
			report("namespace %s should not exist: %v", name, ns.Status)
		}
	}
	for name, s := range f.subs {
		if of := w.spaces[name]; !of.sub || f.prefix+of.parent != s.Namespace {
			report("Subnamespace %s/%s should not exist", s.Namespace, name)
		}
	}
	left := f.left(w, d, report)
	for _, name := range slices.Sorted(maps.Keys(w.spaces)) {
		if f.spaces[name] == nil || f.spaces[name].DeletionTimestamp != nil {
			report("namespace %s is missing or being deleted", name)
			continue
		}
		f.compareSpace(w, name, report)
		f.compareHierarchy(left, name, report)
	}
	f.compareObjects(left, report)
	return lines
}

func (f *found) compareSpace(w *world, name string, report func(string, ...any)) {
	ns, s := f.spaces[name], w.spaces[name]
	chain, orphaned := w.chain(name)
	want := map[string]string{hnc.LabelIncludedNamespace: "true"}
	var ancestry []string
	for depth, ancestor := range chain {
		want[hnc.TreeLabel(f.prefix+ancestor)] = strconv.Itoa(depth)
		ancestry = append(ancestry, f.prefix+ancestor)
	}
	for label, is := range map[string]bool{hnc.LabelInTree: s.parent != "" || len(w.children(name)) > 0, hnc.LabelHasSubnamespaces: w.hasSubs(name)} {
		if is {
			want[label] = "true"
		}
	}
	if w.cascades(name) {
		want[hnc.LabelCascadingDeletion] = hnc.CascadingAllowed
	}
	got := maps.Clone(ns.Labels)
	maps.DeleteFunc(got, func(label, _ string) bool { return !strings.Contains(label, "hnc.x-k8s.io/") })
	if !maps.Equal(got, want) {
		report("namespace %s has the labels %v, want %v", name, got, want)
	}
	if got := ns.Annotations[hnc.AnnotationAncestry]; got != strings.Join(ancestry, ".") {
		report("namespace %s has the ancestry %s, want %v", name, got, ancestry)
	}
	if got := ns.Annotations[hnc.AnnotationSubnamespaceOf]; s.sub && got != f.prefix+s.parent || !s.sub && got != "" {
		report("namespace %s is a sub-namespace of %q, want %+v", name, got, s)
	}
	if limit := w.limit(name); !orphaned && (limit > 0 && f.limits[name] != strconv.Itoa(limit) || limit == 0 && f.limits[name] != "") {
		report("namespace %s has the limit %q, want %d", name, f.limits[name], limit)
	}
}

func (f *found) compareHierarchy(w *world, name string, report func(string, ...any)) {
	h, s := f.hierarchies[name], w.spaces[name]
	if h == nil {
		h = &v1beta1.Hierarchy{}
	}
	parent := f.prefix + s.parent
	if s.parent == "" || s.sub && h.Spec.Parent == "" {
		parent = ""
	}
	if h.Spec.Parent != parent {
		report("hierarchy of %s has the parent %q, want %q", name, h.Spec.Parent, parent)
	}
	var children []string
	for _, child := range w.children(name) {
		children = append(children, f.prefix+child)
	}
	if !slices.Equal(h.Status.Children, children) {
		report("hierarchy of %s has the children %v, want %v", name, h.Status.Children, children)
	}
	reason := ""
	if chain, orphaned := w.chain(name); orphaned && len(chain) == 1 {
		reason = hnc.ReasonParentMissing
	} else if orphaned {
		reason = hnc.ReasonAncestorHalted
	}
	got := ""
	for _, c := range h.Status.Details() {
		if c.Type != hnc.ConditionReady && c.Status == metav1.ConditionTrue {
			got += c.Reason
		}
	}
	if got != reason {
		report("hierarchy of %s has the conditions %q, want %q", name, got, reason)
	}
	if s.sub {
		if sub := f.subs[name]; sub == nil {
			report("Subnamespace %s is missing", name)
		} else if !slices.ContainsFunc(sub.Status.Conditions, func(c metav1.Condition) bool { return c.Type == hnc.ConditionReady && c.Status == metav1.ConditionTrue }) && reason == "" {
			report("Subnamespace %s is not ready: %+v", name, sub.Status)
		}
	}
}

// left returns the world without the objects that were overwritten: of what may have been, the cluster says what is
// left.
func (f *found) left(w *world, d *doubt, report func(string, ...any)) *world {
	left := w.clone()
	for k, s := range w.objects {
		u := f.objects[k]
		local := u != nil && !isCopy(u)
		switch {
		case !local && d.covers(k):
			delete(left.objects, k)
		case !local:
			report("%v is lost: %s", k, describe(u))
		case value(u) != s.value:
			report("%v has the value %s, want %+v", k, value(u), s)
		}
	}
	return left
}

func (f *found) compareObjects(w *world, report func(string, ...any)) {
	copies := w.copies()
	for k, from := range copies {
		u := f.objects[k]
		if u == nil || u.GetLabels()[hnc.LabelInheritedFrom] != f.prefix+from || value(u) != w.objects[key{k.kind, from, k.name}].value {
			report("%v is %s, want a copy from %s of %+v", k, describe(u), from, w.objects[key{k.kind, from, k.name}])
		}
	}
	for k, u := range f.objects {
		_, copied := copies[k]
		_, local := w.objects[k]
		_, orphaned := w.chain(k.space)
		if _, exists := w.spaces[k.space]; !exists || copied || local || orphaned || w.modes[k.kind].name == "Ignore" && isCopy(u) {
			continue
		}
		report("%v should not exist: %s", k, describe(u))
	}
}

func isCopy(u *unstructured.Unstructured) bool { return u.GetLabels()[hnc.LabelInheritedFrom] != "" }

func describe(u *unstructured.Unstructured) string {
	if u == nil {
		return "nothing"
	}
	return fmt.Sprintf("%s from %q with %v", value(u), u.GetLabels()[hnc.LabelInheritedFrom], u.GetAnnotations())
}
