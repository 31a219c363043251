package subtree

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/filters"
)

// parallel is how many requests are made at a time for one.
const parallel = 8

// rights are those of one caller to do with a kind what was asked for.
type rights struct {
	authorizer authorizer.Authorizer
	// attributes are those of the request, were it made to the kind itself.
	attributes authorizer.AttributesRecord
}

func rightsOf(ctx context.Context, a authorizer.Authorizer, k kind) (rights, error) {
	asked, err := filters.GetAuthorizerAttributes(ctx)
	if err != nil {
		return rights{}, apierrors.NewInternalError(err)
	}
	fields, fieldsErr := asked.GetFieldSelector()
	labels, labelsErr := asked.GetLabelSelector()
	return rights{a, authorizer.AttributesRecord{
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

// in says whether the caller may do it in a namespace, "" for the whole cluster. The authorizer remembers what was allowed
// for ten seconds.
func (r rights) in(ctx context.Context, namespace string) (bool, error) {
	attributes := r.attributes
	attributes.Namespace = namespace
	decision, _, err := r.authorizer.Authorize(ctx, attributes)
	if decision == authorizer.DecisionAllow {
		return true, nil
	}
	if err != nil {
		return false, apierrors.NewInternalError(fmt.Errorf("kube-apiserver can't be asked for the rights of user %q: %w", r.attributes.User.GetName(), err))
	}
	return false, nil
}

// among divides namespaces by whether the caller may do it there. Who may do it in the whole cluster is asked about once.
func (r rights) among(ctx context.Context, namespaces []string) (allowed, denied []string, err error) {
	if len(namespaces) > 1 {
		if everywhere, err := r.in(ctx, metav1.NamespaceAll); err != nil || everywhere {
			return namespaces, nil, err
		}
	}
	answers := make([]bool, len(namespaces))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i, namespace := range namespaces {
		group.Go(func() (err error) {
			answers[i], err = r.in(ctx, namespace)
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

// refused is the error for who may do it in none of the subtree's namespaces, or not in the cluster if there is no root.
func (r rights) refused(root string) error {
	where := "in the whole cluster"
	if root != "" {
		where = fmt.Sprintf("in namespace %q or in one below it", root)
	}
	return apierrors.NewForbidden(r.resource(), "",
		fmt.Errorf("user %q needs the verb %s on %s %s", r.attributes.User.GetName(), r.attributes.Verb, r.resource(), where))
}

func (r rights) resource() schema.GroupResource {
	return schema.GroupResource{Group: r.attributes.APIGroup, Resource: r.attributes.Resource}
}

// leftOut is the warning about namespaces where the caller may not do it.
func (r rights) leftOut(denied []string, of int) string {
	names := strings.Join(denied[:min(len(denied), 3)], ", ")
	if more := len(denied) - 3; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%d of %d namespaces left out, where you may not %s %s: %s", len(denied), of, r.attributes.Verb, r.resource(), names)
}
