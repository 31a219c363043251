package mapping

import "k8s.io/apimachinery/pkg/runtime/schema"

// status appends a translated Status: the name in its details, if it is that of a namespace, and names in messages.
func (t *translation) status(out, raw []byte, request schema.GroupVersionKind) ([]byte, error) {
	details := MemberOf(raw, "details")
	resource := schema.GroupResource{Group: TextOf(details, "group"), Resource: TextOf(details, "kind")}
	kind := schema.GroupKind{Group: resource.Group, Kind: resource.Resource}
	object, named := TextOf(details, "name"), ResourceNamedAfterNamespaces(resource) || NamedAfterNamespaces(kind)
	name, namespace := &node{}, ""
	if named {
		object, namespace, name = "", object, nameNode
	}
	text := &node{text: func(t *translation, s string) string { return t.messageAbout(s, object, namespace) }}
	group, plural := groupNode, (*node)(nil)
	if request.GroupKind() == Definition.GroupKind() {
		group, plural = definitionNameNode, definitionNameNode
		text = &node{text: func(t *translation, s string) string { return definitionText(t.messageAbout(s, object, namespace)) }}
	}
	n := &node{fields: map[string]*node{
		"message": text,
		"details": {fields: map[string]*node{"name": name, "group": group, "kind": plural, "causes": {items: &node{fields: map[string]*node{"message": text}}}}},
	}}
	return t.members(out, raw, n, nil)
}
