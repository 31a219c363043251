// Package kinds resolves the kinds that a configuration names.
package kinds

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// NotNamespacedError reports a cluster-scoped kind.
type NotNamespacedError struct{ schema.GroupResource }

// Error names the resource and suggests a fix.
func (e *NotNamespacedError) Error() string {
	return fmt.Sprintf("%s is not namespaced, and cannot be propagated; name a namespaced resource", e.GroupResource)
}

// NotPropagatedError reports a kind that cannot be propagated because it is part of the hierarchy.
type NotPropagatedError struct{ schema.GroupResource }

// Error names the resource and suggests a fix.
func (e *NotPropagatedError) Error() string {
	return fmt.Sprintf("%s is part of the hierarchy itself, and cannot be propagated; name another resource", e.GroupResource)
}

// Resolve returns the mapping of a group and a resource in its preferred version. It ignores case, accepts singular
// and plural names and abbreviated groups, and an empty group matches any (docs/spec/hnc.md 3.12). It fails with
// meta.IsNoMatchError errors, *NotNamespacedError and *NotPropagatedError.
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

// Enforced are the kinds that are always propagated and cannot be configured.
var Enforced = []schema.GroupResource{
	{Group: "rbac.authorization.k8s.io", Resource: "roles"},
	{Group: "rbac.authorization.k8s.io", Resource: "rolebindings"},
}
