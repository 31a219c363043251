package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/origin"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/inforce"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
)

// readRules reads the rules of the configuration, and whether they exclude the namespace.
func readRules(ctx context.Context, c *Clients, q *origin.Question) error {
	namespace := q.Chain[0].Name
	config, err := GetConfiguration(ctx, c)
	switch {
	case apierrors.IsForbidden(err):
		q.RulesUnread = "missing permission: " + missingPermission(err)
	case err != nil:
		return err
	default:
		q.Rules = inforce.Defaulted(config.Spec.Rules)
	}
	if q.Rules == nil {
		// The propagator labels all namespaces that it does not exclude.
		if q.Labels[hnc.LabelIncludedNamespace] == "" && q.Excluded == "" {
			q.Excluded = "excluded from hierarchies, or not labeled yet: it has no label " + hnc.LabelIncludedNamespace
		}
		return nil
	}
	rules, errs := inforce.Of(q.Rules)
	if len(errs) > 0 {
		return errs.ToAggregate()
	}
	if why := rules.Managed.Excluded(namespace, q.Labels); why != "" {
		q.Excluded = why
	}
	return nil
}

// readModes determines how the kind is propagated from each namespace of the chain: by the nearest hierarchy, upward,
// with an entry for the kind, or by the cluster's configuration. A hierarchy that cannot be read has no entries.
func readModes(ctx context.Context, c *Clients, mapper meta.RESTMapper, q *origin.Question, hierarchies map[string]*v1beta1.Hierarchy) error {
	matches := resolvesTo(mapper, q.Resource)
	mode, onConflict, err := readMode(ctx, c, q.Resource, matches)
	if err != nil {
		return err
	}
	q.Cluster = mode
	enforced := slices.Contains(kinds.Enforced, q.Resource)
	for i := len(q.Chain) - 1; i >= 0; i-- {
		var own []v1beta1.ResourceSpec
		if h := hierarchies[q.Chain[i].Name]; h != nil {
			own = h.Spec.Propagation
		}
		if at := slices.IndexFunc(own, matches); at >= 0 && !enforced {
			entry := own[at]
			mode = origin.Mode{Configured: true, Mode: entry.Mode, Keep: cmp.Or(entry.OnConflict, onConflict) == v1beta1.Keep}
			if mode.Mode == "" {
				mode.Mode = v1beta1.Propagate
			}
		}
		q.Chain[i].Mode = mode
	}
	return nil
}

// readMode reads how the cluster's configuration propagates the kind, and its default for entries without onConflict.
// matches reports whether an entry is for the kind.
func readMode(ctx context.Context, c *Clients, resource schema.GroupResource, matches func(v1beta1.ResourceSpec) bool) (origin.Mode, v1beta1.ConflictPolicy, error) {
	if slices.Contains(kinds.Enforced, resource) {
		return origin.Mode{Configured: true, Mode: v1beta1.Propagate}, "", nil
	}
	config, err := GetConfiguration(ctx, c)
	if apierrors.IsForbidden(err) {
		return origin.Mode{Unread: "missing permission: " + missingPermission(err)}, "", nil
	}
	if err != nil {
		return origin.Mode{}, "", err
	}
	var mode origin.Mode
	for _, r := range config.Status.Resources {
		if r.Group == resource.Group && r.Resource == resource.Resource {
			mode.Configured, mode.Mode = true, r.Mode
		}
	}
	if at := slices.IndexFunc(config.Spec.Resources, matches); at >= 0 {
		mode.Keep = cmp.Or(config.Spec.Resources[at].OnConflict, config.Spec.OnConflict) == v1beta1.Keep
		if !mode.Configured {
			mode.Unread = fmt.Sprintf("the configuration lists %s, but that has no effect (yet); see: kubectl hns config describe", resource)
		}
	}
	return mode, config.Spec.OnConflict, nil
}
