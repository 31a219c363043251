package overwrittenobject

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
)

// Create stores a record. Only the propagator may create one, so that a record proves that the object existed. There is
// one record for a name, with the content that was overwritten last.
func (r *REST) Create(ctx context.Context, obj runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	o := obj.(*hnc.OverwrittenObject)
	if !accessreview.ByPropagator(ctx) {
		return nil, apierrors.NewForbidden(hnc.Resource("overwrittenobjects"), o.Name, fmt.Errorf("only the propagator keeps what it overwrites"))
	}
	if r.ttl <= 0 {
		return nil, apierrors.NewForbidden(hnc.Resource("overwrittenobjects"), o.Name, fmt.Errorf("the server keeps none: --overwritten-object-ttl is 0"))
	}
	// A record that is not stored replaces none.
	if errs := (strategy{}).Validate(ctx, o); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: hnc.GroupName, Kind: "OverwrittenObject"}, o.Name, errs)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var earlier *hnc.OverwrittenObject
	if obj, err := r.store.Get(ctx, o.Name, &metav1.GetOptions{}); err == nil {
		earlier = obj.(*hnc.OverwrittenObject)
		if earlier.Spec.Manifest == o.Spec.Manifest {
			return nil, apierrors.NewAlreadyExists(hnc.Resource("overwrittenobjects"), o.Name)
		}
	} else if !apierrors.IsNotFound(err) {
		return nil, err
	}
	if !r.rates.Allow(time.Now(), r.root(o.Namespace), size(o)) {
		// The propagator overwrites the object without a record.
		return nil, apierrors.NewForbidden(hnc.Resource("overwrittenobjects"), o.Name, errors.New("too much has been overwritten lately to keep it all"))
	}
	if err := r.evictFor(ctx, size(o)); err != nil {
		return nil, err
	}
	if earlier != nil {
		of := &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &earlier.UID}}
		if _, _, err := r.store.Delete(ctx, o.Name, rest.ValidateAllObjectFunc, of); err != nil && !apierrors.IsNotFound(err) {
			return nil, err
		}
	}
	return r.store.Create(ctx, obj, validate, options)
}

// Get returns a record to users allowed to get the original object. Others do not learn whether it exists.
func (r *REST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	if err := r.authorize(ctx, "get", name); err != nil {
		return nil, err
	}
	return r.store.Get(ctx, name, options)
}

// List returns the records of objects that the requester may list, without their manifests. It does not page: the
// continue token names a record, and remainingItemCount counts records, that the requester must not know about.
func (r *REST) List(ctx context.Context, options *metainternalversion.ListOptions) (runtime.Object, error) {
	if err := checkMatch(options); err != nil {
		return nil, err
	}
	if options != nil {
		options = options.DeepCopy()
		options.Limit = 0
	}
	obj, err := r.store.List(ctx, options)
	if err != nil {
		return nil, err
	}
	type scope struct {
		namespace string
		resource  schema.GroupResource
	}
	reviewed := map[scope]bool{}
	list := obj.(*hnc.OverwrittenObjectList)
	items := list.Items
	list.Items = nil
	for _, o := range items {
		at := scope{o.Namespace, resourceOf(&o)}
		allowed, known := reviewed[at]
		if !known {
			if allowed, err = r.allows(ctx, "list", at.namespace, at.resource, ""); err != nil {
				return nil, err
			}
			reviewed[at] = allowed
		}
		if allowed {
			// Manifests need the verb get: components that list on behalf of others must not leak them.
			o.Spec.Manifest = ""
			list.Items = append(list.Items, o)
		}
	}
	return list, nil
}

// checkMatch rejects pages, and lists at an exact revision. They are not read from the cache: each would decode all
// manifests.
func checkMatch(options *metainternalversion.ListOptions) error {
	if options != nil && options.Continue != "" {
		return apierrors.NewResourceExpired("continue: overwritten objects are not listed in pages; list again without it")
	}
	if options != nil && options.ResourceVersionMatch == metav1.ResourceVersionMatchExact {
		return apierrors.NewBadRequest("resourceVersionMatch: overwritten objects are not listed at an exact version; use NotOlderThan")
	}
	return nil
}

// Delete deletes a record for users allowed to delete the original object. It returns the record without the manifest,
// which needs the verb get.
func (r *REST) Delete(ctx context.Context, name string, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	if err := r.authorize(ctx, "delete", name); err != nil {
		return nil, false, err
	}
	obj, deleted, err := r.store.Delete(ctx, name, validate, options)
	if o, ok := obj.(*hnc.OverwrittenObject); ok {
		o = o.DeepCopy()
		o.Spec.Manifest = ""
		obj = o
	}
	return obj, deleted, err
}

// DeleteCollection deletes the records of a namespace whose original objects the requester may delete. It returns no
// records, and skips the others as if they did not exist. Like List it does not page.
func (r *REST) DeleteCollection(ctx context.Context, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions, list *metainternalversion.ListOptions) (runtime.Object, error) {
	if err := checkMatch(list); err != nil {
		return nil, err
	}
	selected := &metainternalversion.ListOptions{}
	if list != nil {
		selected = list.DeepCopy()
	}
	// The store would read pages, and with its limit a version alone is an exact one. A record that another replica has
	// just stored may stay.
	selected.ResourceVersion, selected.ResourceVersionMatch, selected.Limit = "0", "", 0
	// The store would check preconditions first, and its error names the record.
	unconditional, preconditions := options, storage.Preconditions{}
	if options != nil && options.Preconditions != nil {
		unconditional = options.DeepCopy()
		unconditional.Preconditions = nil
		preconditions = storage.Preconditions{UID: options.Preconditions.UID, ResourceVersion: options.Preconditions.ResourceVersion}
	}
	_, err := r.store.DeleteCollection(ctx, func(ctx context.Context, obj runtime.Object) error {
		o := obj.(*hnc.OverwrittenObject)
		err := r.authorize(genericapirequest.WithNamespace(ctx, o.Namespace), "delete", o.Name)
		if apierrors.IsForbidden(err) {
			return apierrors.NewNotFound(hnc.Resource("overwrittenobjects"), o.Name)
		}
		if err != nil {
			return err
		}
		if err := preconditions.Check(o.Name, obj); err != nil {
			return apierrors.NewConflict(hnc.Resource("overwrittenobjects"), o.Name, err)
		}
		return validate(ctx, obj)
	}, unconditional, selected)
	return r.NewList(), err
}
