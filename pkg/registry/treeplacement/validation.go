package treeplacement

import (
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// maxPlacements is the number of placements in a request. The OpenAPI schema has the same limit.
const maxPlacements = 1000

// validatePlacements validates a request by itself.
func validatePlacements(p *hnc.TreePlacement) field.ErrorList {
	at := field.NewPath("spec", "placements")
	switch n := len(p.Spec.Placements); {
	case n == 0:
		return field.ErrorList{field.Required(at, "name at least one namespace and its parent")}
	case n > maxPlacements:
		return field.ErrorList{field.TooMany(at, n, maxPlacements)}
	}
	var errs field.ErrorList
	if p.GenerateName != "" {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "generateName"), p.GenerateName, "names are not generated; leave it out"))
	}
	seen := map[string]bool{}
	for i, placement := range p.Spec.Placements {
		if seen[placement.Namespace] {
			errs = append(errs, field.Duplicate(at.Index(i).Child("namespace"), placement.Namespace))
		}
		seen[placement.Namespace] = true
		for _, problem := range apimachineryvalidation.ValidateNamespaceName(placement.Namespace, false) {
			errs = append(errs, field.Invalid(at.Index(i).Child("namespace"), placement.Namespace, "must be the name of a namespace: "+problem))
		}
		if placement.Parent == "" {
			continue
		}
		for _, problem := range apimachineryvalidation.ValidateNamespaceName(placement.Parent, false) {
			errs = append(errs, field.Invalid(at.Index(i).Child("parent"), placement.Parent, "must be the name of a namespace: "+problem))
		}
	}
	return errs
}
