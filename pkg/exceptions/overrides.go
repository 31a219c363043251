package exceptions

import (
	"errors"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Overrides say who may have an object of its own in the place of an inherited one. The zero value allows nothing and asks for nothing.
type Overrides struct {
	// Allowed says that objects below may take the place of the copies of this source.
	Allowed bool
	// Asked says that this object takes the place of a copy, if its source allows that.
	Asked bool
}

// ParseOverrides reads the annotations. One that can't be read allows nothing and asks for nothing, and is named by the error; the source
// goes where it would go without it.
func ParseOverrides(a Annotations) (Overrides, error) {
	var o Overrides
	var errs [2]error
	o.Allowed, errs[0] = parseBool(hnc.AnnotationAllowOverride, a.AllowOverride)
	o.Asked, errs[1] = parseBool(hnc.AnnotationOverride, a.Override)
	return o, errors.Join(errs[:]...)
}
