package tree

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// Propagation returns the kinds that the namespace's Hierarchy specifies, nil if it specifies none that are effective.
func (t *Tree) Propagation(name string) []v1beta1.ResourceSpec {
	h := t.Hierarchy(name)
	if h == nil || len(h.Propagation) == 0 || t.Excluded(name) {
		return nil
	}
	return h.Propagation
}

// PropagationByNamespace returns the kinds that hierarchies specify.
func (t *Tree) PropagationByNamespace() map[string][]v1beta1.ResourceSpec {
	specified := map[string][]v1beta1.ResourceSpec{}
	for name, h := range t.hierarchies {
		// Few do, and this is called often.
		if len(h.Propagation) == 0 {
			continue
		}
		if resources := t.Propagation(name); resources != nil {
			specified[name] = resources
		}
	}
	return specified
}

// SetKindConditions records the conditions of hierarchies that concern kinds, which the tree does not know. It returns
// the namespaces whose conditions have changed.
func (t *Tree) SetKindConditions(conditions map[string][]metav1.Condition) (changed []string) {
	for name, old := range t.kindConditions {
		if !slices.Equal(old, conditions[name]) {
			changed = append(changed, name)
		}
	}
	for name := range conditions {
		if t.kindConditions[name] == nil {
			changed = append(changed, name)
		}
	}
	t.kindConditions = conditions
	return changed
}

// KindConditions returns the conditions of the namespace's Hierarchy that concern kinds.
func (t *Tree) KindConditions(name string) []metav1.Condition { return t.kindConditions[name] }
