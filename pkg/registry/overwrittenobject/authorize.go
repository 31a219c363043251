package overwrittenobject

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
)

// authorize requires a permission on the original object, which the name of a record names.
func (r *REST) authorize(ctx context.Context, verb, record string) error {
	resource, name, ok := strings.Cut(record, ":")
	if !ok {
		return apierrors.NewNotFound(hnc.Resource("overwrittenobjects"), record)
	}
	namespace, original := genericapirequest.NamespaceValue(ctx), schema.ParseGroupResource(resource)
	allowed, err := r.allows(ctx, verb, namespace, original, name)
	if err != nil || allowed {
		return err
	}
	return apierrors.NewForbidden(hnc.Resource("overwrittenobjects"), record,
		fmt.Errorf("this needs the verb %s on %s %q in namespace %q, the object that was overwritten", verb, original, name, namespace))
}

// allows reports whether the requester has a permission on original objects.
func (r *REST) allows(ctx context.Context, verb, namespace string, resource schema.GroupResource, name string) (bool, error) {
	_, allowed, err := accessreview.Requester(ctx, r.reviews, authorizer.AttributesRecord{
		Verb: verb, Namespace: namespace, APIGroup: resource.Group, APIVersion: "*", Resource: resource.Resource, Name: name,
	})
	return allowed, err
}
