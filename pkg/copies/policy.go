package copies

import (
	"cmp"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// Policy says how sources of a kind are treated.
type Policy struct {
	// Mode is not empty.
	Mode v1beta1.SynchronizationMode
	// Keep leaves local objects alone that an ancestor has a source for.
	Keep bool
}

// NewPolicy returns what an entry of a configuration or of a hierarchy asks for; onConflict is the cluster's default. Source: spec/hnc.md 3.11.
func NewPolicy(spec v1beta1.ResourceSpec, onConflict v1beta1.ConflictPolicy) Policy {
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

// copies says whether sources may have copies.
func (p Policy) copies() bool { return p.Mode == v1beta1.Propagate || p.Mode == v1beta1.AllowPropagate }

// Policies say how the sources of one kind are treated wherever they are. What a hierarchy says is about the sources in its namespace and
// below, never about what comes from above.
type Policies struct {
	// Cluster is what the cluster's configuration says, Ignore if it does not name the kind.
	Cluster Policy
	// Trees is what the hierarchies of namespaces say that name the kind.
	Trees map[string]Policy
}

// Of returns the policy of the sources of a namespace: what the nearest namespace of its chain says, the namespace itself first, and the
// root last.
func (p Policies) Of(chain []string) Policy {
	for _, namespace := range chain {
		if policy, ok := p.Trees[namespace]; ok {
			return policy
		}
	}
	return p.Cluster
}

// policyOf returns the policy of the sources of a namespace.
func (x *Index) policyOf(namespace string) Policy {
	if x.PolicyOf != nil {
		return x.PolicyOf(namespace)
	}
	return x.Policy
}
