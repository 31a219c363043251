package treerules

import (
	"context"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
)

// SetLabels are the labels that a Hierarchy or a Subnamespace sets: those that descendants inherit, and those of the
// namespace alone.
type SetLabels struct{ Labels, NamespaceLabels []hnc.MetaKVP }

// AuthorizePodSecurity authorizes a change of the Pod Security labels among the labels that an object sets on a
// namespace. Where these labels are managed, a hierarchy must not loosen what its writer cannot change on the namespace
// itself. A label that descendants do not inherit any more is a change, too.
func (a *Authorizer) AuthorizePodSecurity(ctx context.Context, object, namespace string, before, after SetLabels) error {
	if slices.Equal(podSecurity(before.Labels), podSecurity(after.Labels)) && slices.Equal(podSecurity(before.NamespaceLabels), podSecurity(after.NamespaceLabels)) {
		return nil
	}
	return a.requirePodSecurity(ctx, newRejection(ctx, object), "spec.labels", namespace)
}

// requirePodSecurity requires the permission to change the Pod Security labels of a namespace.
func (a *Authorizer) requirePodSecurity(ctx context.Context, reject rejection, field, namespace string) error {
	if accessreview.ByPropagator(ctx) {
		return nil
	}
	user, allowed, err := a.allows(ctx, authorizer.AttributesRecord{
		Verb:       "patch",
		Namespace:  namespace,
		Name:       namespace,
		APIVersion: "v1",
		Resource:   "namespaces",
	})
	if err != nil || allowed {
		return err
	}
	return reject.forbidden("%s: user %q may not change the Pod Security labels of namespace %q; this needs the verb patch on namespaces %q",
		field, user, namespace, namespace)
}

// authorizePodSecurityMove authorizes a move that changes the Pod Security labels that a namespace and its descendants
// get from hierarchies. The chains are those of its current and of its new parent.
func (a *Authorizer) authorizePodSecurityMove(ctx context.Context, s *snapshot, reject rejection, field, name string, from, to []string) error {
	if a.hierarchies == nil || accessreview.ByPropagator(ctx) || !slices.ContainsFunc(hnc.PodSecurityLabels, a.config.Rules().Label) {
		return nil
	}
	own, err := a.podSecurityOf(ctx, s, name)
	if err != nil {
		return err
	}
	before, err := a.podSecurityBelow(ctx, s, own, from)
	if err != nil {
		return err
	}
	after, err := a.podSecurityBelow(ctx, s, own, to)
	if err != nil {
		return err
	}
	if maps.Equal(before.passed, after.passed) && maps.Equal(before.namespace, after.namespace) {
		return nil
	}
	return a.requirePodSecurity(ctx, reject, field, name)
}

// podSecurityLabels are the managed Pod Security labels of a namespace, and those that it passes on to its descendants.
type podSecurityLabels struct{ namespace, passed map[string]string }

// podSecurityBelow returns the labels of a namespace that sets its own below the given chain, of which the highest
// wins.
func (a *Authorizer) podSecurityBelow(ctx context.Context, s *snapshot, own podSecurityLabels, chain []string) (podSecurityLabels, error) {
	all := podSecurityLabels{maps.Clone(own.namespace), maps.Clone(own.passed)}
	for _, at := range chain {
		above, err := a.podSecurityOf(ctx, s, at)
		if err != nil {
			return podSecurityLabels{}, err
		}
		maps.Copy(all.namespace, above.passed)
		maps.Copy(all.passed, above.passed)
	}
	return all, nil
}

// podSecurityOf returns the labels that the hierarchy of a namespace sets, and an external namespace itself.
func (a *Authorizer) podSecurityOf(ctx context.Context, s *snapshot, name string) (podSecurityLabels, error) {
	own := podSecurityLabels{map[string]string{}, map[string]string{}}
	h, err := a.hierarchies(ctx, name)
	if err != nil && !apierrors.IsNotFound(err) {
		return own, err
	}
	set := func(labels map[string]string, pairs []hnc.MetaKVP) {
		for _, pair := range podSecurity(pairs) {
			if a.config.Rules().Label(pair.Key) {
				labels[pair.Key] = pair.Value
			}
		}
	}
	if err == nil {
		set(own.passed, h.Spec.Labels)
		set(own.namespace, h.Spec.Labels)
		set(own.namespace, h.Spec.NamespaceLabels)
	}
	namespace, err := s.namespace(ctx, name)
	if err != nil || namespace == nil || !managedkeys.External(namespace.Annotations) {
		return own, err
	}
	for _, key := range hnc.PodSecurityLabels {
		if value, ok := namespace.Labels[key]; ok && a.config.Rules().Label(key) {
			own.passed[key], own.namespace[key] = value, value
		}
	}
	return own, nil
}

func podSecurity(labels []hnc.MetaKVP) []hnc.MetaKVP {
	var found []hnc.MetaKVP
	for _, pair := range labels {
		if slices.Contains(hnc.PodSecurityLabels, pair.Key) {
			found = append(found, pair)
		}
	}
	return found
}
