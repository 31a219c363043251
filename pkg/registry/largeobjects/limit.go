// Package largeobjects limits the bytes that are written and stored on behalf of tenants. All stored objects are in
// memory, and what is replaced stays there for a while: watch caches keep the changes of at least 75 seconds.
package largeobjects

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/tenantrates"
)

const (
	// small is the size of an object, in bytes of JSON, up to which it is not limited. Few objects are larger.
	small = 8 << 10
	// perSecond and burst bound the rest of large objects that is written. The propagator writes the status of each a
	// few times.
	perSecond = 1 << 20
	burst     = 32 << 20
	// storedPerTree bounds the rest of the large objects that a tree has.
	storedPerTree = 32 << 20
	// retryAfter is after how many seconds clients repeat a request.
	retryAfter = 5
)

// Followed are the objects that are stored.
type Followed struct {
	// Run follows them until its context ends.
	Run func(context.Context)
	// In returns the size of those of a resource in a namespace, or with "" of the large ones in all, in bytes of JSON;
	// with a limit, at least that of any so many of a namespace.
	In func(resource, namespace string, limit int) int
	// Largest returns the size of the largest object of a resource that a namespace has had since Run follows them, as
	// long as watch caches may have it.
	Largest func(resource, namespace string) int
}

// Limit limits creations and updates of large objects in all the stores together. The propagator is trusted; root
// returns the root of the tree of a namespace.
func Limit(root func(namespace string) string, stores ...*genericregistry.Store) Followed {
	l := newLimit(root)
	for _, store := range stores {
		store.Storage.Storage = limited{store.Storage.Storage, l, store.DefaultQualifiedResource}
	}
	return Followed{In: l.stored.in, Largest: l.stored.largest, Run: func(ctx context.Context) {
		for _, store := range stores {
			if store.CreateStrategy.NamespaceScoped() {
				l.stored.follow(ctx, store.DefaultQualifiedResource.Resource, store)
			}
		}
	}}
}

type limit struct {
	rates  *tenantrates.Rates
	stored *stored
	root   func(namespace string) string
	now    func() time.Time
}

func newLimit(root func(namespace string) string) *limit {
	return &limit{tenantrates.New(perSecond, burst), newStored(), root, time.Now}
}

// allow returns an error if too much is stored, or has been written lately, in the tree of a large object. What does
// not grow is written at the rate. old is nil for creations. What the write takes of the rate can be given back.
func (l *limit) allow(ctx context.Context, resource schema.GroupResource, obj, old runtime.Object) (giveBack func(), err error) {
	if accessreview.ByPropagator(ctx) {
		return nothing, nil
	}
	after, err := size(obj)
	if err != nil {
		return nothing, apierrors.NewInternalError(err)
	}
	if after <= small {
		return nothing, nil
	}
	before := 0
	if old != nil {
		if before, err = size(old); err != nil {
			return nothing, apierrors.NewInternalError(err)
		}
	}
	object, err := meta.Accessor(obj)
	if err != nil {
		return nothing, apierrors.NewInternalError(err)
	}
	tree := l.root(object.GetNamespace())
	if !l.rates.Allow(l.now(), tree, after-small) {
		return nothing, apierrors.NewTooManyRequests(fmt.Sprintf("this object has %d bytes, and large objects have been written often lately; "+
			"try again later, or remove annotations and managed fields from the object", after), retryAfter)
	}
	giveBack = func() { l.rates.Return(l.now(), tree, after-small) }
	if growth := after - max(before, small); growth > 0 && l.stored.excess(tree, l.root)+growth > storedPerTree {
		giveBack()
		return nothing, apierrors.NewForbidden(resource, object.GetName(), fmt.Errorf("the large objects of tree %q would have more than %d MiB beyond %d KiB each; "+
			"remove annotations, managed fields or entries of spec from this object or others, or delete some of them", tree, storedPerTree>>20, small>>10))
	}
	return giveBack, nil
}

func nothing() {}

// size returns the size of an object in bytes of JSON.
func size(obj runtime.Object) (int, error) {
	encoded, err := json.Marshal(obj)
	return len(encoded), err
}
