// Package changes compares two revisions of a repository, compiled for the same cluster.
package changes

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
)

// Change is the kind of a change.
type Change string

// The kinds of changes. A namespace is moved if it is in both revisions and its directories differ.
const (
	Added   Change = "Added"
	Removed Change = "Removed"
	Changed Change = "Changed"
	Moved   Change = "Moved"
)

// Changes holds all differences between two revisions.
type Changes struct {
	Namespaces []Namespace `json:"namespaces"`
	// Objects are all changed objects except Namespaces.
	Objects []Object `json:"objects"`
}

// Namespace is a namespace that is added, removed, changed or moved.
type Namespace struct {
	Change Change `json:"change"`
	Name   string `json:"name"`
	// From and To are the abstract ancestors, the nearest first.
	From []string `json:"from,omitempty"`
	To   []string `json:"to,omitempty"`
	// LostLabels and GainedLabels are keys of tree labels. Policies that select by a lost label no longer select the
	// namespace.
	LostLabels   []string `json:"lostLabels,omitempty"`
	GainedLabels []string `json:"gainedLabels,omitempty"`
	// Fields are the paths of the fields that change, if they are known.
	Fields []string `json:"fields,omitempty"`
}

// Object is an object that is added, removed or changed.
type Object struct {
	Change    Change `json:"change"`
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Path is the file that contains the object, in the later revision unless the object is removed.
	Path string `json:"path,omitempty"`
	// Fields are the paths of the fields that change, if they are known.
	Fields []string `json:"fields,omitempty"`
}

// identity is unique in a cluster.
type identity struct{ group, kind, namespace, name string }

// as returns the change of an object.
func (i identity) as(change Change, path string) Object {
	return Object{Change: change, Group: i.group, Kind: i.kind, Namespace: i.namespace, Name: i.name, Path: path}
}

// Between returns the differences. Neither result may have blocking errors.
func Between(before, after *repository.Result) *Changes {
	return &Changes{Namespaces: namespaces(before, after), Objects: objects(before, after)}
}

func namespaces(before, after *repository.Result) []Namespace {
	old, current := namespacesByName(before), namespacesByName(after)
	changed := []Namespace{}
	for name, n := range current {
		was, existed := old[name]
		switch {
		case !existed:
			changed = append(changed, Namespace{Change: Added, Name: name, To: n.AbstractAncestors, GainedLabels: missing(n.TreeLabels, nil)})
		case !maps.Equal(was.TreeLabels, n.TreeLabels):
			changed = append(changed, Namespace{
				Change: Moved, Name: name, From: was.AbstractAncestors, To: n.AbstractAncestors,
				LostLabels: missing(was.TreeLabels, n.TreeLabels), GainedLabels: missing(n.TreeLabels, was.TreeLabels),
			})
		case !reflect.DeepEqual(was.Object.Object, n.Object.Object):
			changed = append(changed, Namespace{Change: Changed, Name: name})
		}
	}
	for name, n := range old {
		if _, exists := current[name]; !exists {
			changed = append(changed, Namespace{Change: Removed, Name: name, From: n.AbstractAncestors, LostLabels: missing(n.TreeLabels, nil)})
		}
	}
	slices.SortFunc(changed, compareNamespaces)
	return changed
}

func namespacesByName(result *repository.Result) map[string]*repository.Namespace {
	byName := map[string]*repository.Namespace{}
	for i := range result.Namespaces {
		byName[result.Namespaces[i].Name] = &result.Namespaces[i]
	}
	return byName
}

// missing returns the keys of labels that others lack.
func missing(labels, others map[string]string) []string {
	var keys []string
	for key := range labels {
		if _, ok := others[key]; !ok {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

func objects(before, after *repository.Result) []Object {
	old, current := objectsByIdentity(before), objectsByIdentity(after)
	changed := []Object{}
	for id, o := range current {
		was, existed := old[id]
		switch {
		case !existed:
			changed = append(changed, id.as(Added, o.Path))
		case !reflect.DeepEqual(was.Object, o.Object):
			changed = append(changed, id.as(Changed, o.Path))
		}
	}
	for id, o := range old {
		if _, exists := current[id]; !exists {
			changed = append(changed, id.as(Removed, o.Path))
		}
	}
	slices.SortFunc(changed, compareObjects)
	return changed
}

// Sort orders the changes by name.
func (c *Changes) Sort() {
	slices.SortFunc(c.Namespaces, compareNamespaces)
	slices.SortFunc(c.Objects, compareObjects)
}

func compareNamespaces(a, b Namespace) int { return strings.Compare(a.Name, b.Name) }

func compareObjects(a, b Object) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
}

// objectsByIdentity returns the objects by group, kind, namespace and name.
func objectsByIdentity(result *repository.Result) map[identity]*object.Object {
	byIdentity := map[identity]*object.Object{}
	for _, o := range result.Objects {
		if kind := o.GroupKind(); kind != object.Namespace {
			byIdentity[identity{kind.Group, kind.Kind, o.GetNamespace(), o.GetName()}] = o
		}
	}
	return byIdentity
}
