package validation

import (
	"fmt"

	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// maxExternal bounds the namespaces that a view has to compare each name with.
const maxExternal = 64

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
	external := spec.Child("external")
	if len(v.Spec.External) > maxExternal {
		return append(errs, field.TooMany(external, len(v.Spec.External), maxExternal))
	}
	seen := map[string]bool{}
	for i, name := range v.Spec.External {
		for _, problem := range apimachineryvalidation.ValidateNamespaceName(name, false) {
			errs = append(errs, field.Invalid(external.Index(i), name, problem))
		}
		if seen[name] {
			errs = append(errs, field.Duplicate(external.Index(i), name))
		}
		seen[name] = true
	}
	return errs
}
