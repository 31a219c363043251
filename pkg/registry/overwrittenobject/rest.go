package overwrittenobject

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/table"
)

// REST serves overwritten objects. They can't be changed, and not be watched: a watch would have to ask for rights event by event.
type REST struct {
	store  *genericregistry.Store
	rights authorizer.Authorizer
	// root returns the root of the tree of a namespace.
	root func(namespace string) string
	ttl  time.Duration
	// mu lets one request at a time make room.
	mu    sync.Mutex
	rates rates
}

var (
	_ rest.Storage              = &REST{}
	_ rest.Scoper               = &REST{}
	_ rest.SingularNameProvider = &REST{}
	_ rest.Creater              = &REST{} //nolint:misspell // as upstream spells it
	_ rest.Getter               = &REST{}
	_ rest.Lister               = &REST{}
	_ rest.GracefulDeleter      = &REST{}
	_ rest.CollectionDeleter    = &REST{}
)

// New returns the storage of records, which expire after ttl; 0 keeps none. rights says who may read what they hold, and root in which tree a
// namespace is.
func New(scheme *runtime.Scheme, options generic.RESTOptionsGetter, rights authorizer.Authorizer, root func(namespace string) string, ttl time.Duration) (*REST, error) {
	s := strategy{base.New(scheme, true), ttl}
	store := &genericregistry.Store{
		NewFunc:                   func() runtime.Object { return &hnc.OverwrittenObject{} },
		NewListFunc:               func() runtime.Object { return &hnc.OverwrittenObjectList{} },
		DefaultQualifiedResource:  hnc.Resource("overwrittenobjects"),
		SingularQualifiedResource: hnc.Resource("overwrittenobject"),
		CreateStrategy:            s,
		UpdateStrategy:            s,
		DeleteStrategy:            s,
		TTLFunc:                   func(runtime.Object, uint64, bool) (uint64, error) { return uint64(ttl.Seconds()), nil },
		TableConvertor: table.New(
			table.Column[hnc.OverwrittenObject]{Name: "Overwritten By", Type: "string", Description: "The namespace whose object took its place.",
				Cell: func(o *hnc.OverwrittenObject) any { return o.Spec.Source }},
			table.Column[hnc.OverwrittenObject]{Name: "Expires", Type: "date", Description: "When the record expires.",
				Cell: func(o *hnc.OverwrittenObject) any { return o.Spec.ExpirationTime.Format(time.RFC3339) }},
		),
	}
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: options}); err != nil {
		return nil, err
	}
	// A record has no dependents. A finalizer of the garbage collector would stay, because it does not watch records.
	store.EnableGarbageCollection = false
	return &REST{store: store, rights: rights, root: root, ttl: ttl, rates: newRates()}, nil
}

// New returns an empty record.
func (r *REST) New() runtime.Object { return r.store.New() }

// NewList returns an empty list.
func (r *REST) NewList() runtime.Object { return r.store.NewList() }

// Destroy closes the store.
func (r *REST) Destroy() { r.store.Destroy() }

// NamespaceScoped says that records are in namespaces.
func (r *REST) NamespaceScoped() bool { return true }

// GetSingularName returns the singular name.
func (r *REST) GetSingularName() string { return r.store.GetSingularName() }

// ConvertToTable prints records.
func (r *REST) ConvertToTable(ctx context.Context, object, options runtime.Object) (*metav1.Table, error) {
	return r.store.ConvertToTable(ctx, object, options)
}

