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
	// LostLabels and GainedLabels are keys of tree labels. Policies that select by a lost label no longer select the namespace.
	LostLabels   []string `json:"lostLabels,omitempty"`
	GainedLabels []string `json:"gainedLabels,omitempty"`
}

// Object is an object that is added, removed or changed.
type Object struct {
	Change    Change `json:"change"`
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Path is the file that contains the object, in the later revision unless the object is removed.
	Path string `json:"path"`
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
	slices.SortFunc(changed, func(a, b Namespace) int { return strings.Compare(a.Name, b.Name) })
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
		id.Path = o.Path
		switch {
		case !existed:
			id.Change = Added
			changed = append(changed, id)
		case !reflect.DeepEqual(was.Object, o.Object):
			id.Change = Changed
			changed = append(changed, id)
		}
	}
	for id, o := range old {
		if _, exists := current[id]; !exists {
			id.Change, id.Path = Removed, o.Path
			changed = append(changed, id)
		}
	}
	slices.SortFunc(changed, func(a, b Object) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return changed
}

// objectsByIdentity returns the objects by group, kind, namespace and name.
func objectsByIdentity(result *repository.Result) map[Object]*object.Object {
	byIdentity := map[Object]*object.Object{}
	for _, o := range result.Objects {
		if kind := o.GroupKind(); kind != object.Namespace {
			byIdentity[Object{Group: kind.Group, Kind: kind.Kind, Namespace: o.GetNamespace(), Name: o.GetName()}] = o
		}
	}
	return byIdentity
}
