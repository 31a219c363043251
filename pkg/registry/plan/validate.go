package plan

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// How many objects an answer shows.
const (
	defaultLimit = 500
	maxLimit     = 5000
)

// How large a question may be. The OpenAPI schema says the same.
const (
	maxResources = 100
	maxNamespace = 63
	maxName      = 253
	maxContinue  = 1024
)

func limit(asked int32) int {
	if asked == 0 {
		return defaultLimit
	}
	return int(asked)
}

// invalid returns what is wrong with a question.
func invalid(name string, p *hnc.HierarchyPlan) field.ErrorList {
	var errs field.ErrorList
	for _, n := range []string{name, p.Name} {
		if n != "" && n != hnc.Singleton {
			errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), n, fmt.Sprintf("must be %q", hnc.Singleton)))
		}
	}
	path, spec := field.NewPath("spec"), p.Spec
	switch spec.Change {
	case hnc.ChangeParent, hnc.ChangeDelete, hnc.ChangePropagation, hnc.ChangeConfiguration:
	case "":
		errs = append(errs, field.Required(path.Child("change"), "say what is changed: Parent, Delete, Propagation or Configuration"))
	default:
		errs = append(errs, field.NotSupported(path.Child("change"), spec.Change, []hnc.PlannedChange{
			hnc.ChangeParent, hnc.ChangeDelete, hnc.ChangePropagation, hnc.ChangeConfiguration,
		}))
	}
	if spec.Parent != "" && spec.Change != hnc.ChangeParent {
		errs = append(errs, field.Forbidden(path.Child("parent"), "is for the change Parent only"))
	}
	if len(spec.Resources) > 0 && spec.Change != hnc.ChangeConfiguration && spec.Change != hnc.ChangePropagation {
		errs = append(errs, field.Forbidden(path.Child("resources"), "is for the changes Propagation and Configuration only"))
	}
	if spec.Limit < 0 || spec.Limit > maxLimit {
		errs = append(errs, field.Invalid(path.Child("limit"), spec.Limit, fmt.Sprintf("must be from 0, which means %d, to %d", defaultLimit, maxLimit)))
	}
	return append(errs, tooLarge(path, &spec)...)
}

// tooLarge returns which parts of a question are too large.
func tooLarge(path *field.Path, spec *hnc.HierarchyPlanSpec) field.ErrorList {
	var errs field.ErrorList
	atMost := func(limit int, at *field.Path, value string) {
		if len(value) > limit {
			errs = append(errs, field.TooLong(at, "", limit))
		}
	}
	atMost(maxNamespace, path.Child("parent"), spec.Parent)
	atMost(maxContinue, path.Child("continue"), spec.Continue)
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
