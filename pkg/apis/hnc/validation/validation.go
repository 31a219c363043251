// Package validation checks the shape of hierarchy objects: what can be said without knowing the tree or the cluster.
package validation

import (
	"fmt"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// ValidateHierarchy returns what is wrong with the shape of h (spec/hnc.md 1.1, 2.4, 2.5.1), whose labels and annotations
// must be managed.
func ValidateHierarchy(h *hnc.Hierarchy, managed Managed) field.ErrorList {
	errs := append(hierarchyItself(h), validateMetadata(hierarchyMetadata(h), managed)...)
	return append(errs, validateResources(field.NewPath("spec", "propagation"), h.Spec.Propagation)...)
}

// ValidateHierarchyUpdate returns what is wrong with the shape of h. What is no longer managed stays until the spec is
// changed: finalizers for instance can always be taken.
func ValidateHierarchyUpdate(h, old *hnc.Hierarchy, managed Managed) field.ErrorList {
	if apiequality.Semantic.DeepEqual(h.Spec, old.Spec) {
		return hierarchyItself(h)
	}
	return ValidateHierarchy(h, managed)
}

func hierarchyItself(h *hnc.Hierarchy) field.ErrorList {
	var errs field.ErrorList
	if h.Name != hnc.Singleton {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), h.Name,
			fmt.Sprintf("must be %q: there is one hierarchy per namespace", hnc.Singleton)))
	}
	spec := field.NewPath("spec")
	if h.Spec.Parent != "" {
		for _, problem := range apimachineryvalidation.ValidateNamespaceName(h.Spec.Parent, false) {
			errs = append(errs, field.Invalid(spec.Child("parent"), h.Spec.Parent, "must be the name of a namespace: "+problem))
		}
	}
	return append(errs, requiredChildren(spec.Child("requiredChildren"), h.Spec.RequiredChildren)...)
}

// maxRequiredChildren bounds what one write has the propagator create.
const maxRequiredChildren = 100

func requiredChildren(at *field.Path, names []string) field.ErrorList {
	if len(names) > maxRequiredChildren {
		return field.ErrorList{field.TooMany(at, len(names), maxRequiredChildren)}
	}
	var errs field.ErrorList
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			errs = append(errs, field.Duplicate(at.Index(i), name))
		}
		for _, problem := range apimachineryvalidation.ValidateNamespaceName(name, false) {
			errs = append(errs, field.Invalid(at.Index(i), name, "must be the name of a namespace: "+problem))
		}
	}
	return errs
}

// ValidateSubnamespace returns what is wrong with the shape of s (spec/hnc.md 2.5), whose labels and annotations must be
// managed.
func ValidateSubnamespace(s *hnc.Subnamespace, managed Managed) field.ErrorList {
	return append(subnamespaceItself(s), validateMetadata(subnamespaceMetadata(s), managed)...)
}

// ValidateSubnamespaceUpdate returns what is wrong with the shape of s. What is no longer managed stays until the spec is
// changed.
func ValidateSubnamespaceUpdate(s, old *hnc.Subnamespace, managed Managed) field.ErrorList {
	if apiequality.Semantic.DeepEqual(s.Spec, old.Spec) {
		return subnamespaceItself(s)
	}
	return ValidateSubnamespace(s, managed)
}

func subnamespaceItself(s *hnc.Subnamespace) field.ErrorList {
	var errs field.ErrorList
	for _, problem := range apimachineryvalidation.ValidateNamespaceName(s.Name, false) {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), s.Name, "must be the name of a namespace: "+problem))
	}
	return errs
}

// ValidateConfiguration returns what is wrong with the shape of c (spec/hnc.md 1.4). It does not look for the kinds.
func ValidateConfiguration(c *hnc.HNCConfiguration) field.ErrorList {
	var errs field.ErrorList
	if c.Name != hnc.ConfigurationName {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), c.Name,
			fmt.Sprintf("must be %q: there is one configuration", hnc.ConfigurationName)))
	}
	if role := c.Spec.CreatorRole; role != "" {
		for _, problem := range content.IsPathSegmentName(role) {
			errs = append(errs, field.Invalid(field.NewPath("spec", "creatorRole"), role, "must be the name of a ClusterRole: "+problem))
		}
	}
	return append(errs, validateResources(field.NewPath("spec", "resources"), c.Spec.Resources)...)
}

// validateResources returns what is wrong with the shape of entries that name kinds.
func validateResources(list *field.Path, resources []hnc.ResourceSpec) field.ErrorList {
	var errs field.ErrorList
	modes := []hnc.SynchronizationMode{hnc.Propagate, hnc.AllowPropagate, hnc.Remove, hnc.Ignore}
	policies := []hnc.ConflictPolicy{hnc.Overwrite, hnc.Keep}
	for i, r := range resources {
		at := list.Index(i)
		if r.Resource == "" {
			errs = append(errs, field.Required(at.Child("resource"), "name the resource, in the plural"))
		}
		if r.Mode != "" && !slices.Contains(modes, r.Mode) {
			errs = append(errs, field.NotSupported(at.Child("mode"), r.Mode, modes))
		}
		if r.OnConflict != "" && !slices.Contains(policies, r.OnConflict) {
			errs = append(errs, field.NotSupported(at.Child("onConflict"), r.OnConflict, policies))
		}
	}
	return errs
}
