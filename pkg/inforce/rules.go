package inforce

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/managed"
)

// Rules are the rules that a server applies. They are immutable.
type Rules struct {
	// Managed determines which namespaces are part of hierarchies, and which of their labels and annotations are
	// managed.
	Managed managed.Rules
	// Copies determines what copies leave out, and which objects are never copied.
	Copies copies.Rules
	// Report describes all of them, for the status of the configuration.
	Report *v1beta1.Rules
	// Overridden are the flags that the server was started with and that the configuration overrides.
	Overridden []string
}

// Equal reports whether both are the same rules.
func (r *Rules) Equal(other *Rules) bool {
	return reflect.DeepEqual(r.Report, other.Report) && slices.Equal(r.Overridden, other.Overridden)
}

// Flags are a server's flags that define rules.
type Flags struct {
	Managed *managed.Options
	Copies  *copies.Options
	// set is where the flags were added, nil before.
	set *pflag.FlagSet
}

// NewFlags returns the defaults.
func NewFlags() *Flags { return &Flags{Managed: managed.NewOptions(), Copies: copies.NewOptions()} }

// AddFlags adds the flags.
func (f *Flags) AddFlags(set *pflag.FlagSet) {
	f.set = set
	f.Managed.AddFlags(set)
	f.Copies.AddFlags(set)
}

// Validate returns the errors in the flags.
func (f *Flags) Validate() error {
	_, err := f.With(nil)
	return err
}

// flags are the names of the flags by the fields of v1beta1.Rules that override them.
var flags = map[string]string{
	"excludedNamespaces": managed.ExcludedFlag, "includedNamespaceRegex": managed.IncludedFlag, "excludedNamespaceSelector": managed.SelectorFlag,
	"managedNamespaceLabels": managed.LabelFlag, "managedNamespaceAnnotations": managed.AnnotationFlag,
	"noPropagationLabels": copies.NoPropagationFlag, "unpropagatedLabels": copies.UnpropagatedLabelFlag,
	"unpropagatedAnnotations": copies.UnpropagatedAnnotationFlag, "stripTrackingMetadata": copies.StripTrackingFlag,
}

// With returns the rules for spec.rules of a configuration: its fields that are set replace the flags. It returns a
// managed.FlagError if one of them is invalid.
func (f *Flags) With(spec *v1beta1.Rules) (*Rules, error) {
	m, c := *f.Managed, *f.Copies
	if spec != nil {
		override(&m.Excluded, spec.ExcludedNamespaces)
		override(&m.Labels, spec.ManagedNamespaceLabels)
		override(&m.Annotations, spec.ManagedNamespaceAnnotations)
		override(&c.NoPropagation, spec.NoPropagationLabels)
		override(&c.UnpropagatedLabels, spec.UnpropagatedLabels)
		override(&c.UnpropagatedAnnotations, spec.UnpropagatedAnnotations)
		if spec.IncludedNamespaceRegex != "" {
			m.Included = spec.IncludedNamespaceRegex
		}
		if spec.ExcludedNamespaceSelector != "" {
			m.Selector = spec.ExcludedNamespaceSelector
		}
		if spec.StripTrackingMetadata != nil {
			c.StripTracking = *spec.StripTrackingMetadata
		}
	}
	rules := &Rules{Report: Of(&m, &c)}
	var err error
	if rules.Managed, err = m.Rules(); err != nil {
		return nil, err
	}
	if rules.Copies, err = c.Rules(); err != nil {
		return nil, err
	}
	rules.Overridden = f.overridden(rules.Report)
	return rules, nil
}

func override(flag *[]string, values []string) {
	if len(values) > 0 {
		*flag = values
	}
}

// overridden returns the flags that were given and have other values than the rules in force, sorted.
func (f *Flags) overridden(report *v1beta1.Rules) []string {
	if f.set == nil {
		return nil
	}
	given, now := Fields(Of(f.Managed, f.Copies)), Fields(report)
	var names []string
	for name, flag := range flags {
		if f.set.Changed(flag) && !reflect.DeepEqual(given[name], now[name]) {
			names = append(names, "--"+flag)
		}
	}
	slices.Sort(names)
	return names
}

// Given returns the rules of the flags that were given, nil if there are none.
func (f *Flags) Given() *v1beta1.Rules {
	given := Fields(Of(f.Managed, f.Copies))
	maps.DeleteFunc(given, func(name string, _ any) bool { return f.set == nil || !f.set.Changed(flags[name]) })
	if len(given) == 0 {
		return nil
	}
	rules := &v1beta1.Rules{}
	if content, err := json.Marshal(given); err == nil {
		_ = json.Unmarshal(content, rules) // Fields did the opposite
	}
	return rules
}

// ValidateSpec returns all errors in spec.rules of a configuration, for a server with these flags.
func (f *Flags) ValidateSpec(spec *v1beta1.Rules, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	values := Fields(spec)
	check := func(spec *v1beta1.Rules) {
		_, err := f.With(spec)
		var invalid managed.FlagError
		if !errors.As(err, &invalid) {
			return
		}
		for name, flag := range flags {
			if flag == invalid.Flag {
				errs = append(errs, field.Invalid(at.Child(name), values[name], invalid.Err.Error()))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		var alone v1beta1.Rules
		content, err := json.Marshal(map[string]any{name: values[name]})
		if err != nil || json.Unmarshal(content, &alone) != nil {
			return field.ErrorList{field.InternalError(at.Child(name), err)}
		}
		check(&alone)
	}
	if len(errs) == 0 {
		check(spec)
	}
	return errs
}

// Current holds the rules that a server applies now. It is safe for concurrent use.
type Current struct {
	*Flags
	now atomic.Pointer[Rules]
}

// NewCurrent returns the rules of the flags.
func NewCurrent(flags *Flags) (*Current, error) {
	c := &Current{Flags: flags}
	_, err := c.Set(nil)
	return c, err
}

// Load returns the rules.
func (c *Current) Load() *Rules { return c.now.Load() }

// Set makes spec.rules of a configuration apply, and reports whether that changes the rules. On error the rules stay as
// they are.
func (c *Current) Set(spec *v1beta1.Rules) (changed bool, err error) {
	rules, err := c.With(spec)
	if err != nil {
		return false, err
	}
	old := c.now.Swap(rules)
	return old == nil || !old.Equal(rules), nil
}
