package treerules

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apiserver/pkg/warning"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/quota/limits"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// maxQuotas is the number of quotas in a namespace. Each combination of scopes is a ResourceQuota in every namespace of
// the subtree, so users who create quotas must not be able to create any number.
const maxQuotas = 50

// AllowQuota rejects a quota in a namespace that is excluded from trees, because it has no subtree, and system
// components must not depend on quotas. It also rejects more than maxQuotas in a namespace, and those that do not fit.
// The guard compares a record that only changes of quotas in the namespace write, so that concurrent requests do not
// exceed that together, and take the room of a quota that is stored. old is nil for a new quota.
func (i *Index) AllowQuota(ctx context.Context, namespace string, q, old *hnc.HierarchicalResourceQuota) (*fence.Guard, error) {
	if old != nil && quota.Size(&q.Spec) <= quota.Size(&old.Spec) && quota.ScopeOf(&q.Spec) == quota.ScopeOf(&old.Spec) {
		return &fence.Guard{}, nil
	}
	name := q.Name
	return i.evaluate(ctx, func(s *snapshot) (*fence.Guard, error) {
		why, err := s.excluded(ctx, namespace)
		if err == nil && why != "" && old == nil {
			err = newRejection(ctx, name).forbidden("metadata.namespace: namespace %q is %s; create the quota in a namespace that isn't", namespace, why)
		}
		if err != nil {
			return nil, err
		}
		guard := &fence.Guard{}
		if err := s.compareRecords(ctx, guard, []string{limits.Quotas(namespace)}); err != nil {
			return nil, err
		}
		// The limits are not compared, so they have to be read.
		s.fresh = true
		l, err := s.limits(ctx)
		if err == nil && old == nil && l.Quotas(namespace) >= maxQuotas {
			err = newRejection(ctx, name).forbidden("metadata.namespace: namespace %q has %d quotas already, the most that a namespace may have; "+
				"set several limits in one quota, or delete others", namespace, maxQuotas)
		}
		if err != nil {
			return nil, err
		}
		return guard, s.fitQuota(ctx, newRejection(ctx, name), l, namespace, q)
	})
}

// WarnOfIgnoredLimits warns the client of limits of a quota that are not in force, because their objects are
// propagated.
func (i *Index) WarnOfIgnoredLimits(ctx context.Context, namespace string, q *hnc.HierarchicalResourceQuota) {
	chain, propagated := i.Chain(namespace), i.config.propagated()
	hard, _ := quota.InForce(q.Spec.Hard) // Validation rejects the others.
	for _, name := range slices.Sorted(maps.Keys(hard)) {
		if propagated.Lifts(name, chain) {
			warning.AddWarning(ctx, "", fmt.Sprintf("spec.hard[%s]: not in force: %s", name, quota.WhyPropagated))
		}
	}
}

// fitQuota rejects a quota that does not fit into the ResourceQuotas of its namespace together with the others there
// and above.
func (s *snapshot) fitQuota(ctx context.Context, reject rejection, l *limits.Limits, namespace string, q *hnc.HierarchicalResourceQuota) error {
	chain, err := s.ancestry(ctx, namespace)
	if err != nil {
		return err
	}
	own, shared := quota.ScopeOf(&q.Spec), false // shared: a quota above has the scope, too.
	sum, scopes := quota.Size(&q.Spec), map[quota.Scope]bool{own: true}
	for i, at := range chain {
		if i > 0 && s.index.Excluded(at) {
			break // Its quotas and those above it take no room here.
		}
		for _, other := range l.In(at) {
			if at != namespace || other.Name != q.Name {
				sum += other.Size
				scopes[other.Scope()] = true
				shared = shared || i > 0 && other.Scope() == own
			}
		}
		if i == 0 && sum > quota.MaxNamespaceSize {
			return reject.forbidden("spec: the names of resources and the scopes of all quotas in namespace %q would have %d bytes, more than %d; "+
				"limit fewer resources, or delete other quotas", namespace, sum, quota.MaxNamespaceSize)
		}
	}
	if sum > quota.MaxChainSize {
		return reject.forbidden("spec: the names of resources and the scopes of all quotas in namespace %q and above it would have %d bytes, more than %d; "+
			"limit fewer resources, or delete other quotas", namespace, sum, quota.MaxChainSize)
	}
	if len(scopes) > quota.MaxChainScopes && !shared {
		return reject.forbidden("spec: all quotas in namespace %q and above it would have %d different combinations of scopes and scopeSelector, more than %d; "+
			"use one that a quota above it has, or delete other quotas", namespace, len(scopes), quota.MaxChainScopes)
	}
	return nil
}
