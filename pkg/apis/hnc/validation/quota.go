package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// ValidateQuota validates the limits and scopes of a quota, by the rules of ResourceQuotas.
func ValidateQuota(q *hnc.HierarchicalResourceQuota) field.ErrorList {
	var errs field.ErrorList
	hard := field.NewPath("spec", "hard")
	for name, quantity := range q.Spec.Hard {
		if quantity.Sign() < 0 {
			errs = append(errs, field.Invalid(hard.Key(string(name)), quantity.String(), "must be greater than or equal to 0"))
		}
	}
	return errs
}
