package validation

import (
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// maxRules bounds each list of spec.rules, and thereby the cost of evaluating it for a namespace or an object.
const maxRules = 100

// ValidateRules validates the sizes of spec.rules, and the names in it. Its patterns, selectors and keys are validated
// where they are compiled.
func ValidateRules(rules *hnc.Rules, at *field.Path) field.ErrorList {
	if rules == nil {
		return nil
	}
	var errs field.ErrorList
	short := func(at *field.Path, value string) {
		if len(value) > maxPattern {
			errs = append(errs, field.TooLong(at, "", maxPattern))
		}
	}
	for _, list := range []struct {
		name   string
		values []string
	}{
		{"excludedNamespaces", rules.ExcludedNamespaces},
		{"managedNamespaceLabels", rules.ManagedNamespaceLabels},
		{"managedNamespaceAnnotations", rules.ManagedNamespaceAnnotations},
		{"droppedLabels", rules.DroppedLabels},
		{"droppedAnnotations", rules.DroppedAnnotations},
	} {
		at := at.Child(list.name)
		if n := len(list.values); n > maxRules {
			errs = append(errs, field.TooMany(at, n, maxRules))
			continue
		}
		for i, value := range list.values {
			if value == "" {
				errs = append(errs, field.Required(at.Index(i), "must not be empty; remove the item"))
			}
			short(at.Index(i), value)
		}
	}
	for i, name := range rules.ExcludedNamespaces {
		if name == "" {
			continue
		}
		for _, problem := range content.IsDNS1123Label(name) {
			errs = append(errs, field.Invalid(at.Child("excludedNamespaces").Index(i), name, "must be the name of a namespace: "+problem))
		}
	}
	short(at.Child("includedNamespaceRegex"), rules.IncludedNamespaceRegex)
	if rules.ExcludedNamespaceSelector != nil {
		short(at.Child("excludedNamespaceSelector"), metav1.FormatLabelSelector(rules.ExcludedNamespaceSelector))
	}
	skipped := at.Child("skippedObjects")
	if n := len(rules.SkippedObjects); n > maxRules {
		return append(errs, field.TooMany(skipped, n, maxRules))
	}
	for i := range rules.SkippedObjects {
		short(skipped.Index(i), metav1.FormatLabelSelector(&rules.SkippedObjects[i]))
	}
	return errs
}
