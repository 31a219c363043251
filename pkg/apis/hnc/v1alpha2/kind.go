package v1alpha2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// +k8s:openapi-gen=false
// +k8s:deepcopy-gen=false

// pinnedKind is an ObjectKind that keeps the wire's kind when the scheme, which knows the type under two names, sets
// the other one.
type pinnedKind struct {
	*metav1.TypeMeta
	kind string
}

// SetGroupVersionKind sets the group version and the pinned kind; an empty kind clears both, as for any object.
func (p pinnedKind) SetGroupVersionKind(gvk schema.GroupVersionKind) {
	if gvk.Kind != "" {
		gvk.Kind = p.kind
	}
	p.TypeMeta.SetGroupVersionKind(gvk)
}

// GetObjectKind returns the object's kind, pinned to HierarchyConfiguration.
func (h *HierarchyConfiguration) GetObjectKind() schema.ObjectKind {
	return pinnedKind{&h.TypeMeta, "HierarchyConfiguration"}
}

// GetObjectKind returns the list's kind, pinned to HierarchyConfigurationList.
func (l *HierarchyConfigurationList) GetObjectKind() schema.ObjectKind {
	return pinnedKind{&l.TypeMeta, "HierarchyConfigurationList"}
}

// GetObjectKind returns the object's kind, pinned to SubnamespaceAnchor.
func (a *SubnamespaceAnchor) GetObjectKind() schema.ObjectKind {
	return pinnedKind{&a.TypeMeta, "SubnamespaceAnchor"}
}

// GetObjectKind returns the list's kind, pinned to SubnamespaceAnchorList.
func (l *SubnamespaceAnchorList) GetObjectKind() schema.ObjectKind {
	return pinnedKind{&l.TypeMeta, "SubnamespaceAnchorList"}
}
