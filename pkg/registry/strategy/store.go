package strategy

import (
	"k8s.io/apimachinery/pkg/runtime"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Strategy is that of a resource.
type Strategy interface {
	rest.RESTCreateStrategy
	rest.RESTUpdateStrategy
	rest.RESTDeleteStrategy
	rest.ResetFieldsStrategy
}

// NewStore returns the store of a resource, without hooks, which the caller completes. The object and the list are
// empty.
func NewStore(object, list runtime.Object, plural, singular string, s Strategy, columns rest.TableConvertor) *genericregistry.Store {
	return &genericregistry.Store{
		NewFunc:                   object.DeepCopyObject,
		NewListFunc:               list.DeepCopyObject,
		DefaultQualifiedResource:  hnc.Resource(plural),
		SingularQualifiedResource: hnc.Resource(singular),
		CreateStrategy:            s,
		UpdateStrategy:            s,
		DeleteStrategy:            s,
		ResetFieldsStrategy:       s,
		TableConvertor:            columns,
	}
}
