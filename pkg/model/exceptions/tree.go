package exceptions

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// parseTree parses names of namespaces separated by commas: x stands for x and its descendants, !x for all other
// namespaces. At most one name may lack the "!".
func parseTree(value string) (labels.Selector, error) {
	if value == "" {
		return nil, nil
	}
	if err := checkSize(hnc.AnnotationTreeSelect, value); err != nil {
		return nil, err
	}
	refuse := func(format string, args ...any) (labels.Selector, error) {
		return nil, fmt.Errorf("annotation %s: %s; use names of namespaces separated by commas, with ! before all but one",
			hnc.AnnotationTreeSelect, fmt.Sprintf(format, args...))
	}
	var requirements []labels.Requirement
	included := ""
	for i, item := range strings.Split(value, ",") {
		item = strings.TrimSpace(item)
		name, negated := strings.CutPrefix(item, "!")
		if item == "" {
			return refuse("item %d is empty", i+1)
		}
		if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
			return refuse("%q is not a valid namespace name", names.Shorten(name))
		}
		operator := selection.DoesNotExist
		if !negated {
			if included != "" {
				return refuse("no namespace is below both %q and %q", included, name)
			}
			included, operator = name, selection.Exists
		}
		requirement, err := labels.NewRequirement(hnc.TreeLabel(name), operator, nil)
		if err != nil {
			return refuse("%v", err)
		}
		requirements = append(requirements, *requirement)
	}
	return labels.NewSelector().Add(requirements...), nil
}
