package exceptions

import (
	"errors"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Overrides control local objects that override inherited ones. The zero value allows and requests nothing.
type Overrides struct {
	// Allowed allows descendants to override the copies of this source.
	Allowed bool
	// Requested makes this object override a copy, if its source allows that.
	Requested bool
}

// ParseOverrides parses the annotations. The error names each invalid one, which allows and requests nothing; it does
// not affect where the source is propagated.
func ParseOverrides(a Annotations) (Overrides, error) {
	var o Overrides
	var errs [2]error
	o.Allowed, errs[0] = parseBool(hnc.AnnotationAllowOverride, a.AllowOverride)
	o.Requested, errs[1] = parseBool(hnc.AnnotationOverride, a.Override)
	return o, errors.Join(errs[:]...)
}
