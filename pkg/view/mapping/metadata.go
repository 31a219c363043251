package mapping

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// labelName is the label of each Namespace with its name.
const labelName = "kubernetes.io/metadata.name"

// namedAfterNamespaces are the kinds whose objects have the names of namespaces, with their resources.
var namedAfterNamespaces = map[schema.GroupKind]string{
	{Kind: "Namespace"}:                                "namespaces",
	{Group: hnc.GroupName, Kind: "Subnamespace"}:       "subnamespaces",
	{Group: hnc.GroupName, Kind: "SubnamespaceAnchor"}: "subnamespaceanchors",
	{Group: hnc.GroupName, Kind: "MyNamespace"}:        "mynamespaces",
}

// NamedAfterNamespaces reports whether the names of a kind's objects are those of namespaces. In the URL of a request
// they are translated by Names.
func NamedAfterNamespaces(kind schema.GroupKind) bool { return namedAfterNamespaces[kind] != "" }

// ResourceNamedAfterNamespaces is NamedAfterNamespaces for a resource.
func ResourceNamedAfterNamespaces(resource schema.GroupResource) bool {
	for kind, name := range namedAfterNamespaces {
		if kind.Group == resource.Group && name == resource.Resource {
			return true
		}
	}
	return false
}

// hasTreeLabels are the kinds whose objects have the labels of namespaces.
func hasTreeLabels(kind schema.GroupKind) bool {
	return kind == schema.GroupKind{Kind: "Namespace"} || kind == schema.GroupKind{Group: hnc.GroupName, Kind: "MyNamespace"}
}

var (
	labelsNode = &node{pairs: pairsOf(map[string]*node{hnc.LabelInheritedFrom: nameNode}, nil)}
	// namespaceLabelsNode leaves out the labels that name ancestors above the root.
	namespaceLabelsNode = &node{pairs: pairsOf(map[string]*node{hnc.LabelInheritedFrom: nameNode, labelName: nameNode},
		func(t *translation, key, value string) (string, string, bool) {
			return t.treeKey(key), value, t.to == In || !t.names.hidesLabel(key)
		})}
	// annotationsNode leaves out the names that are not namespaces, which are above all of them, and groups of users,
	// which only the server writes, and shortens ancestries.
	annotationsNode = &node{pairs: pairsOf(map[string]*node{
		hnc.AnnotationSubnamespaceOf: nameNode,
		hnc.AnnotationAncestry:       {text: (*translation).ancestry},
		hnc.AnnotationRequester:      userNode,
		hnc.AnnotationTreeSelect:     {text: (*translation).listed},
		hnc.AnnotationSelect:         {text: (*translation).selectorText},
	}, func(t *translation, key, value string) (string, string, bool) {
		return key, value, t.to == In || key != hnc.AnnotationAbstractAncestors && key != hnc.AnnotationRequesterGroups
	})}
)

// hidesLabel reports whether a label of a namespace names an ancestor above the root.
func (n *Names) hidesLabel(key string) bool {
	ancestor, ok := hnc.TreeLabelAncestor(key)
	return ok && !n.Member(ancestor)
}

// KeepHidden sets in a namespace with real names the labels and annotations of the stored one that the view does not
// show, or not completely. They follow from the tree: users cannot change them.
func (m *Mapper) KeepHidden(ns, stored *corev1.Namespace) {
	for key, value := range stored.Labels {
		if m.names.hidesLabel(key) {
			metav1.SetMetaDataLabel(&ns.ObjectMeta, key, value)
		}
	}
	for _, key := range []string{hnc.AnnotationAbstractAncestors, hnc.AnnotationAncestry} {
		if value, ok := stored.Annotations[key]; ok {
			metav1.SetMetaDataAnnotation(&ns.ObjectMeta, key, value)
		}
	}
}

// metadata returns the rules for the metadata of a kind's objects.
func metadata(kind schema.GroupKind, root *node) map[string]*node {
	fields := map[string]*node{
		"namespace": nameNode, "labels": labelsNode, "annotations": annotationsNode,
		"ownerReferences": {items: ownerNode},
		"managedFields":   {items: &node{fields: map[string]*node{"apiVersion": apiVersionNode, "fieldsV1": {managed: true, fields: map[string]*node{"": root}}}}},
	}
	if NamedAfterNamespaces(kind) {
		fields["name"] = nameNode
	}
	if hasTreeLabels(kind) {
		fields["labels"] = namespaceLabelsNode
	}
	return fields
}

// ownerNode is an owner reference: the name is translated if it is that of a namespace.
var ownerNode = byKind(map[string]*node{"apiVersion": apiVersionNode})

// byKind returns the rules for a reference to an object, with more fields: its kind decides what its name means.
func byKind(fields map[string]*node) *node {
	return nameIf(fields, "kind", "apiVersion", func(kind, version string) bool {
		gv, err := schema.ParseGroupVersion(version)
		return err == nil && NamedAfterNamespaces(gv.WithKind(kind).GroupKind())
	})
}

// attributesNode returns the rules for what an access review asks about: a namespace's name may be the object's.
func attributesNode(fields map[string]*node) *node {
	return nameIf(fields, "group", "resource", func(group, resource string) bool {
		return ResourceNamedAfterNamespaces(schema.GroupResource{Group: group, Resource: resource})
	})
}

// nameIf returns rules by which the values of two fields decide whether the name is that of a namespace.
func nameIf(fields map[string]*node, a, b string, decide func(a, b string) bool) *node {
	plain, namespaces := &node{fields: fields}, &node{fields: merged(map[string]*node{"name": nameNode}, fields)}
	return &node{fields: namespaces.fields, deciding: []string{a, b}, dependent: []string{"name"},
		with: func(value func(string) string) *node {
			if decide(value(a), value(b)) {
				return namespaces
			}
			return plain
		}}
}
