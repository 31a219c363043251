package v1alpha2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// +k8s:openapi-gen=false
// +k8s:deepcopy-gen=false

// pinnedKind is an ObjectKind that keeps the kind of this version when the scheme, which has two kinds for the type,
// sets the other one.
type pinnedKind struct {
	*metav1.TypeMeta
	kind string
}

// SetGroupVersionKind sets the group version and the pinned kind. An empty kind clears both.
func (p pinnedKind) SetGroupVersionKind(gvk schema.GroupVersionKind) {
	if gvk.Kind != "" {
		gvk.Kind = p.kind
	}
	p.TypeMeta.SetGroupVersionKind(gvk)
}

// GetObjectKind returns a kind pinned to HierarchyConfiguration.
func (h *HierarchyConfiguration) GetObjectKind() schema.ObjectKind {
	return pinnedKind{&h.TypeMeta, "HierarchyConfiguration"}
}

// GetObjectKind returns a kind pinned to HierarchyConfigurationList.
func (l *HierarchyConfigurationList) GetObjectKind() schema.ObjectKind {
	return pinnedKind{&l.TypeMeta, "HierarchyConfigurationList"}
}

// GetObjectKind returns a kind pinned to SubnamespaceAnchor.
func (a *SubnamespaceAnchor) GetObjectKind() schema.ObjectKind {
	return pinnedKind{&a.TypeMeta, "SubnamespaceAnchor"}
}

// GetObjectKind returns a kind pinned to SubnamespaceAnchorList.
func (l *SubnamespaceAnchorList) GetObjectKind() schema.ObjectKind {
	return pinnedKind{&l.TypeMeta, "SubnamespaceAnchorList"}
}
