package apiserver

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// sharedOptions returns the same storage options for both names of a resource, and storage that takes fences.
type sharedOptions struct {
	generic.RESTOptionsGetter
	decorator generic.StorageDecorator
}

// GetRESTOptions implements generic.RESTOptionsGetter.
func (o sharedOptions) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	options, err := o.RESTOptionsGetter.GetRESTOptions(stored(resource), example)
	options.Decorator = o.decorator
	return options, err
}

// stored returns the name under which a resource is stored.
func stored(resource schema.GroupResource) schema.GroupResource {
	switch resource {
	case hnc.Resource("hierarchyconfigurations"):
		return hnc.Resource("hierarchies")
	case hnc.Resource("subnamespaceanchors"):
		return hnc.Resource("subnamespaces")
	}
	return resource
}
