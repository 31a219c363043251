package reservations

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/quota/limits"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// store is etcd with records and edges, the tree that the edges make, and the limits.
type store struct {
	mu       sync.Mutex
	revision int64
	records  map[string]fence.Entry
	parents  map[string]string
	excluded []string
	edges    map[string]int64
	quotas   []hnc.HierarchicalResourceQuota
	// changed is closed, and replaced, whenever a namespace moves.
	changed chan struct{}
	// reads counts the reads of records, lists their lists, and folders those that were listed. listed is called after
	// each list.
	reads   int
	lists   int
	folders []string
	listed  func()
	// rejects returns the error of etcd for a transaction. committed is called with the lock held, after each one.
	rejects   func(*fence.Transaction) error
	committed func()
}

func newStore(parents map[string]string) *store {
	s := &store{records: map[string]fence.Entry{}, parents: maps.Clone(parents), edges: map[string]int64{}, revision: 1, changed: make(chan struct{})}
	return s
}

func (s *store) Read(_ context.Context, names ...string) ([]fence.Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	var entries []fence.Entry
	for _, name := range names {
		entry := s.records[name]
		entry.Name = name
		entries = append(entries, entry)
	}
	return entries, nil
}

func (s *store) List(_ context.Context, folders ...string) iter.Seq2[fence.Entry, error] {
	return func(yield func(fence.Entry, error) bool) {
		for _, entry := range s.list(folders) {
			if !yield(entry, nil) {
				return
			}
		}
	}
}

func (s *store) list(folders []string) (entries []fence.Entry) {
	if s.listed != nil {
		defer s.listed()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists++
	s.folders = append(s.folders, folders...)
	for _, name := range slices.Sorted(maps.Keys(s.records)) {
		if slices.ContainsFunc(folders, func(folder string) bool { return strings.HasPrefix(name, folder+"/") }) {
			entries = append(entries, s.records[name])
		}
	}
	return entries
}

func (s *store) Commit(_ context.Context, t *fence.Transaction) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.Operations() > 128 {
		panic("too many operations")
	}
	if s.rejects != nil {
		if err := s.rejects(t); err != nil {
			return 0, err
		}
	}
	for name, revision := range t.Unchanged {
		if s.records[name].Revision != revision {
			return 0, fence.ErrLost
		}
	}
	for name, revision := range t.Edges {
		if s.edges[name] != revision {
			return 0, fence.ErrLost
		}
	}
	s.revision++
	for name, value := range t.Put {
		s.put(name, value)
	}
	for _, name := range t.Delete {
		delete(s.records, name)
	}
	if s.committed != nil {
		s.committed()
	}
	return s.revision, nil
}

func (s *store) put(name string, value []byte) {
	s.records[name] = fence.Entry{Name: name, Value: value, Revision: s.revision}
}

func (s *store) Ancestry(_ context.Context, name string, _ bool) ([]string, map[string]int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	chain := s.chain(name)
	edges := map[string]int64{}
	for _, at := range chain {
		edges[at] = s.edges[at]
	}
	return chain, edges, nil
}

func (s *store) chain(name string) []string {
	var chain []string
	for ; name != ""; name = s.parents[name] {
		chain = append(chain, name)
	}
	return chain
}

func (s *store) Members(_ context.Context, name string) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	members := []string{name}
	for member := range s.parents {
		if slices.Contains(s.chain(member)[1:], name) {
			members = append(members, member)
		}
	}
	return members, nil
}

func (s *store) Descendants(name string) []string {
	members, _ := s.Members(context.Background(), name)
	return members[1:]
}

func (s *store) Excluded(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.excluded, name)
}

func (s *store) WaitUntilFresh(context.Context) error { return nil }

func (s *store) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// move gives a namespace another parent, and empties the ledgers as the tree does.
func (s *store) move(name, parent string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := s.chain(s.parents[name])
	s.revision++
	s.parents[name], s.edges[name] = parent, s.revision
	for _, at := range append(changed, s.chain(parent)...) {
		s.put(limits.Ledger(at), nil)
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// limit sets the quota of a namespace.
func (s *store) limit(namespace, hard string) { s.set(namespace, "all", pods(hard)) }

// set sets the limits of a quota. Without limits, it is deleted.
func (s *store) set(namespace, name string, hard corev1.ResourceList) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revision++
	s.quotas = slices.DeleteFunc(s.quotas, func(q hnc.HierarchicalResourceQuota) bool { return q.Namespace == namespace && q.Name == name })
	if hard != nil {
		s.quotas = append(s.quotas, hnc.HierarchicalResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: hnc.HierarchicalResourceQuotaSpec{Hard: hard}})
	}
	s.put(limits.Record, nil)
	s.put(limits.Ledger(namespace), nil)
}

func (s *store) listQuotas(context.Context) ([]hnc.HierarchicalResourceQuota, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.quotas), nil
}

func pods(n string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourcePods: resource.MustParse(n)}
}

// cluster is what the caches of a replica contain.
type cluster struct{ namespaces, quotas cache.Indexer }

func newCluster(t *testing.T, namespaces ...string) *cluster {
	t.Helper()
	c := &cluster{
		cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}),
		cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}),
	}
	for _, name := range namespaces {
		if err := c.namespaces.Add(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// terminating returns the names of the namespaces that are being deleted.
func (c *cluster) terminating() (names []string, err error) {
	for _, namespace := range c.namespaces.List() {
		if namespace := namespace.(*corev1.Namespace); namespace.DeletionTimestamp != nil {
			names = append(names, namespace.Name)
		}
	}
	return names, nil
}

// ledger returns a ledger that does not run.
func (s *store) ledger(c *cluster) *Ledger {
	return New(Config{
		Records: s, Limits: &limits.Reader{Records: s, List: s.listQuotas}, Tree: s,
		Namespaces: corelisters.NewNamespaceLister(c.namespaces), Terminating: c.terminating, Quotas: corelisters.NewResourceQuotaLister(c.quotas),
	})
}

// replica starts a ledger.
func (s *store) replica(t *testing.T, c *cluster) *Ledger {
	t.Helper()
	l := s.ledger(c)
	go l.Run(t.Context())
	return l
}

// status returns a ResourceQuota of ours.
func status(namespace string, version int, used string) *corev1.ResourceQuota {
	return &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: hnc.ResourceQuotaName, ResourceVersion: strconv.Itoa(version), Labels: map[string]string{hnc.LabelQuota: "true"}},
		Status:     corev1.ResourceQuotaStatus{Used: pods(used)},
	}
}

// observe records a stored status.
func observe(t *testing.T, l *Ledger, rq *corev1.ResourceQuota) {
	t.Helper()
	o, err := newOperation(rq)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.do(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

// end deletes the record of a namespace that is gone.
func end(t *testing.T, s *store, l *Ledger, namespace string) {
	t.Helper()
	k := key{namespace: namespace}
	entries, err := s.Read(t.Context(), k.record())
	if err != nil {
		t.Fatal(err)
	}
	if err := l.do(t.Context(), &operation{key: k, gone: true, revision: entries[0].Revision}); err != nil {
		t.Fatal(err)
	}
}

// used returns the recorded use below a namespace.
func used(t *testing.T, l *Ledger, top string) string {
	t.Helper()
	_, sums, err := l.Subtrees(t.Context(), nil, []string{top})
	if err != nil {
		t.Fatal(err)
	}
	n := sums[top][""][corev1.ResourcePods]
	return n.String()
}
