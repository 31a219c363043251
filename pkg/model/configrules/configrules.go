// Package configrules holds the rules that a server applies: what spec.rules of the configuration means.
package configrules

import (
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
)

// Path is the field of the configuration.
var Path = field.NewPath("spec", "rules")

// Rules are the rules that a server applies. They are immutable.
type Rules struct {
	// Managed determines which namespaces are part of hierarchies, and which of their labels and annotations are
	// managed.
	Managed managedkeys.Rules
	// Copies determines what copies leave out, and which objects are never copied.
	Copies copies.Rules
	// spec is what they were made of, with defaults.
	spec *v1beta1.Rules
}

// Of returns what spec.rules of a configuration means, or the errors in it. Fields that are not set have their
// defaults; so do all if spec is nil.
func Of(spec *v1beta1.Rules) (*Rules, field.ErrorList) { return at(spec, Path) }

// Validate returns the errors in rules at a path, nil if spec is nil.
func Validate(spec *v1beta1.Rules, path *field.Path) field.ErrorList {
	_, errs := at(spec, path)
	return errs
}

func at(spec *v1beta1.Rules, path *field.Path) (*Rules, field.ErrorList) {
	rules := &Rules{spec: Defaulted(spec)}
	var errs, more field.ErrorList
	rules.Managed, errs = managedkeys.NewRules(rules.spec, path)
	rules.Copies, more = copies.NewRules(rules.spec, path)
	if errs = append(errs, more...); len(errs) > 0 {
		return nil, errs
	}
	return rules, nil
}

// Defaulted returns spec with defaults. Spec may be nil.
func Defaulted(spec *v1beta1.Rules) *v1beta1.Rules {
	c := &v1beta1.HNCConfiguration{Spec: v1beta1.HNCConfigurationSpec{Rules: spec.DeepCopy()}}
	v1beta1.SetObjectDefaults_HNCConfiguration(c)
	return c.Spec.Rules
}

// Same reports whether two specs mean the same rules.
func Same(a, b *v1beta1.Rules) bool { return equality.Semantic.DeepEqual(Defaulted(a), Defaulted(b)) }

// Default returns the rules of a configuration that has none.
func Default() *Rules {
	rules, _ := Of(nil) // the defaults are valid
	return rules
}

// Equal reports whether both are the same rules.
func (r *Rules) Equal(other *Rules) bool { return equality.Semantic.DeepEqual(r.spec, other.spec) }

// Current holds the rules that a server applies now. It is safe for concurrent use.
type Current struct{ now atomic.Pointer[Rules] }

// NewCurrent returns the default rules.
func NewCurrent() *Current {
	c := &Current{}
	c.now.Store(Default())
	return c
}

// Load returns the rules.
func (c *Current) Load() *Rules { return c.now.Load() }

// Set makes spec.rules of a configuration apply, and reports whether that changes the rules. On error the rules stay as
// they are.
func (c *Current) Set(spec *v1beta1.Rules) (changed bool, err error) {
	rules, errs := Of(spec)
	if len(errs) > 0 {
		return false, errs.ToAggregate()
	}
	return !c.now.Swap(rules).Equal(rules), nil
}
