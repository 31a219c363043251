package repository

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
)

// The fields that are used of the kinds that configure a repository.
type (
	repoObject struct {
		Spec struct {
			Version string `json:"version"`
		} `json:"spec"`
	}
	hierarchyConfigObject struct {
		Spec struct {
			Resources []inheritedResource `json:"resources"`
		} `json:"spec"`
	}
	inheritedResource struct {
		Group         string   `json:"group"`
		Kinds         []string `json:"kinds"`
		HierarchyMode string   `json:"hierarchyMode"`
	}
	selectorObject struct {
		Spec struct {
			Selector metav1.LabelSelector `json:"selector"`
			Mode     string               `json:"mode"`
		} `json:"spec"`
	}
)

func decode[T any](o *object.Object) (*T, error) {
	into := new(T)
	return into, runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, into)
}

// unparsable reports objects that configure the repository and cannot be decoded.
func unparsable(_ *compilation, o *object.Object) finding {
	var err error
	switch o.GroupKind() {
	case object.Repo:
		_, err = decode[repoObject](o)
	case object.HierarchyConfig:
		_, err = decode[hierarchyConfigObject](o)
	case object.ClusterSelector, object.NamespaceSelector:
		_, err = decode[selectorObject](o)
	}
	if err != nil {
		return findf("", "the %s cannot be decoded: %v", o.GetKind(), err)
	}
	return finding{}
}

// labelSelector returns the selector of a ClusterSelector or a NamespaceSelector. It returns an error if the selector
// is invalid or empty.
func labelSelector(o *object.Object) (labels.Selector, error) {
	parsed, err := decode[selectorObject](o)
	if err != nil {
		return nil, err
	}
	selector, err := metav1.LabelSelectorAsSelector(&parsed.Spec.Selector)
	if err != nil {
		return nil, fmt.Errorf("spec.selector is invalid: %w", err)
	}
	if selector.Empty() {
		return nil, fmt.Errorf("spec.selector must not be empty")
	}
	return selector, nil
}

// resources returns the entries of a HierarchyConfig.
func resources(o *object.Object) []inheritedResource {
	if !o.Is(object.HierarchyConfig) {
		return nil
	}
	config, err := decode[hierarchyConfigObject](o)
	if err != nil {
		return nil
	}
	return config.Spec.Resources
}

// kinds returns the kinds of an entry.
func (r *inheritedResource) kinds() []schema.GroupKind {
	kinds := make([]schema.GroupKind, 0, len(r.Kinds))
	for _, kind := range r.Kinds {
		kinds = append(kinds, schema.GroupKind{Group: r.Group, Kind: kind})
	}
	return kinds
}
