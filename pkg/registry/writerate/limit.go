package writerate

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/util/dryrun"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

const (
	// small is the size of an object, in bytes of JSON, up to which writes are not limited. Few objects are larger.
	small = 8 << 10
	// perSecond and burst bound the rest of large objects. The propagator writes the status of each a few times.
	perSecond = 1 << 20
	burst     = 32 << 20
	// retryAfter is after how many seconds clients repeat a request.
	retryAfter = 5
)

// Limit limits creations and updates of large objects in all the stores together. The propagator is trusted; root
// returns the root of the tree of a namespace.
func Limit(root func(namespace string) string, stores ...*genericregistry.Store) {
	l := &limit{New(perSecond, burst), root, time.Now}
	for _, store := range stores {
		create, update := store.BeginCreate, store.BeginUpdate
		store.BeginCreate = func(ctx context.Context, obj runtime.Object, options *metav1.CreateOptions) (genericregistry.FinishFunc, error) {
			if err := l.allow(ctx, obj, options.DryRun); err != nil || create == nil {
				return finishNothing, err
			}
			return create(ctx, obj, options)
		}
		store.BeginUpdate = func(ctx context.Context, obj, old runtime.Object, options *metav1.UpdateOptions) (genericregistry.FinishFunc, error) {
			if err := l.allow(ctx, obj, options.DryRun); err != nil || update == nil {
				return finishNothing, err
			}
			return update(ctx, obj, old, options)
		}
	}
}

func finishNothing(context.Context, bool) {}

type limit struct {
	rates *Rates
	root  func(namespace string) string
	now   func() time.Time
}

// allow returns an error if too much has been written in the tree of a large object.
func (l *limit) allow(ctx context.Context, obj runtime.Object, dryRun []string) error {
	if user, ok := genericapirequest.UserFrom(ctx); dryrun.IsDryRun(dryRun) || ok && user.GetName() == hnc.PropagatorUser {
		return nil
	}
	object, err := meta.Accessor(obj)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	encoded, err := json.Marshal(obj)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if len(encoded) <= small || l.rates.Allow(l.now(), l.root(object.GetNamespace()), len(encoded)-small) {
		return nil
	}
	return apierrors.NewTooManyRequests(fmt.Sprintf("this object has %d bytes, and large objects have been written often lately; "+
		"try again later, or remove annotations and managed fields from the object", len(encoded)), retryAfter)
}
