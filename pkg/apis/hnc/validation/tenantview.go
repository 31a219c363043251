package validation

import (
	"fmt"

	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/rules"
)

// maxExternal bounds the namespaces that a view has to compare each name with.
const maxExternal = 64

// maxProjected is that of the OpenAPI schema.
const maxProjected = 32

// ValidateTenantView validates a TenantView. Names of namespaces in it begin where its prefix ends.
func ValidateTenantView(v *hnc.TenantView) field.ErrorList {
	var errs field.ErrorList
	if v.Name != hnc.TenantViewSingleton {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), v.Name, fmt.Sprintf("must be %q", hnc.TenantViewSingleton)))
	}
	spec := field.NewPath("spec")
	if v.Spec.Names != hnc.NamesReal && v.Spec.Names != hnc.NamesRelative {
		errs = append(errs, field.NotSupported(spec.Child("names"), v.Spec.Names, []hnc.ViewNames{hnc.NamesReal, hnc.NamesRelative}))
	}
	if v.Spec.Prefix != "" {
		at := spec.Child("prefix")
		if v.Spec.Names == hnc.NamesReal {
			errs = append(errs, field.Forbidden(at, "names are real; remove it, or set spec.names to Relative"))
		}
		for _, problem := range validation.IsDNS1123Label(v.Spec.Prefix + "x") {
			errs = append(errs, field.Invalid(at, v.Spec.Prefix, "must be the beginning of the name of a namespace: "+problem))
		}
	}
	if limit, at := v.Spec.CustomResources.Limit, spec.Child("customResources", "limit"); limit < 0 || limit > hnc.MaxViewDefinitions {
		errs = append(errs, field.Invalid(at, limit, fmt.Sprintf("must be between 0 and %d", hnc.MaxViewDefinitions)))
	} else if limit > 0 && v.Spec.Names == hnc.NamesReal {
		errs = append(errs, field.Forbidden(at, "names are real, and so are those of groups; remove it, or set spec.names to Relative"))
	}
	errs = append(errs, validateProjected(v.Spec.Projected, spec.Child("projected"))...)
	external := spec.Child("external")
	if len(v.Spec.External) > maxExternal {
		return Bound(append(errs, field.TooMany(external, len(v.Spec.External), maxExternal)))
	}
	seen := map[string]bool{}
	for i, name := range v.Spec.External {
		for _, problem := range apimachineryvalidation.ValidateNamespaceName(name, false) {
			errs = append(errs, field.Invalid(external.Index(i), name, problem))
		}
		if name == hnc.ViewRootName && v.Spec.Names != hnc.NamesReal {
			errs = append(errs, field.Invalid(external.Index(i), name, "is the name of the view's own namespace in the view; remove it, or set spec.names to Real"))
		}
		if seen[name] {
			errs = append(errs, field.Duplicate(external.Index(i), name))
		}
		seen[name] = true
	}
	return Bound(errs)
}

// validateProjected validates names of kinds. It does not resolve them, because a kind may be installed later.
func validateProjected(resources []hnc.ProjectedResource, list *field.Path) field.ErrorList {
	if len(resources) > maxProjected {
		return field.ErrorList{field.TooMany(list, len(resources), maxProjected)}
	}
	var errs field.ErrorList
	seen := map[hnc.ProjectedResource]bool{}
	for i, r := range resources {
		at, resource := list.Index(i), schema.GroupResource(r)
		if r.Resource == "" {
			errs = append(errs, field.Required(at.Child("resource"), "set the plural name of the resource"))
		} else {
			for _, problem := range validation.IsDNS1123Label(r.Resource) {
				errs = append(errs, field.Invalid(at.Child("resource"), r.Resource, "must be the plural name of a resource: "+problem))
			}
		}
		if r.Group != "" {
			for _, problem := range validation.IsDNS1123Subdomain(r.Group) {
				errs = append(errs, field.Invalid(at.Child("group"), r.Group, problem))
			}
		}
		if reason := rules.NotProjected(resource); reason != "" {
			errs = append(errs, field.Invalid(at, resource.String(), "cannot be projected: "+reason))
		}
		if seen[r] {
			errs = append(errs, field.Duplicate(at, resource.String()))
		}
		seen[r] = true
	}
	return errs
}
