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
	selectors := map[string]sized[labels.Selector]{}
	for name, o := range c.selectors {
		if selector, err := labelSelector(o); err == nil {
			selectors[name] = sized[labels.Selector]{selector, sizeOf(o.Object["spec"])}
		}
	}
	c.descend(c.root, nil, selectors)
	slices.SortFunc(c.namespaces, func(a, b Namespace) int { return strings.Compare(a.Name, b.Name) })
	c.sortForCreation()
}

const (
	// maxObjects bounds the objects that a few files can create by inheritance, and maxInherited their size with that
	// of the selectors that are evaluated. Both are far above what clusters contain.
	maxObjects, maxInherited = 200_000, 512 << 20
	// Each value counts as valueSize in addition to its text, and each field of an object and of its metadata as
	// fieldSize: copies share everything else.
	valueSize, fieldSize = 16, 128
)

// sized is an object or a selector with its size.
type sized[T any] struct {
	of   T
	size int
}

// sizeOf returns the size of a value.
func sizeOf(value any) int {
	size := valueSize
	switch v := value.(type) {
	case string:
		size += len(v)
	case []any:
		for _, item := range v {
			size += sizeOf(item)
		}
	case map[string]any:
		for key, field := range v {
			size += len(key) + sizeOf(field)
		}
	}
	return size
}

// sizeOfCopy returns the size of an object in one more namespace.
func sizeOfCopy(o *object.Object) int {
	metadata, _ := o.Object["metadata"].(map[string]any)
	return sizeOf(o.Object) + fieldSize*(len(o.Object)+len(metadata))
}

// overLimit reports whether the compilation has more objects, or inherits more bytes, than it may.
func (c *compilation) overLimit() bool {
	return len(c.objects) > maxObjects || c.inherited > maxInherited
}

func checkInherited(c *compilation) report.Errors {
	if !c.overLimit() {
		return nil
	}
	text := fmt.Sprintf("including inherited objects, the repository has more than %d objects; split it", maxObjects)
	if c.inherited > maxInherited {
		text = fmt.Sprintf("the objects that namespaces inherit, and the selectors of these, have more than %d MiB, counted once for each namespace; "+
			"move them to the namespaces that need them, or split the repository", maxInherited>>20)
	}
	return report.Errors{{Message: text, Paths: []string{object.NamespacesDir + "/"}}}
}

// descend adds the namespaces in a directory and below, with their objects. inherited are the objects of each directory
// above: a copy of them all for each directory would take quadratic time.
func (c *compilation) descend(d *directory, inherited [][]sized[*object.Object], selectors map[string]sized[labels.Selector]) {
	if c.overLimit() || c.ctx.Err() != nil {
		return
	}
	if d.isAbstract() {
		own := make([]sized[*object.Object], len(d.objects))
		for i, o := range d.objects {
			own[i] = sized[*object.Object]{o, sizeOfCopy(o)}
		}
		inherited = append(slices.Clip(inherited), own)
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
	add := func(o *object.Object, size int) {
		if c.overLimit() {
			return
		}
		if name, set := o.Annotation(object.AnnotationNamespaceSelector); set {
			selector, ok := selectors[name]
			c.inherited += selector.size
			if !ok || !selector.of.Matches(all) {
				return
			}
		}
		c.inherited += size
		if o.GetNamespace() != d.name {
			o = o.WithNamespace(d.name)
		}
		c.objects = append(c.objects, o)
	}
	for _, objects := range inherited {
		for _, o := range objects {
			add(o.of, o.size)
		}
	}
	for _, o := range d.objects {
		add(o, 0)
	}
}

// detached are namespaces that stay when they leave the repository.
var detached = []string{"default", "kube-system", "kube-public", "kube-node-lease", "gatekeeper-system"}

// Detached reports whether a namespace stays when it leaves the repository, because of its name.
func Detached(namespace string) bool { return slices.Contains(detached, namespace) }

func newNamespace(d *directory) Namespace {
	o := d.namespaces[0]
	if Detached(o.GetName()) {
		o = o.WithAnnotation(object.AnnotationDeletion, object.DeletionDetach)
	}
	return Namespace{Name: o.GetName(), AbstractAncestors: d.abstractAncestors(), TreeLabels: d.treeLabels(), Object: o}
}
