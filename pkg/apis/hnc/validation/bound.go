package validation

import (
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// maxErrors is how many errors about one object are returned.
const maxErrors = 20

// Bound returns the first errors about an object, with the beginnings of the values that they quote, except structs, and
// how many there are besides. Kubernetes quotes values whole, in a message and again in its causes, whose parts it copies
// for each error: rejecting an object would cost many times what the object has.
func Bound(errs field.ErrorList) field.ErrorList {
	if more := len(errs) - maxErrors; more > 0 {
		root, _, _ := strings.Cut(errs[0].Field, ".")
		rest := field.Invalid(field.NewPath(root), field.OmitValueType{}, fmt.Sprintf("has %d more errors, which are not listed", more))
		errs = append(errs[:maxErrors:maxErrors], rest)
	}
	for _, err := range errs {
		err.Field = names.Truncate(err.Field, names.MaxText)
		err.Detail = names.Truncate(err.Detail, names.MaxText)
		switch value := reflect.Indirect(reflect.ValueOf(err.BadValue)); value.Kind() {
		case reflect.String:
			err.BadValue = names.Shorten(value.String())
		case reflect.Slice, reflect.Map, reflect.Array:
			if value.Type().Elem().Kind() == reflect.Struct {
				err.BadValue = field.OmitValueType{}
			} else {
				err.BadValue = names.Truncate(fmt.Sprintf("%q", value), names.MaxText)
			}
		case reflect.Struct:
			err.BadValue = field.OmitValueType{}
		}
	}
	return errs
}
