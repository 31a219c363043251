package largeobjects

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/storage"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/install"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// fakeStorage has the result err for writes. Updates have a number of attempts.
type fakeStorage struct {
	storage.Interface
	err      error
	attempts int
	// old is the stored object, nil for an empty one.
	old runtime.Object
}

func (f *fakeStorage) Versioner() storage.Versioner { return storage.APIObjectVersioner{} }

func (f *fakeStorage) Create(context.Context, string, runtime.Object, runtime.Object, uint64) error {
	return f.err
}

// Get is called by dry runs.
func (f *fakeStorage) Get(context.Context, string, storage.GetOptions, runtime.Object) error {
	return storage.NewKeyNotFoundError("q", 0)
}

func (f *fakeStorage) GuaranteedUpdate(_ context.Context, _ string, destination runtime.Object, _ bool, _ *storage.Preconditions, tryUpdate storage.UpdateFunc, _ runtime.Object) error {
	version := uint64(5)
	for range f.attempts {
		old := f.old
		if old == nil {
			old = &hnc.HierarchicalResourceQuota{}
		}
		obj, _, err := tryUpdate(old, storage.ResponseMeta{ResourceVersion: 5})
		if err != nil {
			return err
		}
		if !apiequality.Semantic.DeepEqual(obj, old) {
			version = 6
		}
	}
	if f.err != nil {
		return f.err
	}
	return f.Versioner().UpdateObject(destination, version)
}

// Rejections do not use up the rate of a tree, and each write counts once.
func TestWritesThatAreRejectedCostNothing(t *testing.T) {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	codec := serializer.NewCodecFactory(scheme).LegacyCodec(v1beta1.SchemeGroupVersion)
	// With the rest of the object, a large one has less than two units.
	const large, unit = 1<<20 - 1<<10, 512 << 10
	quota := func(bytes int) *hnc.HierarchicalResourceQuota {
		return &hnc.HierarchicalResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Annotations: map[string]string{"a": strings.Repeat("x", bytes)}}}
	}
	deletion := quota(large)
	deletion.DeletionTimestamp = &metav1.Time{Time: time.Unix(1000, 0)}
	type write func(genericregistry.DryRunnableStorage) error
	create := func(dryRun bool) write {
		return func(s genericregistry.DryRunnableStorage) error {
			return s.Create(t.Context(), "q", quota(large), &hnc.HierarchicalResourceQuota{}, 0, dryRun)
		}
	}
	update := func(to *hnc.HierarchicalResourceQuota, invalid error) write {
		return func(s genericregistry.DryRunnableStorage) error {
			return s.GuaranteedUpdate(t.Context(), "q", &hnc.HierarchicalResourceQuota{}, false, nil, func(old runtime.Object, _ storage.ResponseMeta) (runtime.Object, *uint64, error) {
				if to == nil {
					return old, nil, nil
				}
				return to, nil, invalid
			}, false, nil)
		}
	}
	for _, test := range []struct {
		name string
		// err is the result of the storage after a number of attempts.
		err      error
		attempts int
		write    write
		// cost is what the write takes of the rate, in units.
		cost int
		old  runtime.Object
	}{
		{"a creation", nil, 1, create(false), large/unit + 1, nil},
		{"a dry run", nil, 1, create(true), 0, nil},
		{"a creation of an existing object", storage.NewKeyExistsError("q", 1), 1, create(false), 0, nil},
		{"a creation that has lost its fence", fence.ErrLost, 1, create(false), 0, nil},
		{"a creation whose result is unknown", apierrors.NewTimeoutError("etcd", 1), 1, create(false), large/unit + 1, nil},
		{"a canceled creation", context.Canceled, 1, create(false), large/unit + 1, nil},
		{"an update", nil, 1, update(quota(large), nil), large/unit + 1, nil},
		{"an update that changes nothing", nil, 1, update(quota(large), nil), 0, quota(large)},
		{"an update after two conflicts", nil, 3, update(quota(large), nil), large/unit + 1, nil},
		{"an update of another version", storage.NewResourceVersionConflictsError("q", 1), 1, update(quota(large), nil), 0, nil},
		{"an invalid update", nil, 1, update(quota(large), apierrors.NewBadRequest("invalid")), 0, nil},
		{"a deletion", nil, 1, update(deletion, nil), 0, nil},
		{"a deletion that has begun before", nil, 1, update(nil, nil), 0, deletion},
		{"an update that stores too much", nil, 1, update(quota(3*large), nil), 0, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := newLimit(func(namespace string) string { return namespace }, nil)
			l.now = func() time.Time { return time.Unix(1000, 0) }
			l.stored.excessIn["a"] = storedPerTree - 2*large
			f := &fakeStorage{err: test.err, attempts: test.attempts, old: test.old}
			s := genericregistry.DryRunnableStorage{Storage: limited{f, l, hnc.Resource("hierarchicalresourcequotas")}, Codec: codec}
			err := test.write(s)
			if test.err != nil && !errors.Is(err, test.err) {
				t.Errorf("got the error %v, want %v", err, test.err)
			}
			cost := burst / 2 / unit
			for l.rates.Allow(l.now(), "a", unit) {
				cost--
			}
			ofUser := burst / 4 / unit
			for l.users.Allow(l.now(), "a/", unit) {
				ofUser--
			}
			if cost != test.cost || ofUser != test.cost {
				t.Errorf("it takes %d units of the rate, and %d of the user's, want %d; the error is %v", cost, ofUser, test.cost, err)
			}
		})
	}
}
