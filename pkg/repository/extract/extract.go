// Package extract turns namespaces of a cluster and their objects into the files of a hierarchical repository. It is
// pure.
package extract

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/hydrate"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/yamlbody"
)

// Namespace is a namespace of the cluster.
type Namespace struct {
	Object *unstructured.Unstructured
	// Ancestors are the namespaces above it, the nearest first, and Abstract the names above these that are not
	// namespaces.
	Ancestors, Abstract []string
}

// Files returns the files of a repository that contains the namespaces and their objects. The directories of a
// namespace are its ancestors:
//
//	namespaces/acme/acme/namespace.yaml     a namespace with descendants, in its own abstract directory
//	namespaces/acme/team-a/namespace.yaml   one without
//
// An object that all descendants have a copy of is in the abstract directory of its namespace. One that only some have,
// because of its exceptions or its mode, is repeated in the directories of those. Copies are not sources, so nothing
// else is written for them, unless their source is not in the namespaces: those of a part of a tree have what applies
// to that part.
func Files(namespaces []Namespace, objects []*unstructured.Unstructured) ([]hydrate.File, error) {
	t := newTree(namespaces)
	objects = t.adopt(objects)
	var files []hydrate.File
	var unused hydrate.Unused
	write := func(dir string, o *unstructured.Unstructured) error {
		d := declared(o)
		content, err := yamlbody.Marshal(d.Object)
		if err != nil {
			return fmt.Errorf("%s %s/%s: %w", o.GetKind(), o.GetNamespace(), o.GetName(), err)
		}
		files = append(files, hydrate.File{Name: unused.Name(dir+"/"+fileName(d)) + ".yaml", Content: content})
		return nil
	}
	for _, n := range namespaces {
		if err := write(t.leaf(n.Object.GetName()), n.Object); err != nil {
			return nil, err
		}
	}
	copies := copiesOf(objects)
	for _, o := range sorted(objects) {
		namespace := o.GetNamespace()
		if isCopy(o) || isAutomatic(o) || t.byName[namespace] == nil {
			continue
		}
		below, has := t.descendants[namespace], copies[sourceOf(o)]
		dirs := []string{t.leaf(namespace)}
		if len(below) > 0 && !slices.ContainsFunc(below, func(name string) bool { return !has[name] }) {
			dirs = []string{t.dir(namespace)}
		} else {
			for _, name := range below {
				if has[name] {
					dirs = append(dirs, t.leaf(name))
				}
			}
		}
		for _, dir := range dirs {
			if err := write(dir, o); err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(files, func(a, b hydrate.File) int { return strings.Compare(a.Name, b.Name) })
	return files, nil
}

// tree is the namespaces by name, with those below each.
type tree struct {
	byName      map[string]*Namespace
	descendants map[string][]string
}

func newTree(namespaces []Namespace) *tree {
	t := &tree{byName: map[string]*Namespace{}, descendants: map[string][]string{}}
	for i := range namespaces {
		n := &namespaces[i]
		t.byName[n.Object.GetName()] = n
		for _, ancestor := range n.Ancestors {
			t.descendants[ancestor] = append(t.descendants[ancestor], n.Object.GetName())
		}
	}
	return t
}

// dir returns the directory of a namespace and of everything below it.
func (t *tree) dir(namespace string) string {
	path := slices.Concat(t.byName[namespace].Ancestors, t.byName[namespace].Abstract)
	slices.Reverse(path)
	return strings.Join(append(append([]string{object.NamespacesDir}, path...), namespace), "/")
}

// leaf returns the directory of the Namespace itself.
func (t *tree) leaf(namespace string) string {
	if len(t.descendants[namespace]) == 0 {
		return t.dir(namespace)
	}
	return t.dir(namespace) + "/" + namespace
}

// source identifies an object and all of its copies.
type source struct {
	kind            schema.GroupKind
	namespace, name string
}

func sourceOf(o *unstructured.Unstructured) source {
	return source{o.GroupVersionKind().GroupKind(), o.GetNamespace(), o.GetName()}
}

func isCopy(o *unstructured.Unstructured) bool { return o.GetLabels()[hnc.LabelInheritedFrom] != "" }

// copiesOf returns the namespaces that have a copy of each source.
func copiesOf(objects []*unstructured.Unstructured) map[source]map[string]bool {
	copies := map[source]map[string]bool{}
	for _, o := range objects {
		if isCopy(o) {
			id := sourceOf(o)
			id.namespace = o.GetLabels()[hnc.LabelInheritedFrom]
			if copies[id] == nil {
				copies[id] = map[string]bool{}
			}
			copies[id][o.GetNamespace()] = true
		}
	}
	return copies
}

// sorted returns the objects in an order that does not depend on the cluster's.
func sorted(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	return slices.SortedStableFunc(slices.Values(objects), func(a, b *unstructured.Unstructured) int {
		return cmp.Or(strings.Compare(a.GetNamespace(), b.GetNamespace()), strings.Compare(a.GetKind(), b.GetKind()), strings.Compare(a.GetName(), b.GetName()))
	})
}

// fileName returns the name of an object's file without its extension: letters, digits, dots, dashes and underscores
// only.
func fileName(o *unstructured.Unstructured) string {
	if o.GetKind() == object.Namespace.Kind && o.GroupVersionKind().Group == "" {
		return "namespace"
	}
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '_'
	}, strings.ToLower(o.GetKind()+"_"+o.GetName()))
	const limit = 200
	return name[:min(limit, len(name))]
}
