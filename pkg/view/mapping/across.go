package mapping

import (
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Across returns the Mapper for responses across the view, whose objects are all in its subtree, or have been until the
// watch event that removes them. What is known of the tree may be older or newer than the response: without this, an
// object could appear under the name of a foreign namespace, or disappear under it.
func (m *Mapper) Across() *Mapper {
	across := *m
	across.across = true
	return &across
}

// errShadowed is the error of translating an object of a namespace that is shadowed, for a response across the view.
var errShadowed = errors.New("the view does not show the namespace of this object")

// ofMember returns the translation of an object: one for which the namespace that it is in, or that it
// is, is a member. Shown is false if that namespace is shadowed, and so is not shown in a response across the view.
func (t *translation) ofMember(raw []byte, kind schema.GroupKind) (of *translation, shown bool) {
	if !t.across || t.to != Out {
		return t, true
	}
	metadata := MemberOf(raw, "metadata")
	name := TextOf(metadata, "namespace")
	if name == "" && NamedAfterNamespaces(kind) {
		name = TextOf(metadata, "name")
	}
	if name == "" {
		return t, true
	}
	of = t
	if !t.names.Member(name) {
		assumed := *t
		assumed.names, of = t.names.with(name), &assumed
	}
	return of, !of.names.Shadowed(name)
}

// with returns the names of the view with one more member.
func (n *Names) with(realName string) *Names {
	more := *n
	more.created = func(name string) (time.Time, bool) {
		if created, ok := n.created(name); ok || name != realName {
			return created, ok
		}
		return time.Time{}, true
	}
	return &more
}
