// Package fencedstore serves a registry whose writes depend on the tree: each write runs in a context that carries a
// fence, and is evaluated again on fresh reads when the fence lost.
package fencedstore

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/changerates"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/treerules"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// Store is a generic store whose BeginCreate, BeginUpdate and beginDelete hooks may set a fence.
type Store struct {
	*genericregistry.Store
	// beginDelete validates a deletion. It is called with the stored object, each time before the object is deleted or
	// marked as deleted.
	beginDelete rest.ValidateObjectFunc
	// GeneratesNames allows metadata.generateName.
	GeneratesNames bool
	// Changes limit how often objects change. Nil means that they do not.
	Changes *changerates.Changes
}

// New returns a Store on a completed generic store. It deletes with one worker, because a fence belongs to one write at
// a time, and without finalizers of the garbage collector, because the objects have no dependents.
func New(store *genericregistry.Store, beginDelete rest.ValidateObjectFunc) *Store {
	store.DeleteCollectionWorkers = 1
	store.EnableGarbageCollection = false
	return &Store{Store: store, beginDelete: beginDelete}
}

// maxTries bounds how often a request is evaluated. Each lost fence means that a concurrent write succeeded.
const maxTries = 50

// retryOnLostFence runs a write, and repeats it on fresh reads while its fence loses.
func retryOnLostFence[T any](ctx context.Context, s *Store, name string, dryRun []string, write func(ctx context.Context) (T, error)) (result T, err error) {
	if s.Changes != nil {
		var done func(error)
		ctx, done = s.Changes.Begin(ctx, dryRun)
		defer func() { done(err) }()
	}
	result, err = write(fence.NewContext(ctx))
	for try := 1; errors.Is(err, fence.ErrLost) && try < maxTries && ctx.Err() == nil; try++ {
		result, err = write(fence.NewContext(treerules.WithFreshReads(ctx)))
	}
	if errors.Is(err, fence.ErrLost) {
		err = apierrors.NewConflict(s.DefaultQualifiedResource, name, fmt.Errorf("the tree around it keeps changing; try again"))
	}
	return result, err
}

// Create creates an object. It rejects generateName where the name of an object determines a namespace.
func (s *Store) Create(ctx context.Context, obj runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	if m.GetName() == "" && m.GetGenerateName() != "" && !s.GeneratesNames {
		kind := schema.GroupKind{Group: s.DefaultQualifiedResource.Group, Kind: s.SingularQualifiedResource.Resource}
		return nil, apierrors.NewInvalid(kind, "", field.ErrorList{field.Invalid(
			field.NewPath("metadata", "generateName"), m.GetGenerateName(), "names are not generated; set metadata.name")})
	}
	return retryOnLostFence(ctx, s, m.GetName(), options.DryRun, func(ctx context.Context) (runtime.Object, error) {
		return s.Store.Create(ctx, obj.DeepCopyObject(), validate, options)
	})
}

// Update changes an object, or creates it if forceAllowCreate is set.
func (s *Store) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, validateCreate rest.ValidateObjectFunc,
	validateUpdate rest.ValidateObjectUpdateFunc, forceAllowCreate bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	var created bool
	obj, err := retryOnLostFence(ctx, s, name, options.DryRun, func(ctx context.Context) (obj runtime.Object, err error) {
		obj, created, err = s.Store.Update(ctx, name, info, validateCreate, validateUpdate, forceAllowCreate, options)
		return obj, err
	})
	return obj, created, err
}

// Delete deletes an object, or marks it as deleted while it has finalizers.
func (s *Store) Delete(ctx context.Context, name string, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	var deleted bool
	obj, err := retryOnLostFence(ctx, s, name, options.DryRun, func(ctx context.Context) (obj runtime.Object, err error) {
		obj, deleted, err = s.Store.Delete(ctx, name, s.validateDelete(validate), options)
		return obj, err
	})
	return obj, deleted, err
}

// DeleteCollection deletes all objects that match, one after another. Each that is not being deleted yet is a change.
func (s *Store) DeleteCollection(ctx context.Context, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions, list *metainternalversion.ListOptions) (runtime.Object, error) {
	var last types.UID
	each := func(ctx context.Context, obj runtime.Object) error {
		if m, err := meta.Accessor(obj); err == nil && m.GetUID() != last && m.GetDeletionTimestamp() == nil {
			last = m.GetUID()
			changerates.Next(ctx)
		}
		return s.validateDelete(validate)(ctx, obj)
	}
	return retryOnLostFence(ctx, s, "", options.DryRun, func(ctx context.Context) (runtime.Object, error) {
		return s.Store.DeleteCollection(ctx, each, options, list)
	})
}

// validateDelete calls beginDelete after admission.
func (s *Store) validateDelete(validate rest.ValidateObjectFunc) rest.ValidateObjectFunc {
	return func(ctx context.Context, obj runtime.Object) error {
		if validate != nil {
			if err := validate(ctx, obj); err != nil {
				return err
			}
		}
		return s.beginDelete(ctx, obj)
	}
}
