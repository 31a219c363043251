package managedkeys

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// Rules are what spec.rules of the configuration says of namespaces. The zero value manages no key and excludes no
// namespace.
type Rules struct {
	Keys
	Namespaces
}

// NewRules returns the rules, or the errors in them, whose fields are below at.
func NewRules(spec *v1beta1.Rules, at *field.Path) (Rules, field.ErrorList) {
	keys, errs := newKeys(spec.ManagedNamespaceLabels, spec.ManagedNamespaceAnnotations, at)
	namespaces, more := newNamespaces(spec.ExcludedNamespaces, spec.IncludedNamespaceRegex, spec.ExcludedNamespaceSelector, at)
	if errs = append(errs, more...); len(errs) > 0 {
		return Rules{}, errs
	}
	for _, key := range namespaces.selectorKeys() {
		// A hierarchy could exclude its own namespaces, which would then keep the label forever.
		if keys.Label(key) {
			return Rules{}, field.ErrorList{field.Invalid(at.Child("excludedNamespaceSelector"), key, "this label is managed (managedNamespaceLabels); choose another label")}
		}
	}
	return Rules{Keys: keys, Namespaces: namespaces}, nil
}
