package validation

import (
	"fmt"
	"slices"
	"strings"

	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// maxAbstractAncestors bounds the labels that one write puts on each namespace of a subtree.
const maxAbstractAncestors = 100

// abstractAncestors validates the names of ancestors that are not namespaces (docs/spec/config-sync.md 9). They become
// tree labels.
func abstractAncestors(spec *field.Path, h *hnc.Hierarchy) field.ErrorList {
	names, at := h.Spec.AbstractAncestors, spec.Child("abstractAncestors")
	if len(names) > maxAbstractAncestors {
		return field.ErrorList{field.TooMany(at, len(names), maxAbstractAncestors)}
	}
	var errs field.ErrorList
	if h.Spec.Parent != "" && len(names) > 0 {
		errs = append(errs, field.Invalid(spec.Child("parent"), h.Spec.Parent, fmt.Sprintf(
			"must be empty, because the abstract ancestors %s make the namespace a root; leave the parent out, or remove %s of the v1beta1 hierarchy",
			strings.Join(names, ", "), at)))
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			errs = append(errs, field.Duplicate(at.Index(i), name))
		}
		if name == h.Namespace {
			errs = append(errs, field.Invalid(at.Index(i), name, "must not be the name of the namespace itself; remove it"))
		}
		for _, problem := range apimachineryvalidation.ValidateNamespaceName(name, false) {
			errs = append(errs, field.Invalid(at.Index(i), name, "must be a DNS label, because it becomes a part of a label: "+problem))
		}
	}
	return errs
}
