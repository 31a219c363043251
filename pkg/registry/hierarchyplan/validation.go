package hierarchyplan

import (
	"fmt"

	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/validation"
)

// defaultLimit and maxLimit are the numbers of objects per page.
const (
	defaultLimit = 500
	maxLimit     = 5000
)

// The sizes of a request. The OpenAPI schema has the same limits.
const (
	maxResources = 100
	maxNamespace = 63
	maxName      = 253
	maxContinue  = 1024
)

func effectiveLimit(asked int32) int {
	if asked == 0 {
		return defaultLimit
	}
	return int(asked)
}

// validatePlan validates a request for a plan.
func validatePlan(name string, p *hnc.HierarchyPlan) field.ErrorList {
	var errs field.ErrorList
	for _, n := range []string{name, p.Name} {
		if n != "" && n != hnc.Singleton {
			errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), n, fmt.Sprintf("must be %q", hnc.Singleton)))
		}
	}
	path, spec := field.NewPath("spec"), p.Spec
	switch spec.Change {
	case hnc.ChangeParent, hnc.ChangeDelete, hnc.ChangePropagation, hnc.ChangeConfiguration, hnc.ChangeRules, hnc.ChangeAbstractAncestors:
	case "":
		errs = append(errs, field.Required(path.Child("change"), "must be Parent, Delete, Propagation, Configuration, Rules or AbstractAncestors"))
	default:
		errs = append(errs, field.NotSupported(path.Child("change"), spec.Change, []hnc.PlannedChange{
			hnc.ChangeParent, hnc.ChangeDelete, hnc.ChangePropagation, hnc.ChangeConfiguration, hnc.ChangeRules, hnc.ChangeAbstractAncestors,
		}))
	}
	if spec.Parent != "" && spec.Change != hnc.ChangeParent {
		errs = append(errs, field.Forbidden(path.Child("parent"), "may be set only if change is Parent"))
	}
	if len(spec.Resources) > 0 && spec.Change != hnc.ChangeConfiguration && spec.Change != hnc.ChangePropagation {
		errs = append(errs, field.Forbidden(path.Child("resources"), "may be set only if change is Propagation or Configuration"))
	}
	if spec.Rules != nil && spec.Change != hnc.ChangeRules {
		errs = append(errs, field.Forbidden(path.Child("rules"), "may be set only if change is Rules"))
	}
	errs = append(errs, validation.ValidateRules(spec.Rules, path.Child("rules"))...)
	if len(spec.AbstractAncestors) > 0 && spec.Change != hnc.ChangeAbstractAncestors {
		errs = append(errs, field.Forbidden(path.Child("abstractAncestors"), "may be set only if change is AbstractAncestors"))
	}
	if spec.Limit < 0 || spec.Limit > maxLimit {
		errs = append(errs, field.Invalid(path.Child("limit"), spec.Limit, fmt.Sprintf("must be between 0, which means %d, and %d", defaultLimit, maxLimit)))
	}
	return validation.Bound(append(errs, validateSizes(path, &spec)...))
}

// validateSizes validates the sizes of a request.
func validateSizes(path *field.Path, spec *hnc.HierarchyPlanSpec) field.ErrorList {
	var errs field.ErrorList
	atMost := func(limit int, at *field.Path, value string) {
		if len(value) > limit {
			errs = append(errs, field.TooLong(at, "", limit))
		}
	}
	if len(spec.Parent) > maxNamespace {
		errs = append(errs, field.TooLong(path.Child("parent"), "", maxNamespace))
	} else if spec.Parent != "" {
		for _, problem := range apimachineryvalidation.ValidateNamespaceName(spec.Parent, false) {
			errs = append(errs, field.Invalid(path.Child("parent"), spec.Parent, problem))
		}
	}
	atMost(maxContinue, path.Child("continue"), spec.Continue)
	if n := len(spec.AbstractAncestors); n > maxResources {
		return append(errs, field.TooMany(path.Child("abstractAncestors"), n, maxResources))
	}
	for i, name := range spec.AbstractAncestors {
		atMost(maxNamespace, path.Child("abstractAncestors").Index(i), name)
	}
	at := path.Child("resources")
	if n := len(spec.Resources); n > maxResources {
		return append(errs, field.TooMany(at, n, maxResources))
	}
	for i, r := range spec.Resources {
		atMost(maxName, at.Index(i).Child("group"), r.Group)
		atMost(maxName, at.Index(i).Child("resource"), r.Resource)
	}
	return errs
}
