package propagator

import (
	"maps"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/configuration"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// treatment is a kind and how its sources are treated.
type treatment struct {
	kind copies.Kind
	copies.Policies
}

// treatments returns the kinds that the configuration names, then those that only trees do.
func treatments(entries []configuration.Entry, trees configuration.Trees) []*treatment {
	var all []*treatment
	byKind := map[schema.GroupResource]*treatment{}
	of := func(kind copies.Kind) *treatment {
		t := byKind[kind.GroupResource()]
		if t == nil {
			t = &treatment{kind, copies.Policies{Cluster: copies.Policy{Mode: v1beta1.Ignore}, Trees: map[string]copies.Policy{}}}
			byKind[kind.GroupResource()] = t
			all = append(all, t)
		}
		return t
	}
	for _, e := range entries {
		of(e.Kind).Cluster = e.Policy
	}
	for _, namespace := range slices.Sorted(maps.Keys(trees)) {
		for _, e := range trees[namespace].Entries {
			of(e.Kind).Trees[namespace] = e.Policy
		}
	}
	return all
}

// ignored says that the kind need not be watched: nobody asks for copies, or for their removal.
func (t *treatment) ignored() bool {
	for _, policy := range t.Trees {
		if policy.Mode != v1beta1.Ignore {
			return false
		}
	}
	return t.Cluster.Mode == v1beta1.Ignore
}

// treat has a kind's sources treated as the policies say. The lock must be held.
func (p *Propagator) treat(k *kind, policies copies.Policies) {
	k.policies, k.index.Policy = policies, policies.Cluster
	k.known, k.index.PolicyOf = nil, nil
	if len(policies.Trees) == 0 {
		return
	}
	known := &sync.Map{}
	k.known = known
	k.index.PolicyOf = func(namespace string) copies.Policy {
		if policy, ok := known.Load(namespace); ok {
			return policy.(copies.Policy)
		}
		policy := policies.Of(p.tree.Chain(namespace))
		known.Store(namespace, policy)
		return policy
	}
}

// treatOtherwise does so with a kind that is treated already, and queues what may be different then. The lock must be held.
func (p *Propagator) treatOtherwise(place int, policies copies.Policies) {
	k := p.kinds[place]
	old := k.policies
	if old.Cluster == policies.Cluster && maps.Equal(old.Trees, policies.Trees) {
		return
	}
	p.treat(k, policies)
	if old.Cluster != policies.Cluster {
		p.evaluate(place)
		return
	}
	if !p.leading || !k.synced {
		return
	}
	for _, trees := range []map[string]copies.Policy{old.Trees, policies.Trees} {
		for namespace := range trees {
			before, had := old.Trees[namespace]
			if after, has := policies.Trees[namespace]; had == has && before == after {
				continue
			}
			for _, below := range p.tree.Descendants(namespace) {
				p.bulk.Add(queue.Key{Class: queue.Destination, Namespace: below})
			}
		}
	}
	p.bulk.AddAfter(queue.Key{Class: queue.Strays, Kind: place}, p.ConfigurationWindow)
}

// forgetPolicies forgets what was remembered of namespaces whose ancestors may be others now. The lock must be held.
func (p *Propagator) forgetPolicies(moved []string) {
	for _, k := range p.kinds {
		if k.known == nil {
			continue
		}
		for _, name := range moved {
			k.known.Delete(name)
		}
	}
}

// policiesMoved queues the kinds whose copies may have to go because another policy holds for their sources. The lock must be held.
func (p *Propagator) policiesMoved() {
	for place, k := range p.kinds {
		if k.known != nil {
			p.bulk.AddAfter(queue.Key{Class: queue.Strays, Kind: place}, p.ConfigurationWindow)
		}
	}
}

// strays queues the copies of a kind that are not below their source, and are not as they should be. Nothing else tells when the policy for
// their source changes.
func (p *Propagator) strays(place int) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	for o := range p.kinds[place].index.All() {
		if o.Copy && !slices.Contains(p.tree.Chain(o.Namespace), o.InheritedFrom) && p.decide(place, o.Namespace, o.Name) != nil {
			p.bulk.Add(queue.Key{Class: queue.Copy, Kind: place, Namespace: o.Namespace, Name: o.Name})
		}
	}
}

// tellTrees has the statuses of hierarchies written that tell something else of what they say about kinds. The lock must be held.
func (p *Propagator) tellTrees() {
	told := map[string][]metav1.Condition{}
	for namespace, r := range p.trees {
		problems := slices.Clone(r.Problems)
		for _, e := range r.Entries {
			k := p.kinds[p.placeOf(e.Kind.GroupResource())]
			// Otherwise the configuration tells it.
			if k.policies.Cluster.Mode == v1beta1.Ignore && k.trouble.String() != "" {
				problems = append(problems, configuration.Problem{
					Condition: hnc.ConditionOutOfSync, Reason: hnc.ReasonUnknown, Message: k.trouble.String(),
				})
			}
		}
		if len(problems) > 0 {
			told[namespace] = configuration.Conditions(problems)
		}
	}
	changed := p.tree.SetProblems(told)
	if p.leading {
		for _, namespace := range changed {
			p.changed(namespace)
		}
	}
}
