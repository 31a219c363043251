package mapping

import (
	"strings"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Direction says which names become which.
type Direction bool

const (
	// In translates requests: names in the view become real.
	In Direction = false
	// Out translates responses: real names become those in the view.
	Out Direction = true
)

// translation is one translation in one direction.
type translation struct {
	names *Names
	to    Direction
	// across is set for responses across the view: what they contain is in its subtree.
	across bool
	// partial is set for patches, in which fields may be absent.
	partial bool
	growth  *growth // nil for responses
	kinds   *kinds
	groups  *Groups
	// cells are the rules for the cells of the tables of a watch.
	cells []*node
}

func (t *translation) name(s string) string {
	if t.to == Out {
		return t.names.Out(s)
	}
	return t.names.In(s)
}

const (
	accountPrefix  = "system:serviceaccount:"
	accountsPrefix = "system:serviceaccounts:"
)

// user translates the namespace in the name of a ServiceAccount's user or group. Other users and groups are unchanged.
func (t *translation) user(s string) string {
	if namespace, ok := strings.CutPrefix(s, accountsPrefix); ok {
		return accountsPrefix + t.name(namespace)
	}
	if rest, ok := strings.CutPrefix(s, accountPrefix); ok {
		if namespace, account, ok := strings.Cut(rest, ":"); ok {
			return accountPrefix + t.name(namespace) + ":" + account
		}
	}
	return s
}

// treeKey translates the ancestor in the key of a tree label. Other keys are unchanged.
func (t *translation) treeKey(key string) string {
	if ancestor, ok := hnc.TreeLabelAncestor(key); ok {
		return hnc.TreeLabel(t.name(ancestor))
	}
	return key
}

// qualified translates the namespaces in "namespace/name, namespace/name".
func (t *translation) qualified(s string) string {
	return t.split(s, ",", func(item string) (string, bool) {
		trimmed := strings.TrimLeft(item, " ")
		if namespace, name, ok := strings.Cut(trimmed, "/"); ok {
			item = item[:len(item)-len(trimmed)] + t.name(namespace) + "/" + name
		}
		return item, false
	})
}

// listed translates names separated by commas, each after spaces and any number of "!".
func (t *translation) listed(s string) string {
	return t.split(s, ",", func(item string) (string, bool) {
		name := strings.TrimLeft(item, " \t!")
		end := strings.TrimRight(name, " \t")
		return item[:len(item)-len(name)] + t.name(end) + name[len(end):], false
	})
}

// ancestry translates the names of a namespace and its ancestors, joined by dots. In the view it ends with the root.
func (t *translation) ancestry(s string) string {
	return t.split(s, ".", func(name string) (string, bool) {
		return t.name(name), t.to == Out && name == t.names.root
	})
}
