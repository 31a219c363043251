package validation

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// maxQuotaResources bounds the status of a quota, which repeats the resources for each namespace, and the cost of a
// reservation.
const maxQuotaResources = 100

// maxQuotaText bounds the names of resources and the values of scope selectors, which the status, the managed fields
// and the ResourceQuotas of the subtree repeat.
const maxQuotaText = 8 << 10

// ValidateQuota validates the limits and scopes of a quota by the rules of ResourceQuotas (docs/spec/hnc.md 2.8),
// because the propagator writes them into ResourceQuotas. It is stricter: it rejects resources that are counted by no
// server, numbers of ResourceQuotas and of policy objects, and what Kubernetes cannot count.
func ValidateQuota(q *hnc.HierarchicalResourceQuota) field.ErrorList {
	return ValidateQuotaUpdate(q, &hnc.HierarchicalResourceQuota{})
}

// ValidateQuotaUpdate validates what an update of a quota changes. Limits and scopes that an earlier version has
// accepted may stay.
func ValidateQuotaUpdate(q, old *hnc.HierarchicalResourceQuota) field.ErrorList {
	spec := field.NewPath("spec")
	hard := spec.Child("hard")
	if len(q.Spec.Hard) > max(maxQuotaResources, len(old.Spec.Hard)) {
		return field.ErrorList{field.TooMany(hard, len(q.Spec.Hard), maxQuotaResources)}
	}
	sameScopes := apiequality.Semantic.DeepEqual(q.Spec.Scopes, old.Spec.Scopes) && apiequality.Semantic.DeepEqual(q.Spec.ScopeSelector, old.Spec.ScopeSelector)
	var errs field.ErrorList
	if !sameScopes {
		if errs = tooManyScopes(spec, &q.Spec); len(errs) > 0 {
			return errs
		}
	}
	if quotaText(&q.Spec) > max(maxQuotaText, quotaText(&old.Spec)) {
		err := field.TooLong(spec, "", maxQuotaText)
		err.Detail += " in the names of resources and the values of scope selectors; limit some of them in another quota"
		return field.ErrorList{err}
	}
	var changed []corev1.ResourceName
	for _, name := range slices.Sorted(maps.Keys(q.Spec.Hard)) {
		before, found := old.Spec.Hard[name]
		// Equal numbers that are written in different ways are not equally valid.
		if found && apiequality.Semantic.DeepEqual(before, q.Spec.Hard[name]) && (hnc.CountableAs(name, q.Spec.Hard[name]) || !hnc.CountableAs(name, before)) {
			continue
		}
		changed = append(changed, name)
		at := hard.Key(string(name))
		errs = append(errs, validateQuotaResource(at, name)...)
		errs = append(errs, validateQuotaQuantity(at, name, q.Spec.Hard[name])...)
	}
	if sameScopes && len(changed) == 0 {
		return nil
	}
	return Bound(append(errs, validateQuotaScopes(spec, &q.Spec, changed, !sameScopes)...))
}

// quotaText returns the size of what maxQuotaText bounds.
func quotaText(s *hnc.HierarchicalResourceQuotaSpec) int {
	n := s.ScopesSize()
	for name := range s.Hard {
		n += len(name)
	}
	return n
}

func validateQuotaResource(at *field.Path, name corev1.ResourceName) field.ErrorList {
	var errs field.ErrorList
	for _, problem := range validation.IsQualifiedName(string(name)) {
		errs = append(errs, field.Invalid(at, name, problem))
	}
	switch {
	case len(errs) > 0 || name == hnc.ResourceSubnamespaces:
	case slices.Contains(hnc.CountsOfQuotas, name):
		errs = append(errs, field.Invalid(at, name, "would count the ResourceQuotas that enforce quotas, too, and keep out those of other quotas; "+
			"limit it in a ResourceQuota"))
	case slices.Contains(hnc.PolicyCounts, name):
		errs = append(errs, field.Invalid(at, name, "would keep out policy; Roles, RoleBindings, NetworkPolicies and LimitRanges are not limited"))
	case !strings.Contains(string(name), "/"):
		if !hnc.IsQuotaResource(name) {
			errs = append(errs, field.Invalid(at, name, "is not a resource that quotas limit; use a name such as pods, requests.cpu or limits.memory, "+
				"or count/<resource>.<group> for the number of objects"))
		}
	case strings.HasPrefix(string(name), "count/") && strings.HasSuffix(string(name), "."+hnc.GroupName) && !hnc.IsViewGroup(string(name)):
		// kube-apiserver does not admit writes to other servers' resources, so such a limit would not hold. The custom
		// resources of views are its own.
		errs = append(errs, field.NotSupported(at, name, []corev1.ResourceName{hnc.ResourceSubnamespaces}))
	}
	return errs
}

func validateQuotaQuantity(at *field.Path, name corev1.ResourceName, quantity resource.Quantity) field.ErrorList {
	if !hnc.Countable(quantity) {
		return field.ErrorList{field.Invalid(at, field.OmitValueType{}, fmt.Sprintf("must be a number between 0 and %d, the largest that Kubernetes counts, "+
			"and have at most %d characters and an exponent of at most two digits", hnc.MaxQuantity, hnc.MaxQuantityText))}
	}
	var errs field.ErrorList
	if quantity.Sign() < 0 {
		errs = append(errs, field.Invalid(at, quantity.String(), "must be greater than or equal to 0"))
	}
	if !hnc.CountableAs(name, quantity) {
		problem := "must be an integer"
		if quantity.CmpInt64(math.MaxInt64/1000) > 0 {
			problem += fmt.Sprintf("; Kubernetes takes some above %d for fractions", int64(math.MaxInt64/1000))
		}
		errs = append(errs, field.Invalid(at, quantity.String(), problem))
	}
	return errs
}

var (
	podCompute = sets.New(corev1.ResourcePods, corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceRequestsCPU,
		corev1.ResourceRequestsMemory, corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory)
	// quotaScopes are the scopes of ResourceQuotas, with the resources that they may restrict, of those that
	// hnc.IsQuotaResource knows.
	quotaScopes = map[corev1.ResourceQuotaScope]sets.Set[corev1.ResourceName]{
		corev1.ResourceQuotaScopeTerminating:               podCompute,
		corev1.ResourceQuotaScopeNotTerminating:            podCompute,
		corev1.ResourceQuotaScopeNotBestEffort:             podCompute,
		corev1.ResourceQuotaScopePriorityClass:             podCompute,
		corev1.ResourceQuotaScopeCrossNamespacePodAffinity: podCompute,
		corev1.ResourceQuotaScopeBestEffort:                sets.New(corev1.ResourcePods),
		corev1.ResourceQuotaScopeVolumeAttributesClass:     sets.New(corev1.ResourcePersistentVolumeClaims, corev1.ResourceRequestsStorage),
	}
)
