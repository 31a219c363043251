package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
)

// The abstract directories above a namespace are written as spec.abstractAncestors of its Hierarchy, so that the
// namespace has tree labels for them.

// HierarchyKind is the kind of the objects that abstract directories are written to.
var HierarchyKind = schema.GroupKind{Group: hnc.GroupName, Kind: "Hierarchy"}

var hierarchyVersion = schema.GroupVersionKind{Group: hnc.GroupName, Version: "v1beta1", Kind: HierarchyKind.Kind}

// declared is an object of the repository, or one that is generated for it. The fields are those of Object.
type declared struct {
	*object.Object
	generated, remnant bool
	above              []string
}

// withAbstract returns the objects of a result with the abstract ancestors of its namespaces: in the Hierarchies of the
// repository, and in generated ones where it has none. A Hierarchy of the repository that names a parent has none: the
// namespace is part of that tree. Generated Hierarchies without abstract ancestors are remnants.
func withAbstract(result *repository.Result) []declared {
	objects := make([]declared, 0, len(result.Objects))
	above := make(map[string]*repository.Namespace, len(result.Namespaces))
	for i := range result.Namespaces {
		above[result.Namespaces[i].Name] = &result.Namespaces[i]
	}
	has := map[string]bool{}
	for _, o := range result.Objects {
		if namespace := above[o.GetNamespace()]; namespace != nil && object.Canonical(o.GroupKind()) == HierarchyKind {
			has[namespace.Name] = true
			objects = append(objects, declared{Object: setAbstract(o, namespace), above: namespace.AbstractAncestors})
			continue
		}
		objects = append(objects, declared{Object: o})
	}
	for i := range result.Namespaces {
		namespace := &result.Namespaces[i]
		if managed, _ := namespace.Object.Annotation(object.AnnotationManaged); has[namespace.Name] || managed == object.ManagedDisabled || slices.Contains(hnc.ExcludedNamespaces, namespace.Name) {
			continue
		}
		o := &object.Object{Path: namespace.Object.Path, Unstructured: unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"name": hnc.Singleton, "namespace": namespace.Name},
		}}}
		o.SetGroupVersionKind(hierarchyVersion)
		objects = append(objects, declared{Object: setAbstract(o, namespace), generated: true, remnant: len(namespace.AbstractAncestors) == 0, above: namespace.AbstractAncestors})
	}
	return objects
}

// setAbstract returns a Hierarchy with the abstract ancestors of its namespace, as v1beta1, which has all fields of the
// older version.
func setAbstract(o *object.Object, namespace *repository.Namespace) *object.Object {
	parent, _, _ := unstructured.NestedString(o.Object, "spec", "parent")
	if len(namespace.AbstractAncestors) == 0 || parent != "" {
		return o
	}
	result := *o
	result.Object = o.DeepCopy().Object
	result.SetGroupVersionKind(hierarchyVersion)
	spec, ok := result.Object["spec"].(map[string]any)
	if !ok {
		spec = map[string]any{}
		result.Object["spec"] = spec
	}
	names := make([]any, len(namespace.AbstractAncestors))
	for i, name := range namespace.AbstractAncestors {
		names[i] = name
	}
	spec["abstractAncestors"] = names
	if namespace.SharesNames {
		return result.WithAnnotation(hnc.AnnotationAllowSharedNames, "true")
	}
	return &result
}
