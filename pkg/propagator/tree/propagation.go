package tree

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// Propagation returns what the namespace's Hierarchy says about kinds, nil if it says nothing that counts.
func (t *Tree) Propagation(name string) []v1beta1.ResourceSpec {
	h := t.Hierarchy(name)
	if h == nil || len(h.Propagation) == 0 || t.Excluded(name) {
		return nil
	}
	return h.Propagation
}

// SayingPropagation returns what all namespaces say about kinds that say something.
func (t *Tree) SayingPropagation() map[string][]v1beta1.ResourceSpec {
	said := map[string][]v1beta1.ResourceSpec{}
	for name, h := range t.hierarchies {
		// Few say anything, and this is asked for time and again.
		if len(h.Propagation) == 0 {
			continue
		}
		if resources := t.Propagation(name); resources != nil {
			said[name] = resources
		}
	}
	return said
}

// SetProblems records what is wrong with what namespaces say about kinds: it is for others to find out which kinds there are. It
// returns the namespaces of which this is new.
func (t *Tree) SetProblems(problems map[string][]metav1.Condition) (changed []string) {
	for name, old := range t.problems {
		if !slices.Equal(old, problems[name]) {
			changed = append(changed, name)
		}
	}
	for name := range problems {
		if t.problems[name] == nil {
			changed = append(changed, name)
		}
	}
	t.problems = problems
	return changed
}

// Problems returns what is wrong with what the namespace says about kinds.
func (t *Tree) Problems(name string) []metav1.Condition { return t.problems[name] }
