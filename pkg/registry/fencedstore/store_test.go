package fencedstore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/storage"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/install"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/changerates"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// stored are quotas, by name.
type stored struct {
	storage.Interface
	quotas map[string]*hnc.HierarchicalResourceQuota
}

func (s stored) GetList(_ context.Context, _ string, _ storage.ListOptions, list runtime.Object) error {
	for _, name := range slices.Sorted(maps.Keys(s.quotas)) {
		items := &list.(*hnc.HierarchicalResourceQuotaList).Items
		*items = append(*items, *s.quotas[name])
	}
	return nil
}

func (s stored) Get(_ context.Context, name string, _ storage.GetOptions, obj runtime.Object) error {
	s.quotas[name].DeepCopyInto(obj.(*hnc.HierarchicalResourceQuota))
	return nil
}

func (s stored) Delete(ctx context.Context, name string, _ runtime.Object, _ *storage.Preconditions, validate storage.ValidateObjectFunc, _ runtime.Object, _ storage.DeleteOptions) error {
	if err := validate(ctx, s.quotas[name]); err != nil {
		return err
	}
	delete(s.quotas, name)
	return nil
}

func (s stored) GuaranteedUpdate(_ context.Context, name string, _ runtime.Object, _ bool, _ *storage.Preconditions, update storage.UpdateFunc, _ runtime.Object) error {
	updated, _, err := update(s.quotas[name].DeepCopy(), storage.ResponseMeta{})
	if err == nil {
		s.quotas[name] = updated.(*hnc.HierarchicalResourceQuota)
	}
	return err
}

// newStore returns a store of quotas whose deletions are changes of one tree, and what it stores. At most 30 changes of a
// tree are allowed at once. The fence of the deletion with the given number loses.
func newStore(quotas, loses int, finalizers ...string) (*Store, stored) {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	s := stored{quotas: map[string]*hnc.HierarchicalResourceQuota{}}
	for i := range quotas {
		name := fmt.Sprintf("%02d", i)
		s.quotas[name] = &hnc.HierarchicalResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Finalizers: finalizers}}
	}
	changes := changerates.NewChanges(authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
		return authorizer.DecisionNoOpinion, "", nil
	}), "hierarchicalresourcequotas", "limits")
	deletions := 0
	store := New(&genericregistry.Store{
		NewFunc: func() runtime.Object { return &hnc.HierarchicalResourceQuota{} }, NewListFunc: func() runtime.Object { return &hnc.HierarchicalResourceQuotaList{} },
		PredicateFunc:  func(labels.Selector, fields.Selector) (p storage.SelectionPredicate) { return p },
		KeyRootFunc:    func(context.Context) string { return "" },
		KeyFunc:        func(_ context.Context, name string) (string, error) { return name, nil },
		DeleteStrategy: strategy.New(scheme, true),
		Storage:        genericregistry.DryRunnableStorage{Storage: s},
	}, func(ctx context.Context, _ runtime.Object) error {
		if err := changes.Allow(ctx, "root", 1, "delete"); err != nil {
			return err
		}
		if deletions++; deletions == loses {
			return fence.ErrLost
		}
		return nil
	})
	store.Changes = changes
	return store, s
}

// Each object of a collection counts once, also if the request begins again or fails after some.
func TestDeletionsOfACollectionCountEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // The time stands still, so that no tree may change again.
		ctx := genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: "eve"})
		store, s := newStore(45, 0)
		if _, err := store.DeleteCollection(ctx, nil, &metav1.DeleteOptions{}, nil); !apierrors.IsTooManyRequests(err) || len(s.quotas) != 15 {
			t.Errorf("%d of 45 are left: %v", len(s.quotas), err)
		}
		store, s = newStore(45, 0)
		for i := range 44 {
			// The second one does not have the UID.
			if _, err := store.DeleteCollection(ctx, nil, metav1.NewPreconditionDeleteOptions(fmt.Sprintf("%02d", i)), nil); err == nil {
				t.Error("a collection has one UID")
			}
		}
		if len(s.quotas) != 15 {
			t.Errorf("%d of 45 are left by requests that fail", len(s.quotas))
		}
		store, s = newStore(20, 15, "example.com/keep")
		if _, err := store.DeleteCollection(ctx, nil, &metav1.DeleteOptions{}, nil); err != nil || s.quotas["19"].DeletionTimestamp == nil {
			t.Errorf("a request that has begun again: %v", err)
		}
	})
}
