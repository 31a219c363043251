package mapping

import "k8s.io/apimachinery/pkg/runtime/schema"

// Across returns the Mapper for responses across the view, whose objects are all in its subtree, or have been until the
// watch event that removes them. What is known of the tree may be older or newer than the response: without this, an
// object could appear under the name of a foreign namespace, or disappear under it.
func (m *Mapper) Across() *Mapper {
	across := *m
	across.across = true
	return &across
}

// ofMember returns the translation of an object with these members: one for which the namespace that it is in, or that it
// is, is a member.
func (t *translation) ofMember(members []member, kind schema.GroupKind) *translation {
	if !t.across || t.to != Out {
		return t
	}
	var metadata []member
	for _, m := range members {
		if m.name == "metadata" {
			metadata = mustMembers(m.value)
		}
	}
	name := valueOf(metadata, "namespace")
	if name == "" && NamedAfterNamespaces(kind) {
		name = valueOf(metadata, "name")
	}
	if name == "" || t.names.Member(name) {
		return t
	}
	assumed := *t
	assumed.names = t.names.with(name)
	return &assumed
}

// with returns the names of the view with one more member.
func (n *Names) with(realName string) *Names {
	more := *n
	more.member = func(name string) bool { return name == realName || n.member(name) }
	return &more
}
