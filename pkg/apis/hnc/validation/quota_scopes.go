package validation

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// validateQuotaScopes validates spec.scopes and spec.scopeSelector of a quota of the given resources, and the values of
// the selector if they have changed.
func validateQuotaScopes(spec *field.Path, s *hnc.HierarchicalResourceQuotaSpec, resources []corev1.ResourceName, values bool) field.ErrorList {
	var errs field.ErrorList
	if s.HasScopes() && slices.Contains(resources, hnc.ResourceSubnamespaces) {
		errs = append(errs, field.Forbidden(spec.Child("hard").Key(string(hnc.ResourceSubnamespaces)),
			"scopes do not apply to sub-namespaces; limit them in a quota without scopes"))
	}
	scopes := spec.Child("scopes")
	var named []corev1.ResourceQuotaScope
	for i, scope := range s.Scopes {
		errs = append(errs, validateQuotaScope(scopes.Index(i), scope, resources)...)
		named = append(named, scope)
	}
	errs = append(errs, validateScopePairs(scopes, named)...)
	if s.ScopeSelector == nil {
		return errs
	}
	expressions := spec.Child("scopeSelector", "matchExpressions")
	named = nil
	for i, requirement := range s.ScopeSelector.MatchExpressions {
		errs = append(errs, validateQuotaScope(expressions.Index(i).Child("scopeName"), requirement.ScopeName, resources)...)
		errs = append(errs, validateScopeRequirement(expressions.Index(i), requirement)...)
		if values {
			errs = append(errs, validateScopeValues(expressions.Index(i).Child("values"), requirement.Values)...)
		}
		named = append(named, requirement.ScopeName)
	}
	return append(errs, validateScopePairs(expressions, named)...)
}

const (
	// maxScopes bounds the scopes, and the requirements of a selector: there are fewer different ones.
	maxScopes = 20
	// maxScopeValues bounds the values of one requirement: each is compared with each Pod or claim in the subtree.
	maxScopeValues = 100
)

// tooManyScopes rejects numbers of scopes and of their values before they are validated.
func tooManyScopes(spec *field.Path, s *hnc.HierarchicalResourceQuotaSpec) field.ErrorList {
	if len(s.Scopes) > maxScopes {
		return field.ErrorList{field.TooMany(spec.Child("scopes"), len(s.Scopes), maxScopes)}
	}
	if s.ScopeSelector == nil {
		return nil
	}
	expressions := spec.Child("scopeSelector", "matchExpressions")
	if len(s.ScopeSelector.MatchExpressions) > maxScopes {
		return field.ErrorList{field.TooMany(expressions, len(s.ScopeSelector.MatchExpressions), maxScopes)}
	}
	for i, requirement := range s.ScopeSelector.MatchExpressions {
		if len(requirement.Values) > maxScopeValues {
			return field.ErrorList{field.TooMany(expressions.Index(i).Child("values"), len(requirement.Values), maxScopeValues)}
		}
	}
	return nil
}

// validateQuotaScope rejects unknown scopes, and scopes that do not apply to one of the resources.
func validateQuotaScope(at *field.Path, scope corev1.ResourceQuotaScope, resources []corev1.ResourceName) field.ErrorList {
	applicable, known := quotaScopes[scope]
	if !known {
		return field.ErrorList{field.NotSupported(at, scope, slices.Sorted(maps.Keys(quotaScopes)))}
	}
	var errs field.ErrorList
	for _, name := range resources {
		if hnc.IsQuotaResource(name) && !applicable.Has(name) {
			errs = append(errs, field.Invalid(at, scope, fmt.Sprintf("does not apply to resource %s; limit it in a quota without this scope", name)))
		}
	}
	return errs
}

// validateScopeValues rejects values with which kube-controller-manager, which compares scopes as labels, counts no
// ResourceQuota.
func validateScopeValues(at *field.Path, values []string) (errs field.ErrorList) {
	for i, value := range values {
		for _, problem := range validation.IsValidLabelValue(value) {
			errs = append(errs, field.Invalid(at.Index(i), value, problem))
		}
	}
	return errs
}

func validateScopeRequirement(at *field.Path, requirement hnc.QuotaScopeRequirement) field.ErrorList {
	var errs field.ErrorList
	operator, values := at.Child("operator"), at.Child("values")
	switch requirement.ScopeName {
	case corev1.ResourceQuotaScopePriorityClass, corev1.ResourceQuotaScopeVolumeAttributesClass:
	default:
		if _, known := quotaScopes[requirement.ScopeName]; known && requirement.Operator != corev1.ScopeSelectorOpExists {
			errs = append(errs, field.Invalid(operator, requirement.Operator, fmt.Sprintf("must be Exists for scope %s", requirement.ScopeName)))
		}
	}
	switch requirement.Operator {
	case corev1.ScopeSelectorOpIn, corev1.ScopeSelectorOpNotIn:
		if len(requirement.Values) == 0 {
			errs = append(errs, field.Required(values, fmt.Sprintf("operator %s needs at least one value", requirement.Operator)))
		}
	case corev1.ScopeSelectorOpExists, corev1.ScopeSelectorOpDoesNotExist:
		if len(requirement.Values) > 0 {
			errs = append(errs, field.Invalid(values, requirement.Values, fmt.Sprintf("operator %s takes no values", requirement.Operator)))
		}
	default:
		errs = append(errs, field.NotSupported(operator, requirement.Operator, []corev1.ScopeSelectorOperator{
			corev1.ScopeSelectorOpDoesNotExist, corev1.ScopeSelectorOpExists, corev1.ScopeSelectorOpIn, corev1.ScopeSelectorOpNotIn}))
	}
	return errs
}

// validateScopePairs rejects scopes that no object matches at once.
func validateScopePairs(at *field.Path, scopes []corev1.ResourceQuotaScope) field.ErrorList {
	var errs field.ErrorList
	for _, pair := range [][2]corev1.ResourceQuotaScope{
		{corev1.ResourceQuotaScopeBestEffort, corev1.ResourceQuotaScopeNotBestEffort},
		{corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating},
	} {
		if slices.Contains(scopes, pair[0]) && slices.Contains(scopes, pair[1]) {
			errs = append(errs, field.Invalid(at, scopes, fmt.Sprintf("no pod matches both %s and %s; remove one", pair[0], pair[1])))
		}
	}
	return errs
}
