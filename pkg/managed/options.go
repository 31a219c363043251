package managed

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Names of the flags.
const (
	LabelFlag      = "managed-namespace-label"
	AnnotationFlag = "managed-namespace-annotation"
	ExcludedFlag   = "excluded-namespace"
	IncludedFlag   = "included-namespace-regex"
	SelectorFlag   = "excluded-namespace-selector"
)

// FlagError is an error in the value of a flag, or of the field of the configuration that overrides it.
type FlagError struct {
	// Flag is its name without dashes.
	Flag string
	Err  error
}

func (e FlagError) Error() string { return "--" + e.Flag + ": " + e.Err.Error() }

// Unwrap returns the error without the flag.
func (e FlagError) Unwrap() error { return e.Err }

// Rules are the rules that the flags define. The zero value manages no key and excludes no namespace.
type Rules struct {
	Keys
	Namespaces
}

// Options are the values of the flags.
type Options struct {
	Labels, Annotations []string
	Excluded            []string
	Included            string
	Selector            string
}

// NewOptions returns the defaults.
func NewOptions() *Options { return &Options{Excluded: slices.Clone(hnc.ExcludedNamespaces)} }

// AddFlags adds the flags.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	const same = " spec.rules of the configuration overrides it; otherwise hns-apiserver and hns-propagator need the same value."
	fs.StringArrayVar(&o.Labels, LabelFlag, o.Labels,
		"Regular expression of the keys of labels that hierarchies set on namespaces and their descendants. It must match the whole key. "+
			"A managed label that is set on a namespace directly is removed. May be repeated."+same)
	fs.StringArrayVar(&o.Annotations, AnnotationFlag, o.Annotations,
		"Regular expression of the keys of annotations that hierarchies set on namespaces and their descendants. It must match the whole key. "+
			"A managed annotation that is set on a namespace directly is removed. May be repeated."+same)
	fs.StringSliceVar(&o.Excluded, ExcludedFlag, o.Excluded,
		"Name of a namespace that cannot be part of a hierarchy. May be repeated; the given names replace the default."+same)
	fs.StringVar(&o.Included, IncludedFlag, o.Included,
		"Regular expression of the names of namespaces that may be part of a hierarchy. It must match the whole name. Empty means all."+same)
	fs.StringVar(&o.Selector, SelectorFlag, o.Selector,
		"Selector of labels of namespaces that cannot be part of a hierarchy, such as hierarchy=off. Empty means none."+same)
}

// Rules validates the flags and returns the rules.
func (o *Options) Rules() (Rules, error) {
	keys, err := newKeys(o.Labels, o.Annotations)
	if err != nil {
		return Rules{}, err
	}
	namespaces, err := NewNamespaces(o.Excluded, o.Included, o.Selector)
	if err != nil {
		return Rules{}, err
	}
	for _, key := range namespaces.selectorKeys() {
		// A hierarchy could exclude its own namespaces, which would then keep the label forever.
		if keys.Label(key) {
			return Rules{}, FlagError{SelectorFlag, fmt.Errorf("label %s is managed (--%s); choose another label", key, LabelFlag)}
		}
	}
	return Rules{Keys: keys, Namespaces: namespaces}, nil
}
