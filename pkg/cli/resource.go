package cli

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// mapping returns the namespaced resource that somebody calls by its plural, singular, short or kind's name, with or without its group.
func (e *Environment) mapping(name string) (*meta.RESTMapping, error) {
	mapper, err := e.mapper()
	if err != nil {
		return nil, err
	}
	partial, group := schema.ParseResourceArg(name)
	var found schema.GroupVersionResource
	if partial != nil {
		found, err = mapper.ResourceFor(*partial)
	}
	if partial == nil || err != nil {
		found, err = mapper.ResourceFor(group.WithVersion(""))
	}
	if err != nil {
		return nil, unknownResource(name, err)
	}
	kind, err := mapper.KindFor(found)
	if err != nil {
		return nil, unknownResource(name, err)
	}
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, unknownResource(name, err)
	}
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		return nil, fmt.Errorf("%s are in no namespace; name a namespaced resource", mapping.Resource.GroupResource())
	}
	return mapping, nil
}

func unknownResource(name string, err error) error {
	if meta.IsNoMatchError(err) {
		return fmt.Errorf("the cluster has no resource %q; kubectl api-resources lists those that it has", name)
	}
	return err
}

// resource returns the mapping's resource.
func (e *Environment) resource(name string) (schema.GroupVersionResource, error) {
	mapping, err := e.mapping(name)
	if err != nil {
		return schema.GroupVersionResource{}, err
	}
	return mapping.Resource, nil
}
