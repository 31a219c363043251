// Package validation validates hierarchy objects without knowledge of the tree or the cluster.
package validation

import (
	"fmt"
	"reflect"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// ValidateHierarchy validates a Hierarchy (docs/spec/hnc.md 1.1, 2.4, 2.5.1). Its labels and annotations must be
// managed.
func ValidateHierarchy(h *hnc.Hierarchy, managed Managed) field.ErrorList {
	if errs := tooMuchMetadata(hierarchyMetadata(h), managed); len(errs) > 0 {
		return errs
	}
	errs := append(hierarchyItself(h), validateMetadata(hierarchyMetadata(h), managed)...)
	return Bound(append(errs, validateResources(field.NewPath("spec", "propagation"), h.Spec.Propagation)...))
}

// ValidateHierarchyUpdate validates an updated Hierarchy. An unchanged spec is valid, so that finalizers for instance
// can always be removed. Nor are labels and annotations validated that were stored before their number was limited.
func ValidateHierarchyUpdate(h, old *hnc.Hierarchy, managed Managed) field.ErrorList {
	if apiequality.Semantic.DeepEqual(h.Spec, old.Spec) {
		return nil
	}
	if lists := hierarchyMetadata(h); len(tooMuchMetadata(lists, managed)) > 0 && reflect.DeepEqual(lists, hierarchyMetadata(old)) {
		managed = nil
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
	errs = append(errs, abstractAncestors(spec, h)...)
	return append(errs, requiredChildren(spec.Child("requiredChildren"), h.Spec.RequiredChildren)...)
}

// maxRequiredChildren bounds how many sub-namespaces one write creates.
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

// ValidateSubnamespace validates a Subnamespace (docs/spec/hnc.md 2.5). Its labels and annotations must be managed.
func ValidateSubnamespace(s *hnc.Subnamespace, managed Managed) field.ErrorList {
	if errs := tooMuchMetadata(subnamespaceMetadata(s), managed); len(errs) > 0 {
		return errs
	}
	return Bound(append(subnamespaceItself(s), validateMetadata(subnamespaceMetadata(s), managed)...))
}

// ValidateSubnamespaceUpdate validates an updated Subnamespace. An unchanged spec is valid.
func ValidateSubnamespaceUpdate(s, old *hnc.Subnamespace, managed Managed) field.ErrorList {
	if apiequality.Semantic.DeepEqual(s.Spec, old.Spec) {
		return nil
	}
	return ValidateSubnamespace(s, managed)
}

func subnamespaceItself(s *hnc.Subnamespace) field.ErrorList {
	var errs field.ErrorList
	for _, problem := range apimachineryvalidation.ValidateNamespaceName(s.Name, false) {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), names.Shorten(s.Name), "must be the name of a namespace: "+problem))
	}
	return errs
}

// ValidateObjectName validates the name of an object that is created, as the API server validates names of custom
// resources. It is not validated again, because stored objects may have other names.
func ValidateObjectName(o metav1.Object) field.ErrorList {
	var errs field.ErrorList
	for _, problem := range apimachineryvalidation.NameIsDNSSubdomain(o.GetName(), false) {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), names.Shorten(o.GetName()), problem))
	}
	return errs
}

// ValidateConfiguration validates an HNCConfiguration (docs/spec/hnc.md 1.4). It does not resolve the kinds.
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
	errs = append(errs, validateConflictPolicy(field.NewPath("spec", "onConflict"), c.Spec.OnConflict)...)
	errs = append(errs, validateSubnamespaceNames(field.NewPath("spec", "subnamespaceNames"), c.Spec.SubnamespaceNames)...)
	errs = append(errs, ValidateRules(c.Spec.Rules, field.NewPath("spec", "rules"))...)
	return Bound(append(errs, validateResources(field.NewPath("spec", "resources"), c.Spec.Resources)...))
}

// maxPattern bounds the cost of a pattern per creation of a sub-namespace.
const maxPattern = 1024

func validateSubnamespaceNames(at *field.Path, names *hnc.SubnamespaceNames) field.ErrorList {
	if names == nil {
		return nil
	}
	var errs field.ErrorList
	if len(names.Pattern) > maxPattern {
		errs = append(errs, field.TooLong(at.Child("pattern"), "", maxPattern))
	} else if err := ValidatePattern(names.Pattern); err != nil {
		errs = append(errs, field.Invalid(at.Child("pattern"), names.Pattern, "must be a regular expression in RE2 syntax: "+err.Error()))
	}
	prefixes := []hnc.NamePrefix{hnc.NoPrefix, hnc.ParentPrefix}
	if names.Prefix != "" && !slices.Contains(prefixes, names.Prefix) {
		errs = append(errs, field.NotSupported(at.Child("prefix"), names.Prefix, prefixes))
	}
	return errs
}

// maxResources bounds the cost of validating a list of kinds; clusters have a few hundred.
const maxResources = 1000

// validateResources validates entries that name kinds.
func validateResources(list *field.Path, resources []hnc.ResourceSpec) field.ErrorList {
	if len(resources) > maxResources {
		return field.ErrorList{field.TooMany(list, len(resources), maxResources)}
	}
	var errs field.ErrorList
	modes := []hnc.SynchronizationMode{hnc.Propagate, hnc.AllowPropagate, hnc.Remove, hnc.Ignore}
	for i, r := range resources {
		at := list.Index(i)
		if r.Resource == "" {
			errs = append(errs, field.Required(at.Child("resource"), "set the plural name of the resource"))
		}
		if r.Mode != "" && !slices.Contains(modes, r.Mode) {
			errs = append(errs, field.NotSupported(at.Child("mode"), r.Mode, modes))
		}
		errs = append(errs, validateConflictPolicy(at.Child("onConflict"), r.OnConflict)...)
	}
	return errs
}

func validateConflictPolicy(at *field.Path, policy hnc.ConflictPolicy) field.ErrorList {
	if policies := []hnc.ConflictPolicy{hnc.Overwrite, hnc.Keep}; policy != "" && !slices.Contains(policies, policy) {
		return field.ErrorList{field.NotSupported(at, policy, policies)}
	}
	return nil
}
