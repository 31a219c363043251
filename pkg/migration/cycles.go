package migration

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// breakCycles gives one namespace of each cycle a parent that does not exist: so the namespaces in it and below it stay
// halted, as they were, and have a condition that says what to do. No cycle can be stored.
func (t *translation) breakCycles() {
	for _, start := range slices.Sorted(maps.Keys(t.specs)) {
		seen := map[string]bool{}
		at := start
		for at != "" && !seen[at] {
			seen[at] = true
			at = t.specs[at].Parent
		}
		if at != start {
			continue
		}
		spec := t.specs[at]
		old := spec.Parent
		const suffix = "-in-cycle"
		spec.Parent = at[:min(len(at), validation.DNS1123LabelMaxLength-len(suffix))] + suffix
		t.specs[at] = spec
		t.note("namespace %s: it is its own ancestor, through its parent %s; it gets the parent %s, which does not exist, so that nothing is propagated to it or below it, as before; give it a parent: kubectl hns set %s",
			at, old, spec.Parent, at)
		t.subnamespaces = slices.DeleteFunc(t.subnamespaces, func(s *v1beta1.Subnamespace) bool { return s.Name == at })
	}
}

// order fills the hierarchies.
func (t *translation) order() {
	for _, name := range slices.Sorted(maps.Keys(t.specs)) {
		h := &v1beta1.Hierarchy{ObjectMeta: t.metadata[name], Spec: t.specs[name]}
		if _, exists := t.namespaces[h.Spec.Parent]; h.Spec.Parent != "" && !exists {
			t.orphans = append(t.orphans, h)
			continue
		}
		t.hierarchies = append(t.hierarchies, h)
	}
}
