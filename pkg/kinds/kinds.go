// Package kinds finds the kinds that a configuration names.
package kinds

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// NotNamespacedError says that the objects of a kind are in no namespace.
type NotNamespacedError struct{ schema.GroupResource }

// Error names the resource and says what to do.
func (e *NotNamespacedError) Error() string {
	return fmt.Sprintf("%s is not namespaced, and can't be propagated; name a namespaced resource", e.GroupResource)
}

// NotPropagatedError says that objects of a kind can't be propagated, because they are the hierarchy.
type NotPropagatedError struct{ schema.GroupResource }

// Error names the resource and says what to do.
func (e *NotPropagatedError) Error() string {
	return fmt.Sprintf("%s is part of the hierarchy itself, and can't be propagated; name another resource", e.GroupResource)
}

// Resolve returns what the cluster knows under a group and a resource, in its preferred version. Case does not matter,
// singular names do as well as plural ones, a group may be cut short, and an empty one matches any (spec/hnc.md 3.12).
// It fails with meta.IsNoMatchError errors, with *NotNamespacedError and with *NotPropagatedError.
func Resolve(mapper meta.RESTMapper, group, resource string) (*meta.RESTMapping, error) {
	found, err := mapper.ResourceFor(schema.GroupVersionResource{Group: strings.ToLower(group), Resource: strings.ToLower(resource)})
	if err != nil {
		return nil, err
	}
	kind, err := mapper.KindFor(found)
	if err != nil {
		return nil, err
	}
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, err
	}
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		return nil, &NotNamespacedError{mapping.Resource.GroupResource()}
	}
	if mapping.Resource.Group == hnc.GroupName || mapping.Resource.Group == hnc.ResourcesGroupName {
		return nil, &NotPropagatedError{mapping.Resource.GroupResource()}
	}
	return mapping, nil
}

// Enforced are the kinds that are always propagated, and can't be configured.
var Enforced = []schema.GroupResource{
	{Group: "rbac.authorization.k8s.io", Resource: "roles"},
	{Group: "rbac.authorization.k8s.io", Resource: "rolebindings"},
}
