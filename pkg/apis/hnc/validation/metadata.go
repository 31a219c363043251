package validation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Managed reports which labels and annotations of namespaces hierarchies may set.
type Managed interface {
	Label(key string) bool
	Annotation(key string) bool
}

// metadata is a list of labels or annotations and its field in the spec.
type metadata struct {
	field string
	pairs []hnc.MetaKVP
	label bool
}

func hierarchyMetadata(h *hnc.Hierarchy) []metadata {
	return []metadata{
		{"labels", h.Spec.Labels, true}, {"annotations", h.Spec.Annotations, false},
		{"namespaceLabels", h.Spec.NamespaceLabels, true}, {"namespaceAnnotations", h.Spec.NamespaceAnnotations, false},
	}
}

func subnamespaceMetadata(s *hnc.Subnamespace) []metadata {
	return []metadata{
		{"labels", s.Spec.Labels, true}, {"annotations", s.Spec.Annotations, false},
		{"namespaceLabels", s.Spec.NamespaceLabels, true}, {"namespaceAnnotations", s.Spec.NamespaceAnnotations, false},
	}
}

const (
	// maxPairs and maxPairsBytes bound what one object may add to each Namespace of a subtree, which has to have room
	// for the labels of all its ancestors. The number comes first: the costs of validation grow faster than the list.
	maxPairs      = 256
	maxPairsBytes = 32 << 10
)

// tooMuchMetadata returns an error if an object sets too many labels and annotations. A nil managed accepts any number:
// the propagator repeats what is stored.
func tooMuchMetadata(lists []metadata, managed Managed) field.ErrorList {
	if managed == nil {
		return nil
	}
	number, bytes := 0, 0
	for _, list := range lists {
		path := field.NewPath("spec", list.field)
		if number += len(list.pairs); number > maxPairs {
			return field.ErrorList{field.TooMany(path, number, maxPairs)}
		}
		for _, pair := range list.pairs {
			bytes += len(pair.Key) + len(pair.Value)
		}
		if bytes > maxPairsBytes {
			return field.ErrorList{field.TooLong(path, "", maxPairsBytes)}
		}
	}
	return nil
}

// validateMetadata validates the labels and annotations of namespaces. A nil managed accepts any key. Source:
// docs/spec/hnc.md 2.5.1.
func validateMetadata(lists []metadata, managed Managed) field.ErrorList {
	var errs field.ErrorList
	for _, list := range lists {
		path := field.NewPath("spec", list.field)
		what, rule, isManaged := "annotation", "managedNamespaceAnnotations", func(string) bool { return true }
		if list.label {
			what, rule = "label", "managedNamespaceLabels"
		}
		switch {
		case managed == nil:
		case list.label:
			isManaged = managed.Label
		default:
			isManaged = managed.Annotation
		}
		for _, pair := range list.pairs {
			problems := validation.IsQualifiedName(pair.Key)
			for _, problem := range problems {
				errs = append(errs, field.Invalid(path, pair.Key, problem))
			}
			if len(problems) == 0 && !isManaged(pair.Key) {
				errs = append(errs, field.Invalid(path, pair.Key,
					fmt.Sprintf("not a managed %s; remove it, or ask the administrator to add it to spec.rules.%s of hncconfigurations %q", what, rule, hnc.ConfigurationName)))
			}
			if !list.label {
				continue
			}
			for _, problem := range validation.IsValidLabelValue(pair.Value) {
				errs = append(errs, field.Invalid(path.Key(pair.Key), pair.Value, problem))
			}
		}
	}
	return errs
}
