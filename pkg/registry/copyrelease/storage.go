package copyrelease

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/alias"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/table"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/treerules"
)

// Storage contains the storage of releases and of their status.
type Storage struct {
	Release *genericregistry.Store
	Status  *alias.Status
}

// NewStorage returns the storage of releases, which the tree's authorizer authorizes.
func NewStorage(scheme *runtime.Scheme, options generic.RESTOptionsGetter, t *treerules.Tree) (*Storage, error) {
	b := base.New(scheme, true)
	s := strategy{b}
	var rooms *rooms
	store := base.NewStore(&hnc.CopyRelease{}, &hnc.CopyReleaseList{}, "copyreleases", "copyrelease", s, table.New(columns...))
	store.BeginCreate = func(ctx context.Context, obj runtime.Object, _ *metav1.CreateOptions) (genericregistry.FinishFunc, error) {
		r := obj.(*hnc.CopyRelease)
		// The store validates after the hooks, but a review needs the name of an object.
		if errs := validate(r); len(errs) > 0 {
			return nil, apierrors.NewInvalid(schema.GroupKind{Group: hnc.GroupName, Kind: "CopyRelease"}, r.Name, errs)
		}
		namespace := genericapirequest.NamespaceValue(ctx)
		source, err := t.Authorizer.AuthorizeRelease(ctx, r, namespace)
		if err != nil {
			return nil, err
		}
		base.SetAnnotation(&r.ObjectMeta, hnc.AnnotationSourceUID, string(source))
		leave, err := rooms.enter(ctx, namespace)
		if err != nil {
			return nil, err
		}
		return func(context.Context, bool) { leave() }, nil
	}
	store.TTLFunc = func(obj runtime.Object, _ uint64, _ bool) (uint64, error) {
		return remaining(obj.(*hnc.CopyRelease).CreationTimestamp.Time, time.Now()), nil
	}
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: options}); err != nil {
		return nil, err
	}
	store.EnableGarbageCollection = false // The finalizers of a collector, too, would end the expiry.
	rooms = newRooms(t.Index.Root, func(ctx context.Context) (*hnc.CopyReleaseList, error) {
		list, err := store.List(genericapirequest.WithNamespace(ctx, metav1.NamespaceAll), &metainternalversion.ListOptions{})
		if err != nil {
			return nil, err
		}
		return list.(*hnc.CopyReleaseList), nil
	})
	return &Storage{Release: store, Status: alias.NewStatus(store, base.Status[*hnc.CopyRelease]{Base: b, Keep: keepSpec})}, nil
}

// remaining returns for how many seconds a release is still stored. A status does not prolong it.
func remaining(created, now time.Time) uint64 {
	age := int64(now.Sub(created).Seconds())
	return uint64(min(max(hnc.CopyReleaseTTL-age, 1), hnc.CopyReleaseTTL))
}
