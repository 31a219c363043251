package managed

import (
	"fmt"
	"regexp"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Namespaces says which namespaces take part in hierarchies. The zero value excludes none. It is immutable.
type Namespaces struct {
	excluded sets.Set[string]
	included *regexp.Regexp
	selector labels.Selector
}

// NewNamespaces excludes the given names, all that the pattern does not match as a whole, and all whose labels the selector
// selects. An empty pattern matches all names, and an empty selector selects nothing. Exclusion beats inclusion.
func NewNamespaces(excluded []string, included, selector string) (Namespaces, error) {
	n := Namespaces{excluded: sets.New(excluded...)}
	var err error
	if included != "" && included != ".*" {
		if n.included, err = whole(included); err != nil {
			return Namespaces{}, fmt.Errorf("--%s: %w", IncludedFlag, err)
		}
	}
	if selector != "" {
		if n.selector, err = labels.Parse(selector); err != nil {
			return Namespaces{}, fmt.Errorf("--%s: %w", SelectorFlag, err)
		}
		for _, key := range n.selected() {
			if ownDomain.MatchString(key) {
				return Namespaces{}, fmt.Errorf("--%s: label %s is written by hierarchies themselves; choose a label of your own", SelectorFlag, key)
			}
		}
	}
	return n, nil
}

// selected returns the keys that the selector looks at.
func (n Namespaces) selected() []string {
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

// Default excludes what is excluded when no flag says otherwise, and manages nothing.
func Default() Rules {
	return Rules{Namespaces: Namespaces{excluded: sets.New(hnc.ExcludedNamespaces...)}}
}

// NameExcluded says why no namespace of that name can take part in a hierarchy, whatever its labels are; "" if it can.
func (n Namespaces) NameExcluded(name string) string {
	switch {
	case n.excluded.Has(name):
		return "excluded from hierarchies by the administrator"
	case n.included != nil && !n.included.MatchString(name):
		return fmt.Sprintf("excluded from hierarchies: its name does not match %s", n.included)
	}
	return ""
}

// Excluded says why the namespace of that name and with these labels can't take part in a hierarchy; "" if it can. The
// words follow "namespace x is".
func (n Namespaces) Excluded(name string, set map[string]string) string {
	if why := n.NameExcluded(name); why != "" {
		return why
	}
	if n.selector != nil && n.selector.Matches(labels.Set(set)) {
		return fmt.Sprintf("excluded from hierarchies by its labels, which match %s", n.selector)
	}
	return ""
}
