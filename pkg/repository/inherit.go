package repository

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// illegalSubdirectories reports directories below the directories of namespaces.
func illegalSubdirectories(c *compilation) report.Errors {
	var errors report.Errors
	c.root.walk(func(d *directory) {
		if d.isAbstract() {
			return
		}
		for _, child := range d.children {
			if child.hasObjects() {
				errors = append(errors, &report.Error{
					Message: fmt.Sprintf("the directory of a namespace must not have sub-directories; remove the Namespace from %s, or move %s out of it", d.path, child.path),
					Sources: sources(d.namespaces), Paths: []string{child.path},
				})
			}
		}
	})
	return errors
}

// Modes of a NamespaceSelector.
const (
	modeStatic  = "static"
	modeDynamic = "dynamic"
)

func invalidNamespaceSelector(_ *compilation, o *object.Object) finding {
	if !o.Is(object.NamespaceSelector) {
		return finding{}
	}
	if _, err := labelSelector(o); err != nil {
		return findf("", "%v; correct it", err)
	}
	selector, err := decode[selectorObject](o)
	if err != nil {
		return finding{}
	}
	switch selector.Spec.Mode {
	case "", modeStatic:
		return finding{}
	case modeDynamic:
		return findf("", "spec.mode: the mode %s is not supported in a hierarchical repository; use %s", modeDynamic, modeStatic)
	}
	return findf("", "spec.mode: %q is not a mode; use %s", selector.Spec.Mode, modeStatic)
}

// selectorOf returns the NamespaceSelector that an object's annotation names, nil if there is none.
func (c *compilation) selectorOf(o *object.Object) *object.Object {
	name, set := o.Annotation(object.AnnotationNamespaceSelector)
	if !set {
		return nil
	}
	return c.selectors[name]
}

func selectorOutOfReach(c *compilation, o *object.Object) finding {
	// Config Sync compares prefixes of the paths; see selectorByPrefix.
	if s := c.selectorOf(o); s != nil && !strings.HasPrefix(o.Dir(), s.Dir()) {
		return findf("metadata.annotations."+object.AnnotationNamespaceSelector, "the NamespaceSelector %q is in %s, which is neither this directory nor above it; move one of them",
			s.GetName(), s.Dir())
	}
	return finding{}
}

func selectorByPrefix(c *compilation, o *object.Object) finding {
	s := c.selectorOf(o)
	if s == nil || !strings.HasPrefix(o.Dir(), s.Dir()) || strings.HasPrefix(o.Dir()+"/", s.Dir()+"/") {
		return finding{}
	}
	return findf("metadata.annotations."+object.AnnotationNamespaceSelector, "the NamespaceSelector %q is in %s, which is not above this directory, and is accepted only because its path is a prefix of this one; move one of them",
		s.GetName(), s.Dir())
}

// inherit copies objects into each namespace below their directory that they select, and removes all others except
// cluster-scoped ones.
func (c *compilation) inherit() {
	c.keep(func(o *object.Object) bool { return o.TopDir() == object.ClusterDir })
	selectors := map[string]labels.Selector{}
	for name, o := range c.selectors {
		if selector, err := labelSelector(o); err == nil {
			selectors[name] = selector
		}
	}
	c.descend(c.root, nil, selectors)
	slices.SortFunc(c.namespaces, func(a, b Namespace) int { return strings.Compare(a.Name, b.Name) })
	c.sortForCreation()
}

// maxObjects bounds the objects that a few files can create by inheritance. It is far above what clusters contain.
const maxObjects = 200_000

func inheritedTooMuch(c *compilation) report.Errors {
	if !c.inheritsTooMuch {
		return nil
	}
	return report.Errors{{
		Message: fmt.Sprintf("including inherited objects, the repository has more than %d objects; split it", maxObjects),
		Paths:   []string{object.NamespacesDir + "/"},
	}}
}

func (c *compilation) descend(d *directory, inherited []*object.Object, selectors map[string]labels.Selector) {
	if c.inheritsTooMuch = c.inheritsTooMuch || len(c.objects) > maxObjects; c.inheritsTooMuch {
		return
	}
	if d.isAbstract() {
		if len(d.objects) > 0 {
			inherited = slices.Concat(inherited, d.objects)
		}
		for _, child := range d.children {
			c.descend(child, inherited, selectors)
		}
		return
	}
	namespace := newNamespace(d)
	namespace.SharesNames = c.AllowSharedNames
	c.namespaces = append(c.namespaces, namespace)
	c.objects = append(c.objects, namespace.Object)
	all := labels.Set(maps.Clone(namespace.TreeLabels))
	maps.Copy(all, namespace.Object.GetLabels())
	for _, o := range slices.Concat(inherited, d.objects) {
		if name, set := o.Annotation(object.AnnotationNamespaceSelector); set {
			if selector, ok := selectors[name]; !ok || !selector.Matches(all) {
				continue
			}
		}
		if o.GetNamespace() != d.name {
			o = o.WithNamespace(d.name)
		}
		c.objects = append(c.objects, o)
	}
}

// detached are namespaces that stay when they leave the repository.
var detached = []string{"default", "kube-system", "kube-public", "kube-node-lease", "gatekeeper-system"}

func newNamespace(d *directory) Namespace {
	o := d.namespaces[0]
	if slices.Contains(detached, o.GetName()) {
		o = o.WithAnnotation(object.AnnotationDeletion, object.DeletionDetach)
	}
	return Namespace{Name: o.GetName(), AbstractAncestors: d.abstractAncestors(), TreeLabels: d.treeLabels(), Object: o}
}
