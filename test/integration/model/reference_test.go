package model

import (
	"maps"
	"slices"
	"strings"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// world is what users were answered: the reference model computes from it what the cluster must contain.
type world struct {
	spaces  map[string]space
	objects map[key]source
	modes   map[string]mode
}

// space is a namespace; sub is true for a sub-namespace.
type space struct {
	parent       string
	sub, cascade bool
	env          string
	// limit is that of its quota, 0 without one.
	limit int
}

// key names an object: its kind is that of its resource.
type key struct{ kind, space, name string }

// source is an object that a user has written. exception is an exception with its value, or empty.
type source struct {
	value, exception, argument string
	// allows and overrides are the two annotations of overrides.
	allows, overrides bool
}

// mode is how a kind is propagated.
type mode struct {
	name string
	keep bool
}

func (w *world) clone() *world {
	return &world{maps.Clone(w.spaces), maps.Clone(w.objects), maps.Clone(w.modes)}
}

func (w *world) equal(other *world) bool {
	return maps.Equal(w.spaces, other.spaces) && maps.Equal(w.objects, other.objects) && maps.Equal(w.modes, other.modes)
}

// chain returns a namespace and its ancestors as far as they exist, and whether the last one's parent is missing. A
// cycle has no end: the chain is nil.
func (w *world) chain(name string) (chain []string, orphaned bool) {
	for name != "" {
		s, exists := w.spaces[name]
		if !exists {
			return chain, true
		}
		if slices.Contains(chain, name) {
			return nil, false
		}
		chain, name = append(chain, name), s.parent
	}
	return chain, false
}

// certain reports whether nothing may refuse an operation. Others may be refused because of copies, of which the world
// does not say when they came, or because of what is left of a namespace of the same name.
func (w *world) certain(o operation) bool {
	s, exists := w.spaces[o.space]
	switch o.verb {
	case createNamespace:
		return !exists
	case setParent:
		// Where activities are halted, nothing moves.
		_, orphaned := w.chain(o.space)
		return exists && !s.sub && o.to == "" && !orphaned
	case setCascading, setEnvironment, setQuota:
		return exists
	case put:
		return exists && strings.HasPrefix(o.name, ownPrefix)
	}
	return false
}

func (w *world) children(name string) (children []string) {
	for child, s := range w.spaces {
		if s.parent == name {
			children = append(children, child)
		}
	}
	slices.Sort(children)
	return children
}

// hasSubs reports whether a child of a namespace is a sub-namespace.
func (w *world) hasSubs(name string) bool {
	return slices.ContainsFunc(w.children(name), func(child string) bool { return w.spaces[child].sub })
}

// cascades reports whether a namespace or an ancestor allows cascading deletion.
func (w *world) cascades(name string) bool {
	chain, _ := w.chain(name)
	return slices.ContainsFunc(chain, func(ancestor string) bool { return w.spaces[ancestor].cascade })
}

// remove deletes a namespace, and its sub-namespaces with it. It returns their names.
func (w *world) remove(name string) []string {
	removed := []string{name}
	for _, child := range w.children(name) {
		if w.spaces[child].sub {
			removed = append(removed, w.remove(child)...)
		}
	}
	delete(w.spaces, name)
	maps.DeleteFunc(w.objects, func(k key, _ source) bool { return k.space == name })
	return removed
}

// selects reports whether a source is to be copied to a namespace.
func (w *world) selects(s source, kind, target string) bool {
	chain, _ := w.chain(target)
	switch s.exception {
	case "":
		return w.modes[kind].name == "Propagate"
	case hnc.AnnotationNone:
		return false
	case hnc.AnnotationSelect:
		return w.spaces[target].env == s.argument
	case hnc.AnnotationTreeSelect:
		if s.argument[0] == '!' {
			return !slices.Contains(chain, s.argument[1:])
		}
		return slices.Contains(chain, s.argument)
	default: // all
		return true
	}
}

// governing returns the namespace whose source has a copy in another one, or would have one if no object were kept
// there, "" if there is none: the topmost that selects the namespace, or the nearest override of it.
func (w *world) governing(k key) (from string) {
	chain, orphaned := w.chain(k.space)
	if orphaned || w.modes[k.kind].name == "Remove" || w.modes[k.kind].name == "Ignore" {
		return ""
	}
	for i := len(chain) - 1; i > 0; i-- {
		s, exists := w.objects[key{k.kind, chain[i], k.name}]
		above := w.objects[key{k.kind, from, k.name}]
		if exists && w.selects(s, k.kind, k.space) && (from == "" || s.overrides && above.allows) &&
			w.bound(k, chain[i]) && !w.overwritten(key{k.kind, chain[i], k.name}) {
			from = chain[i]
		}
	}
	return from
}

// effective returns the namespace of the source of the Role that a namespace has, "" if it has none.
func (w *world) effective(space, name string) string {
	k := key{roles, space, name}
	_, local := w.objects[k]
	switch from := w.governing(k); {
	case from != "" && (!local || w.overwritten(k)):
		return from
	case local:
		return space
	}
	return ""
}

// bound reports whether a namespace has the Role that a source refers to in its own one: that of the same name if it is
// a RoleBinding.
func (w *world) bound(k key, from string) bool {
	if k.kind != roleBindings {
		return true
	}
	role := w.effective(from, k.name)
	return role != "" && role == w.effective(k.space, k.name)
}

// overwritten reports whether an object is to be replaced by a copy.
func (w *world) overwritten(k key) bool {
	from := w.governing(k)
	kept := w.modes[k.kind].keep || w.objects[k].overrides && w.objects[key{k.kind, from, k.name}].allows
	return from != "" && !kept
}

// limit returns the smallest limit of the quotas of a namespace and its ancestors, 0 without any.
func (w *world) limit(name string) (least int) {
	chain, _ := w.chain(name)
	for _, ancestor := range chain {
		if l := w.spaces[ancestor].limit; l > 0 && (least == 0 || l < least) {
			least = l
		}
	}
	return least
}

// copies returns for each kind, namespace and name the namespace of the source of which there must be a copy.
func (w *world) copies() map[key]string {
	copies := map[key]string{}
	for source := range w.objects {
		for name := range w.spaces {
			k := key{source.kind, name, source.name}
			_, local := w.objects[k]
			if from := w.governing(k); from != "" && (!local || w.overwritten(k)) {
				copies[k] = from
			}
		}
	}
	return copies
}
