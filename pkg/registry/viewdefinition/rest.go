package viewdefinition

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/inflight"
)

// The limits of writes in flight, each of which has a spec, most of them while they wait to be validated.
const maxWrites, maxWritesPerTree = 16, 4

// REST serves ViewDefinitions.
type REST struct {
	*genericregistry.Store
	writes *inflight.Limiter
	root   func(namespace string) string
}

func newREST(store *genericregistry.Store, root func(namespace string) string) *REST {
	return &REST{store, inflight.New("writes of CustomResourceDefinitions of views", inflight.Limits{Total: maxWrites, PerUser: maxWritesPerTree}, 1), root}
}

// Create creates a ViewDefinition. It fails with TooManyRequests when there are too many writes.
func (r *REST) Create(ctx context.Context, obj runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	release, err := r.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	return r.Store.Create(ctx, obj, validate, options)
}

// Update changes a ViewDefinition, also by a patch. It fails with TooManyRequests when there are too many writes.
func (r *REST) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, validateCreate rest.ValidateObjectFunc,
	validateUpdate rest.ValidateObjectUpdateFunc, forceAllowCreate bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	release, err := r.begin(ctx)
	if err != nil {
		return nil, false, err
	}
	defer release()
	return r.Store.Update(ctx, name, info, validateCreate, validateUpdate, forceAllowCreate, options)
}

// begin counts a write until release is called. Those of the propagator, which writes no specs, are not limited.
func (r *REST) begin(ctx context.Context) (release func(), err error) {
	if accessreview.ByPropagator(ctx) {
		return func() {}, nil
	}
	return r.writes.AcquireTree(r.root(genericapirequest.NamespaceValue(ctx)), 1)
}
