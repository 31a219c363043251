// Package modes determines in which mode the sources of a kind are propagated: what an entry of the configuration or of
// a hierarchy means, and which of them applies in a namespace.
package modes

import (
	"cmp"
	"slices"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// Policy determines how sources of a kind are propagated.
type Policy struct {
	// Mode is not empty.
	Mode v1beta1.SynchronizationMode
	// Keep leaves local objects alone that have the name of an ancestor's source.
	Keep bool
}

// New returns the policy of an entry of the configuration or of a hierarchy; onConflict is the cluster's default.
// Source: docs/spec/hnc.md 3.11.
func New(spec v1beta1.ResourceSpec, onConflict v1beta1.ConflictPolicy) Policy {
	p := Policy{Mode: spec.Mode, Keep: cmp.Or(spec.OnConflict, onConflict) == v1beta1.Keep}
	switch spec.Mode {
	case "":
		p.Mode = v1beta1.Propagate
	case v1beta1.Propagate, v1beta1.AllowPropagate, v1beta1.Remove:
	default:
		p.Mode = v1beta1.Ignore
	}
	return p
}

// Copies reports whether sources may have copies.
func (p Policy) Copies() bool { return p.Mode == v1beta1.Propagate || p.Mode == v1beta1.AllowPropagate }

// Policies determine how the sources of one kind are propagated in each namespace. A hierarchy's policy applies to the
// sources in its namespace and below, never to those above.
type Policies struct {
	// Cluster is the policy of the cluster's configuration, Ignore if that does not name the kind.
	Cluster Policy
	// Trees are the policies of the hierarchies that name the kind, by namespace.
	Trees map[string]Policy
}

// Of returns the policy for the sources of a namespace: that of the nearest namespace in its chain, which begins with
// the namespace itself.
func (p Policies) Of(chain []string) Policy {
	for _, namespace := range chain {
		if policy, ok := p.Trees[namespace]; ok {
			return policy
		}
	}
	return p.Cluster
}

// PolicyFunc returns the policy of sources as a function of their namespace, nil if there is one policy. chain
// returns a namespace and its ancestors, the namespace first.
func (p Policies) PolicyFunc(chain func(namespace string) []string) func(namespace string) Policy {
	if len(p.Trees) == 0 {
		return nil
	}
	return func(namespace string) Policy { return p.Of(chain(namespace)) }
}

// Copies reports whether any sources may have copies.
func (p Policies) Copies() bool {
	for _, policy := range p.Trees {
		if policy.Copies() {
			return true
		}
	}
	return p.Cluster.Copies()
}

// CopiesFrom reports whether sources in any namespace of a chain may have copies.
func (p Policies) CopiesFrom(chain []string) bool {
	policy := p.Cluster
	for _, namespace := range slices.Backward(chain) {
		if own, ok := p.Trees[namespace]; ok {
			policy = own
		}
		if policy.Copies() {
			return true
		}
	}
	return false
}

// Ignored reports that no source has copies, and that none are removed.
func (p Policies) Ignored() bool {
	for _, policy := range p.Trees {
		if policy.Mode != v1beta1.Ignore {
			return false
		}
	}
	return p.Cluster.Mode == v1beta1.Ignore
}
