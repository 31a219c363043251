package subtree

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/filters"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/internalerror"
)

// maxParallel bounds the concurrent upstream requests of one request.
const maxParallel = 8

// permissions are one caller's permissions for the requested verb on one kind.
type permissions struct {
	authorizer authorizer.Authorizer
	// attributes are those that the request would have on the kind itself.
	attributes authorizer.AttributesRecord
	// ofNamespaces is whether the object is the namespace itself.
	ofNamespaces bool
	// decisions records the decisions, unless it is nil.
	decisions *decisions
}

// permissionsFor returns the permissions that a request for the subtree of root needs, "" for the whole cluster.
func permissionsFor(ctx context.Context, a authorizer.Authorizer, k kind, root string) (permissions, error) {
	asked, err := filters.GetAuthorizerAttributes(ctx)
	if err != nil {
		return permissions{}, apierrors.NewInternalError(err)
	}
	if k.isNamespaces() && root != "" {
		// Nobody is allowed to list namespaces in a namespace, but many are allowed to get the Namespace itself.
		return permissions{authorizer: a, ofNamespaces: true, attributes: authorizer.AttributesRecord{
			User: asked.GetUser(), Verb: "get", APIGroup: k.Group, APIVersion: k.Version, Resource: k.Resource, ResourceRequest: true,
		}}, nil
	}
	fields, fieldsErr := asked.GetFieldSelector()
	labels, labelsErr := asked.GetLabelSelector()
	return permissions{authorizer: a, attributes: authorizer.AttributesRecord{
		User:                      asked.GetUser(),
		Verb:                      asked.GetVerb(),
		APIGroup:                  k.Group,
		APIVersion:                k.Version,
		Resource:                  k.Resource,
		Name:                      asked.GetName(),
		ResourceRequest:           true,
		FieldSelectorRequirements: fields, FieldSelectorParsingErr: fieldsErr,
		LabelSelectorRequirements: labels, LabelSelectorParsingErr: labelsErr,
	}}, nil
}

// allowedIn reports whether the caller is allowed in a namespace, "" for the whole cluster. The authorizer caches
// allowed decisions for a while.
func (r permissions) allowedIn(ctx context.Context, namespace string) (bool, error) {
	attributes := r.attributes
	attributes.Namespace = namespace
	if r.ofNamespaces {
		attributes.Name = namespace
	}
	asked := r.decisions.asking()
	decision, reason, err := r.authorizer.Authorize(ctx, attributes)
	if err == nil {
		r.decisions.record(namespace, asked, decision, reason)
	}
	if decision == authorizer.DecisionAllow {
		return true, nil
	}
	if err != nil {
		return false, internalerror.From(fmt.Errorf("checking the permissions of user %q: %w", r.attributes.User.GetName(), err))
	}
	return false, nil
}

// partition splits namespaces by whether the caller is allowed in them. One review suffices for callers who are
// allowed in the whole cluster.
func (r permissions) partition(ctx context.Context, namespaces []string) (allowed, denied []string, err error) {
	if len(namespaces) > 1 && r.decisions.holds(metav1.NamespaceAll) {
		return namespaces, nil, nil
	}
	if len(namespaces) > 1 && (r.decisions.due(metav1.NamespaceAll) || r.decisions.allows(metav1.NamespaceAll)) {
		if everywhere, err := r.allowedIn(ctx, metav1.NamespaceAll); err != nil || everywhere {
			return namespaces, nil, err
		}
	}
	answers := make([]bool, len(namespaces))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxParallel)
	for i, namespace := range namespaces {
		group.Go(func() (err error) {
			answers[i], err = r.allowedIn(ctx, namespace)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	for i, namespace := range namespaces {
		if answers[i] {
			allowed = append(allowed, namespace)
		} else {
			denied = append(denied, namespace)
		}
	}
	return allowed, denied, nil
}

// forbidden is the error for a caller who is allowed in none of the subtree's namespaces, or not in the whole cluster
// if root is empty.
func (r permissions) forbidden(root string) error {
	where := "in the whole cluster"
	if root != "" {
		where = fmt.Sprintf("in namespace %q or in one below it", root)
	}
	return apierrors.NewForbidden(r.resource(), "",
		fmt.Errorf("user %q needs the verb %s on %s %s", r.attributes.User.GetName(), r.attributes.Verb, r.resource(), where))
}

func (r permissions) resource() schema.GroupResource {
	return schema.GroupResource{Group: r.attributes.APIGroup, Resource: r.attributes.Resource}
}

// omittedWarning is the warning that lists namespaces in which the caller is not allowed.
func (r permissions) omittedWarning(denied []string, of int) string {
	return fmt.Sprintf("%d of %d namespaces omitted because you cannot %s %s there: %s", len(denied), of, r.attributes.Verb, r.resource(), names.List(denied, 3, ", "))
}
