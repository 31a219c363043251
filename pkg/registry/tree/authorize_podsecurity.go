package tree

import (
	"context"
	"slices"

	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// AuthorizePodSecurity authorizes a change of the Pod Security labels among the labels that an object sets on a namespace. Where these labels are
// managed, a hierarchy must not loosen what its writer cannot change on the namespace itself.
func (a *Authorizer) AuthorizePodSecurity(ctx context.Context, object, namespace string, before, after []hnc.MetaKVP) error {
	if slices.Equal(podSecurity(before), podSecurity(after)) || ByPropagator(ctx) {
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
	return newRejection(ctx, object).forbidden("spec.labels: user %q may not change the Pod Security labels of namespace %q; this needs the verb patch on namespaces %q",
		user, namespace, namespace)
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
