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
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/inflight"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/tenantrates"
)

const (
	// small is the size of an object, in bytes of JSON, up to which only its tree pays for a write, so that the tenants of
	// few trees keep nobody else from writing such objects. Few objects are larger.
	small = 8 << 10
	// perSecond and burst bound the rest of large objects that is written, half of them all that is written in one tree,
	// and a quarter what one user writes there. The propagator writes the status of each object a few times.
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

// Limit limits creations and updates, above all of large objects, in all the stores together. The propagator is
// trusted; root returns the root of the tree of a namespace.
func Limit(root func(namespace string) string, reviews authorizer.Authorizer, stores ...*genericregistry.Store) Followed {
	l := newLimit(root, reviews)
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
	rates *tenantrates.Rates
	// users are the rates of users, or of the ServiceAccounts of a namespace, in a tree.
	users   *tenantrates.Rates
	stored  *stored
	root    func(namespace string) string
	reviews authorizer.Authorizer
	now     func() time.Time
}

func newLimit(root func(namespace string) string, reviews authorizer.Authorizer) *limit {
	return &limit{tenantrates.New(perSecond, burst), tenantrates.New(perSecond/2, burst/2), newStored(), root, reviews, time.Now}
}

// allow returns an error if too much has been written lately in the tree of an object, or is stored there of large
// objects. What does not grow is written at the rate. old is nil for creations. What the write takes of the rate can be
// given back.
func (l *limit) allow(ctx context.Context, resource schema.GroupResource, obj, old runtime.Object) (giveBack func(), err error) {
	if accessreview.ByPropagator(ctx) {
		return nothing, nil
	}
	after, err := size(obj)
	if err != nil {
		return nothing, apierrors.NewInternalError(err)
	}
	before := 0
	if old != nil && after > small {
		if before, err = size(old); err != nil {
			return nothing, apierrors.NewInternalError(err)
		}
	}
	object, err := meta.Accessor(obj)
	if err != nil {
		return nothing, apierrors.NewInternalError(err)
	}
	tree := l.root(object.GetNamespace())
	giveBack, err = l.spend(ctx, tree, after)
	if err != nil {
		return nothing, err
	}
	if growth := after - max(before, small); growth > 0 && l.stored.excess(tree, l.root)+growth > storedPerTree {
		giveBack()
		return nothing, apierrors.NewForbidden(resource, object.GetName(), fmt.Errorf("the large objects of tree %q would have more than %d MiB beyond %d KiB each; "+
			"remove annotations, managed fields or entries of spec from this object or others, or delete some of them", tree, storedPerTree>>20, small>>10))
	}
	return giveBack, nil
}

// spend takes a write from the rates until it is given back. Users who may change all hierarchies exceed them, so that
// no tenant keeps them from writing in a tree.
func (l *limit) spend(ctx context.Context, tree string, size int) (giveBack func(), err error) {
	shared := max(size-small, 0)
	if tree == "" {
		size = shared // No tenant writes objects without a namespace.
	}
	user := tree + "/" + inflight.ShareOf(ctx)
	if l.users.AllowShared(l.now(), user, size, 0) {
		if l.rates.AllowShared(l.now(), tree, size, shared) {
			return func() {
				l.users.ReturnShared(l.now(), user, size, 0)
				l.rates.ReturnShared(l.now(), tree, size, shared)
			}, nil
		}
		l.users.ReturnShared(l.now(), user, size, 0)
	}
	_, allowed, err := accessreview.Requester(ctx, l.reviews, authorizer.AttributesRecord{Verb: "update", APIGroup: hnc.GroupName, APIVersion: "*", Resource: "hierarchies"})
	if err != nil || allowed {
		return nothing, err
	}
	return nothing, apierrors.NewTooManyRequests(fmt.Sprintf("this object has %d bytes, and many bytes have been written lately; "+
		"try again later, or remove annotations and managed fields from the object", size), retryAfter)
}

func nothing() {}

// size returns the size of an object in bytes of JSON.
func size(obj runtime.Object) (int, error) {
	encoded, err := json.Marshal(obj)
	return len(encoded), err
}
