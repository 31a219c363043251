package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/origin"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/configrules"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/modes"
)

// readRules reads the rules of the configuration, and whether they exclude the namespace.
func readRules(ctx context.Context, c *Clients, q *origin.Question) error {
	config, err := GetConfiguration(ctx, c)
	if apierrors.IsForbidden(err) {
		q.RulesUnread = "missing permission: " + missingPermission(err)
		// The propagator labels all namespaces that it does not exclude.
		if q.Labels[hnc.LabelIncludedNamespace] == "" && q.Excluded == "" {
			q.Excluded = "excluded from hierarchies, or not labeled yet: it has no label " + hnc.LabelIncludedNamespace
		}
		return nil
	}
	if err != nil {
		return err
	}
	rules, errs := configrules.Of(config.Spec.Rules)
	if len(errs) > 0 {
		return errs.ToAggregate()
	}
	q.Rules, q.Excluded = &rules.Copies, cmp.Or(rules.Managed.Excluded(q.Chain[0].Name, q.Labels), q.Excluded)
	return nil
}

// readModes determines how the kind is propagated from each namespace of the chain: by the nearest hierarchy, upward,
// with an entry for the kind, or by the cluster's configuration. A hierarchy that cannot be read has no entries.
func readModes(ctx context.Context, c *Clients, mapper meta.RESTMapper, q *origin.Question, hierarchies map[string]*v1beta1.Hierarchy) error {
	config, err := GetConfiguration(ctx, c)
	switch {
	case apierrors.IsForbidden(err):
		config, q.Cluster.Unread = &v1beta1.HNCConfiguration{}, "missing permission: "+missingPermission(err)
	case err != nil:
		return err
	}
	find, _ := kinds.Once(func(group, resource string) (*meta.RESTMapping, error) { return kinds.Resolve(mapper, group, resource) }, nil)
	trees := map[string]kinds.Resolution{}
	for namespace, h := range hierarchies {
		trees[namespace] = kinds.ResolveEntries(h.Spec.Propagation, config.Spec.OnConflict, find)
	}
	var policies modes.Policies
	for _, k := range kinds.All(kinds.ResolveEntries(config.Spec.Resources, config.Spec.OnConflict, find), trees) {
		if k.Kind.GroupResource() == q.Resource {
			policies = k.Policies
		}
	}
	matches := resolvesTo(mapper, q.Resource)
	inEffect := slices.IndexFunc(config.Status.Resources, func(r v1beta1.ResourceStatus) bool {
		return matches(v1beta1.ResourceSpec{Group: r.Group, Resource: r.Resource})
	})
	switch {
	case slices.Contains(kinds.Enforced, q.Resource):
		q.Cluster = origin.Mode{Policy: policies.Cluster}
	case inEffect >= 0:
		q.Cluster.Policy = modes.Policy{Mode: config.Status.Resources[inEffect].Mode, Keep: policies.Cluster.Keep}
	case slices.ContainsFunc(config.Spec.Resources, matches):
		q.Cluster.Unread = fmt.Sprintf("the configuration lists %s, but that has no effect (yet); see: kubectl hns config describe", q.Resource)
	}
	policies.Cluster = q.Cluster.Policy
	chain := make([]string, len(q.Chain))
	for i, at := range slices.Backward(q.Chain) {
		chain[i] = at.Name
		q.Chain[i].Mode = q.Cluster
		if policy := policies.Of(chain[i:]); policy.Mode != "" {
			q.Chain[i].Mode = origin.Mode{Policy: policy}
		}
	}
	return nil
}
