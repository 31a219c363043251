package treerules

import (
	"cmp"
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/internalerror"
)

// AuthorizeRelease authorizes the conversion of a copy into an ordinary object, and returns the UID of the namespace of
// its source, "" if there is none. The requester needs the permission to update the object, and must be admin of the
// source, which loses control of it; if its namespace is gone, only a permission in all namespaces suffices. A release
// is rejected while the kind is propagated from that namespace, because the object would be overwritten or removed at
// once.
func (a *Authorizer) AuthorizeRelease(ctx context.Context, release *hnc.CopyRelease, namespace string) (source types.UID, err error) {
	reject, spec := newRejection(ctx, release.Name), release.Spec
	resource := schema.GroupResource{Group: spec.Group, Resource: spec.Resource}
	if slices.Contains(kinds.Enforced, resource) {
		return "", reject.forbidden("spec.resource: %s are always propagated, so their copies can't be released; delete the source", resource)
	}
	user, allowed, err := a.allows(ctx, authorizer.AttributesRecord{
		Verb: "update", Namespace: namespace, APIGroup: spec.Group, APIVersion: "*", Resource: spec.Resource, Name: spec.Name,
	})
	if err != nil {
		return "", err
	}
	if !allowed {
		return "", reject.forbidden("spec.name: user %q may not release %s %q in namespace %q; this needs the verb update on it", user, resource, spec.Name, namespace)
	}
	// An admin of a later namespace of that name is none of the source. The rejection does not say whether it is gone.
	const role = "source of the copy (spec.source)"
	switch ns, err := a.index.LiveNamespace(ctx, spec.Source); {
	case apierrors.IsNotFound(err):
		if user, allowed, err := a.isAdmin(ctx, ""); err != nil || !allowed {
			return "", cmp.Or(err, reject.notAdmin(user, spec.Source, role))
		}
	case err != nil:
		return "", internalerror.From(err)
	default:
		if err := a.requireAdmin(ctx, reject, spec.Source, role); err != nil {
			return "", err
		}
		source = ns.UID
	}
	if a.config.Sources == nil {
		return source, nil
	}
	if !a.config.Sources.ModesKnown() {
		return "", modesUnread()
	}
	if mode := a.config.Sources.Mode(resource, a.index.Chain(spec.Source)); mode != v1beta1.Ignore {
		return "", reject.conflict("spec.resource: the mode of %s from namespace %q is %s, so the object would be overwritten or removed at once; "+
			"set the mode to Ignore first, in spec.resources of hncconfigurations %q or spec.propagation of the hierarchy", resource, spec.Source, mode, hnc.ConfigurationName)
	}
	return source, nil
}
