package migration

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/forest"
)

// breakCycles gives one namespace of each cycle a parent that does not exist: so the namespaces in it and below it stay
// halted, as they were, and have a condition that says what to do. No cycle can be stored.
func (t *translation) breakCycles() {
	f := forest.New(nil)
	for name, spec := range t.specs {
		f.SetParent(name, spec.Parent)
	}
	for _, at := range f.Names() {
		if f.Cycle(at) == nil {
			continue
		}
		spec := t.specs[at]
		old := spec.Parent
		spec.Parent = t.nonexistent(at, "-in-cycle")
		t.specs[at] = spec
		f.SetParent(at, "")
		t.note("namespace %s: it is its own ancestor, through its parent %s; it gets the parent %s, which does not exist, so that nothing is propagated to it or below it, as before; give it a parent: kubectl hns set %s",
			at, old, spec.Parent, at)
		t.subnamespaces = slices.DeleteFunc(t.subnamespaces, func(s *v1beta1.Subnamespace) bool { return s.Name == at })
	}
}

// nonexistent returns the name of no namespace: a namespace with this parent keeps what it has, until it gets another.
func (t *translation) nonexistent(like, suffix string) string {
	for {
		name := like[:min(len(like), validation.DNS1123LabelMaxLength-len(suffix))] + suffix
		if _, exists := t.namespaces[name]; !exists {
			return name
		}
		suffix += "-x"
	}
}

// order fills the hierarchies.
func (t *translation) order() {
	for _, name := range slices.Sorted(maps.Keys(t.specs)) {
		h := &v1beta1.Hierarchy{ObjectMeta: t.metadata[name], Spec: t.specs[name]}
		t.parents[name] = h.Spec.Parent
		if _, exists := t.namespaces[h.Spec.Parent]; h.Spec.Parent != "" && !exists {
			t.orphans = append(t.orphans, h)
			continue
		}
		t.hierarchies = append(t.hierarchies, h)
	}
}
