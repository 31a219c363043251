package tree

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// CheckPodSecurity checks that the requester may change the Pod Security labels of a namespace, if labels that are to be set on it say so: where
// these labels are managed, a hierarchy must not loosen what its writer can't change on the namespace itself.
func (t *Tree) CheckPodSecurity(ctx context.Context, object, namespace string, before, after []hnc.MetaKVP) error {
	if slices.Equal(podSecurity(before), podSecurity(after)) || ByPropagator(ctx) {
		return nil
	}
	user, ok := genericapirequest.UserFrom(ctx)
	if !ok {
		return apierrors.NewInternalError(errNoUser)
	}
	decision, _, err := t.Authorizer.Authorize(ctx, authorizer.AttributesRecord{
		User:            user,
		Verb:            "patch",
		Namespace:       namespace,
		Name:            namespace,
		APIVersion:      "v1",
		Resource:        "namespaces",
		ResourceRequest: true,
	})
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if decision == authorizer.DecisionAllow {
		return nil
	}
	return refusal(ctx, object).forbidden("spec.labels: user %q may not change the Pod Security labels of namespace %q; this needs the verb patch on namespaces %q",
		user.GetName(), namespace, namespace)
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