// Create keeps a record for the propagator, and nobody else: what is restored from a record was there.
func (r *REST) Create(ctx context.Context, obj runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	o := obj.(*hnc.OverwrittenObject)
	if user, ok := genericapirequest.UserFrom(ctx); !ok || user.GetName() != hnc.PropagatorUser {
		return nil, apierrors.NewForbidden(hnc.Resource("overwrittenobjects"), o.Name, fmt.Errorf("only the propagator keeps what it overwrites"))
	}
	if r.ttl <= 0 {
		return nil, apierrors.NewForbidden(hnc.Resource("overwrittenobjects"), o.Name, fmt.Errorf("the server keeps none: --overwritten-object-ttl is 0"))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.store.Get(ctx, o.Name, &metav1.GetOptions{}); err == nil {
		return nil, apierrors.NewAlreadyExists(hnc.Resource("overwrittenobjects"), o.Name)
	}
	if !r.rates.allow(time.Now(), r.root(o.Namespace), size(o)) {
		// The overwrite does not wait for it.
		return nil, apierrors.NewForbidden(hnc.Resource("overwrittenobjects"), o.Name, errors.New("too much has been overwritten lately to keep it all"))
	}
	if err := r.makeRoom(ctx, size(o)); err != nil {
		return nil, err
	}
	return r.store.Create(ctx, obj, validate, options)
}

// Get returns a record to a user who may get the original object. Others do not learn whether there is one.
func (r *REST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	if err := r.authorize(ctx, "get", name); err != nil {
		return nil, err
	}
	return r.store.Get(ctx, name, options)
}

// List returns the records, without the manifests, of the kinds that the requester may list, each in its namespace. It returns all of them at
// once: the token of a page names a record, and the metadata count the rest, that the requester may not know of.
func (r *REST) List(ctx context.Context, options *metainternalversion.ListOptions) (runtime.Object, error) {
	if options != nil && options.Continue != "" {
		return nil, apierrors.NewResourceExpired("continue: overwritten objects are not listed in pages; list again without it")
	}
	if options != nil {
		options = options.DeepCopy()
		options.Limit = 0
	}
	obj, err := r.store.List(ctx, options)
	if err != nil {
		return nil, err
	}
	type place struct {
		namespace string
		resource  schema.GroupResource
	}
	asked := map[place]bool{}
	list := obj.(*hnc.OverwrittenObjectList)
	items := list.Items
	list.Items = nil
	for _, o := range items {
		at := place{o.Namespace, resourceOf(&o)}
		allowed, known := asked[at]
		if !known {
			if allowed, err = r.may(ctx, "list", at.namespace, at.resource, ""); err != nil {
				return nil, err
			}
			asked[at] = allowed
		}
		if allowed {
			// Content is for get alone: whoever lists on behalf of others must not pass it on.
			o.Spec.Manifest = ""
			list.Items = append(list.Items, o)
		}
	}
	return list, nil
}

// Delete deletes a record for a user who may delete the original object. It does not return the record: to read it takes another right.
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

// DeleteCollection deletes those records of a namespace whose original objects the requester may delete. Of the others the requester learns
// nothing, and of none the content.
func (r *REST) DeleteCollection(ctx context.Context, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions, list *metainternalversion.ListOptions) (runtime.Object, error) {
	_, err := r.store.DeleteCollection(ctx, func(ctx context.Context, obj runtime.Object) error {
		o := obj.(*hnc.OverwrittenObject)
		err := r.authorize(genericapirequest.WithNamespace(ctx, o.Namespace), "delete", o.Name)
		if apierrors.IsForbidden(err) {
			return apierrors.NewNotFound(hnc.Resource("overwrittenobjects"), o.Name)
		}
		if err != nil {
			return err
		}
		return validate(ctx, obj)
	}, options, list)
	return r.NewList(), err
}

// authorize checks that the requester has the right on the original object that the name of a record tells.
func (r *REST) authorize(ctx context.Context, verb, record string) error {
	resource, name, ok := strings.Cut(record, ":")
	if !ok {
		return apierrors.NewNotFound(hnc.Resource("overwrittenobjects"), record)
	}
	namespace, original := genericapirequest.NamespaceValue(ctx), schema.ParseGroupResource(resource)
	allowed, err := r.may(ctx, verb, namespace, original, name)
	if err != nil || allowed {
		return err
	}
	return apierrors.NewForbidden(hnc.Resource("overwrittenobjects"), record,
		fmt.Errorf("this needs the verb %s on %s %q in namespace %q, the object that was overwritten", verb, original, name, namespace))
}

func (r *REST) may(ctx context.Context, verb, namespace string, resource schema.GroupResource, name string) (bool, error) {
	user, ok := genericapirequest.UserFrom(ctx)
	if !ok {
		return false, nil
	}
	decision, _, err := r.rights.Authorize(ctx, authorizer.AttributesRecord{
		User: user, Verb: verb, Namespace: namespace, APIGroup: resource.Group, APIVersion: "*", Resource: resource.Resource, Name: name,
		ResourceRequest: true,
	})
	if err != nil {
		return false, apierrors.NewInternalError(err)
	}
	return decision == authorizer.DecisionAllow, nil
}
