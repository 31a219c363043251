package tree

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/kinds"
)

// AuthorizeRelease authorizes that a copy in a namespace becomes an ordinary object: its new owner may update it, and whoever loses control of it, the
// admin of its source, agrees. A source that is gone has no admin, so that only users with the right in all namespaces pass.
// It is refused while sources in that namespace are propagated, since the object would be overwritten or removed at once.
func (t *Tree) AuthorizeRelease(ctx context.Context, release *hnc.CopyRelease, namespace string) error {
	refused, spec := refusal(ctx, release.Name), release.Spec
	resource := schema.GroupResource{Group: spec.Group, Resource: spec.Resource}
	if slices.Contains(kinds.Enforced, resource) {
		return refused.forbidden("spec.resource: %s are always propagated, so their copies can't be released; delete the source", resource)
	}
	user, ok := genericapirequest.UserFrom(ctx)
	if !ok {
		return apierrors.NewInternalError(errNoUser)
	}
	decision, _, err := t.Authorizer.Authorize(ctx, authorizer.AttributesRecord{
		User: user, Verb: "update", Namespace: namespace, APIGroup: spec.Group, APIVersion: "*", Resource: spec.Resource, Name: spec.Name, ResourceRequest: true,
	})
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if decision != authorizer.DecisionAllow {
		return refused.forbidden("spec.name: user %q may not release %s %q in namespace %q; this needs the verb update on it", user.GetName(), resource, spec.Name, namespace)
	}
	if err := t.requireAdmin(ctx, refused, spec.Source, "source of the copy (spec.source)"); err != nil {
		return err
	}
	if t.Sources == nil {
		return nil
	}
	t.mu.RLock()
	chain := t.forest.Chain(spec.Source)
	t.mu.RUnlock()
	if mode := t.Sources.Mode(resource, chain); mode != v1beta1.Ignore {
		return refused.conflict("spec.resource: the mode of %s from namespace %q is %s, so the object would be overwritten or removed at once; "+
			"set the mode to Ignore first, in spec.resources of hncconfigurations %q or spec.propagation of the hierarchy", resource, spec.Source, mode, hnc.ConfigurationName)
	}
	return nil
}
