package apiserver

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// restOptions are the options of stores whose writes may have a fence.
type restOptions struct {
	generic.RESTOptionsGetter
	decorator generic.StorageDecorator
}

// GetRESTOptions implements generic.RESTOptionsGetter.
func (o restOptions) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	options, err := o.RESTOptionsGetter.GetRESTOptions(resource, example)
	options.Decorator = o.decorator
	return options, err
}

// storedResource returns the name under which a resource is stored.
func storedResource(resource schema.GroupResource) schema.GroupResource {
	switch resource {
	case hnc.Resource("hierarchyconfigurations"):
		return hnc.Resource("hierarchies")
	case hnc.Resource("subnamespaceanchors"):
		return hnc.Resource("subnamespaces")
	}
	return resource
}
