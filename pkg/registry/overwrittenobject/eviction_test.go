package overwrittenobject

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/storage"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/install"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
)

// A tenant with the largest tree loses the oldest of its own records, in any of its namespaces.
func TestLargestTreeIsEvictedFirst(t *testing.T) {
	record := func(namespace string, age int) hnc.OverwrittenObject {
		return hnc.OverwrittenObject{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("%s-%d", namespace, age), CreationTimestamp: metav1.NewTime(time.Unix(int64(1000-age), 0))},
			Spec:       hnc.OverwrittenObjectSpec{Manifest: strings.Repeat("x", maxManifest)},
		}
	}
	root := func(namespace string) string { root, _, _ := strings.Cut(namespace, "."); return root }
	var records []hnc.OverwrittenObject
	records = append(records, record("small", 900), record("small", 800))
	for len(records)*(maxManifest+overhead) <= maxTotal-(maxManifest+overhead) {
		records = append(records, record(fmt.Sprintf("large.%d", len(records)), len(records)))
	}
	if got := victims(records, root, overhead); len(got) != 0 {
		t.Errorf("while another record fits, %d records are evicted", len(got))
	}
	got := victims(records, root, 2*(maxManifest+overhead))
	var names []string
	for _, o := range got {
		names = append(names, o.Name)
	}
	oldest := len(records) - 1
	want := fmt.Sprintf("[large.%d-%d large.%d-%d]", oldest, oldest, oldest-1, oldest-1)
	if fmt.Sprint(names) != want {
		t.Errorf("got %v, want %v", names, want)
	}
}

// stored are the records in etcd, by name.
type stored struct {
	storage.Interface
	records map[string]hnc.OverwrittenObject
	total   int
	lists   int
}

func (s *stored) GetList(_ context.Context, _ string, _ storage.ListOptions, list runtime.Object) error {
	s.lists++
	for _, o := range s.records {
		items := &list.(*hnc.OverwrittenObjectList).Items
		*items = append(*items, o)
	}
	return nil
}

func (s *stored) Get(_ context.Context, name string, _ storage.GetOptions, obj runtime.Object) error {
	o, ok := s.records[name]
	if !ok {
		return storage.NewKeyNotFoundError(name, 0)
	}
	*obj.(*hnc.OverwrittenObject) = o
	return nil
}

func (s *stored) Delete(_ context.Context, name string, _ runtime.Object, _ *storage.Preconditions, _ storage.ValidateObjectFunc, _ runtime.Object, _ storage.DeleteOptions) error {
	o := s.records[name]
	s.total -= size(&o)
	delete(s.records, name)
	return nil
}

// Tenants determine how many records there are, and the overwrites of all trees wait for a create.
func TestFewCreatesListAllRecords(t *testing.T) {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	s, looked := &stored{records: map[string]hnc.OverwrittenObject{}}, 0
	replicas, made := make([]*REST, shares), 0
	for i := range replicas {
		replicas[i] = &REST{root: func(namespace string) string { looked++; return namespace }, store: &genericregistry.Store{
			NewFunc: func() runtime.Object { return &hnc.OverwrittenObject{} }, NewListFunc: func() runtime.Object { return &hnc.OverwrittenObjectList{} },
			PredicateFunc:            func(labels.Selector, fields.Selector) (p storage.SelectionPredicate) { return p },
			KeyRootFunc:              func(context.Context) string { return "" },
			KeyFunc:                  func(_ context.Context, name string) (string, error) { return name, nil },
			DefaultQualifiedResource: hnc.Resource("overwrittenobjects"), DeleteStrategy: strategy{Base: base.New(scheme, true)},
			Storage: genericregistry.DryRunnableStorage{Storage: s},
		}}
	}
	create := func(namespace string, n, bytes int, by ...*REST) {
		t.Helper()
		manifest := strings.Repeat("x", bytes)
		for range n {
			o := hnc.OverwrittenObject{Spec: hnc.OverwrittenObjectSpec{Manifest: manifest}}
			o.Namespace, o.Name, o.CreationTimestamp = namespace, fmt.Sprint(made), metav1.NewTime(time.Unix(int64(made), 0))
			if err := by[made%len(by)].evictFor(t.Context(), size(&o)); err != nil {
				t.Fatal(err)
			}
			s.records[o.Name], made = o, made+1
			if s.total += size(&o); s.total > maxTotal {
				t.Fatalf("after %d creates, %d bytes are stored", made, s.total)
			}
		}
	}
	create("small", 10, maxManifest, replicas...)
	create("large", 10_000, 8<<10, replicas[1:]...)
	create("large", 10, maxManifest, replicas[1:]...)
	replicas[0].listed = time.Now().Add(-time.Minute)
	create("large", 2_000, 8<<10, replicas[0])
	if most := made / 50; s.lists > most || looked > 2*s.lists {
		t.Errorf("%d creates make %d lists and look up %d roots, want at most %d lists and two roots each", made, s.lists, looked, most)
	}
	for i := range 10 {
		if _, ok := s.records[fmt.Sprint(i)]; !ok {
			t.Errorf("record %d of a small tree is evicted", i)
		}
	}
}
