package managedkeys

import (
	"fmt"
	"regexp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Namespaces determines which namespaces are included in hierarchies. The zero value excludes none. It is immutable.
type Namespaces struct {
	excluded sets.Set[string]
	included *regexp.Regexp
	selector labels.Selector
}

// newNamespaces excludes the given names, names that the anchored pattern does not match, and namespaces that the
// selector selects. An empty pattern matches all names, and no selector selects nothing. Exclusion takes precedence.
func newNamespaces(excluded []string, included string, selector *metav1.LabelSelector, at *field.Path) (Namespaces, field.ErrorList) {
	n := Namespaces{excluded: sets.New(excluded...)}
	var errs field.ErrorList
	if included != "" && included != ".*" {
		var err error
		if n.included, err = compileAnchored(included); err != nil {
			errs = append(errs, field.Invalid(at.Child("includedNamespaceRegex"), included, err.Error()))
		}
	}
	if selector == nil {
		return n, errs
	}
	at = at.Child("excludedNamespaceSelector")
	var err error
	if n.selector, err = metav1.LabelSelectorAsSelector(selector); err != nil {
		return n, append(errs, field.Invalid(at, metav1.FormatLabelSelector(selector), err.Error()))
	}
	if n.selector.Empty() {
		return n, append(errs, field.Invalid(at, "", "selects all namespaces; leave it out to select none"))
	}
	for _, key := range n.selectorKeys() {
		if ownDomain.MatchString(key) {
			errs = append(errs, field.Invalid(at, key, "this label is reserved; choose another label"))
		}
	}
	return n, errs
}

// selectorKeys returns the keys in the selector.
func (n Namespaces) selectorKeys() []string {
	if n.selector == nil {
		return nil
	}
	var keys []string
	requirements, _ := n.selector.Requirements()
	for _, r := range requirements {
		keys = append(keys, r.Key())
	}
	return keys
}

// Default returns the default exclusions and manages nothing.
func Default() Rules {
	return Rules{Namespaces: Namespaces{excluded: sets.New(hnc.ExcludedNamespaces...)}}
}

// Listed reports whether the namespace of that name is excluded by its name alone.
func (n Namespaces) Listed(name string) bool { return n.excluded.Has(name) }

// NameExcluded returns why namespaces with that name are excluded regardless of their labels; "" if they are not.
func (n Namespaces) NameExcluded(name string) string {
	switch {
	case n.excluded.Has(name):
		return "excluded from hierarchies by the administrator"
	case n.included != nil && !n.included.MatchString(name):
		return fmt.Sprintf("excluded from hierarchies: its name does not match %s", n.included)
	}
	return ""
}

// Excluded returns why the namespace is excluded from hierarchies, as a phrase that follows "namespace x is"; "" if
// it is included.
func (n Namespaces) Excluded(name string, set map[string]string) string {
	if why := n.NameExcluded(name); why != "" {
		return why
	}
	if n.selector != nil && n.selector.Matches(labels.Set(set)) {
		return fmt.Sprintf("excluded from hierarchies by its labels, which match %s", n.selector)
	}
	return ""
}
