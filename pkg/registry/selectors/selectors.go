// Package selectors limits the selectors of lists and watches: they are compared with each object and each change, and
// repeated for each namespace of a subtree.
package selectors

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
)

// maxValues bounds the keys and values of a selector, and maxBytes its text.
const maxValues, maxBytes = 1000, 64 << 10

// Validate returns an API error that names the selector of a list or a watch that has more keys and values than it may
// have.
func Validate(o *internalversion.ListOptions) error {
	label, field := values(o)
	if err := validate("labelSelector", label, Label(o)); err != nil {
		return err
	}
	return validate("fieldSelector", field, Field(o))
}

// Cost returns the number of keys and values that an object may have to be compared with.
func Cost(o *internalversion.ListOptions) int {
	label, field := values(o)
	return label + field
}

// values returns how many keys and values the label selector has, and how many the field selector.
func values(o *internalversion.ListOptions) (label, field int) {
	if o.LabelSelector != nil {
		requirements, _ := o.LabelSelector.Requirements()
		label = len(requirements)
		for _, r := range requirements {
			label += len(r.ValuesUnsorted())
		}
	}
	if o.FieldSelector != nil {
		field = 2 * len(o.FieldSelector.Requirements())
	}
	return label, field
}

// Label returns the text of the label selector, without what is repeated in it; "" if it selects everything.
func Label(o *internalversion.ListOptions) string {
	if o.LabelSelector == nil {
		return ""
	}
	return o.LabelSelector.String()
}

// Field does so for the field selector.
func Field(o *internalversion.ListOptions) string {
	if o.FieldSelector == nil {
		return ""
	}
	return o.FieldSelector.String()
}

func validate(parameter string, values int, text string) error {
	switch {
	case values > maxValues:
		return apierrors.NewBadRequest(fmt.Sprintf("%s: has %d keys and values, and may have %d; list with a shorter one", parameter, values, maxValues))
	case len(text) > maxBytes:
		return apierrors.NewBadRequest(fmt.Sprintf("%s: has %d bytes, and may have %d; list with a shorter one", parameter, len(text), maxBytes))
	}
	return nil
}
