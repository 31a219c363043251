package hierarchyplan

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	restclient "k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/configrules"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	seen "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

var configMaps = copies.Kind{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, Kind: "ConfigMap"}

// cluster returns a planner of a cluster with the given number of ConfigMaps, each with size bytes of data, a
// thousand per namespace.
func cluster(t testing.TB, objects, size int, requests *atomic.Int64) *Planner {
	t.Helper()
	data := strings.Repeat("x", size)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
		end := objects
		if _, namespace, ok := strings.Cut(r.URL.Path, "/namespaces/namespace-"); ok {
			i, _ := strconv.Atoi(strings.TrimSuffix(namespace, "/configmaps"))
			from, end = max(from, min(i*1000, objects)), min((i+1)*1000, objects)
		}
		to := min(from+limit, end)
		next := ""
		if to < end {
			next = strconv.Itoa(to)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1","continue":%q,"remainingItemCount":%d},"items":[`, next, end-to)
		for i := from; i < to; i++ {
			if i > from {
				_, _ = io.WriteString(w, ",")
			}
			_, _ = fmt.Fprintf(w, `{"metadata":{"namespace":"namespace-%d","name":"config-map-%d","uid":"5a3f3c5e-7a53-4b1e-8f0e-%012d","resourceVersion":"%d"},"data":{"key":%q}}`,
				i/1000, i, i, i, data)
		}
		_, _ = io.WriteString(w, "]}")
	}))
	t.Cleanup(server.Close)
	lists, err := NewObjectLister(&restclient.Config{Host: server.URL, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	return New(Config{Lister: lists, Limits: Limits{Memory: 64 << 20}})
}

// read returns the snapshot that a plan of the cluster reads.
func (p *Planner) read(t testing.TB, namespaces int) *snapshot {
	t.Helper()
	names := sets.New[string]()
	for i := range namespaces {
		names.Insert(fmt.Sprint("namespace-", i))
	}
	snap := &snapshot{tree: seen.New(managedkeys.Rules{}), rules: &configrules.Rules{}}
	p.readObjects(t.Context(), snap, []kinds.WithPolicies{{Kind: configMaps}}, names)
	return snap
}

// readBindings returns the snapshot of a plan in a cluster with one RoleBinding, given as JSON.
func readBindings(t *testing.T, binding string) *snapshot {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		items := ""
		if strings.HasSuffix(r.URL.Path, "/rolebindings") {
			items = binding
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"kind":"RoleBindingList","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"resourceVersion":"1"},"items":[%s]}`, items)
	}))
	defer server.Close()
	lists, err := NewObjectLister(&restclient.Config{Host: server.URL, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	p := New(Config{Lister: lists, Limits: Limits{Memory: 5 << 10}})
	snap := &snapshot{tree: seen.New(managedkeys.Rules{}), rules: &configrules.Rules{}}
	p.readObjects(t.Context(), snap, []kinds.WithPolicies{{Kind: copies.Roles}, {Kind: copies.RoleBindings}}, sets.New("namespace-0"))
	return snap
}

func TestNamesCountAsMemory(t *testing.T) {
	long := strings.Repeat("x", 10<<10)
	for name, object := range map[string]string{
		"of objects": `{"metadata":{"namespace":"namespace-0","name":"` + long + `","uid":"1"}}`,
		"of roles": `{"metadata":{"namespace":"namespace-0","name":"a","uid":"1"},` +
			`"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"` + long + `"}}`,
		"of ClusterRoles": strings.Repeat(`{"metadata":{"namespace":"namespace-0","name":"a","uid":"1"},`+
			`"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"`+long+`"}},`, 8) +
			`{"metadata":{"namespace":"namespace-0","name":"a","uid":"1"}}`,
		"of subjects": `{"metadata":{"namespace":"namespace-0","name":"a","uid":"1"},"subjects":[` +
			strings.Repeat(`{"kind":"User","name":"`+long[:200]+`"},`, 40) + `{"kind":"User","name":"a"}]}`,
		"of annotations": `{"metadata":{"namespace":"namespace-0","name":"a","uid":"1","annotations":{"propagate.hnc.x-k8s.io/select":"a in (` +
			strings.Repeat("b,", 40) + `b)"}}}`,
		"none": `{"metadata":{"namespace":"namespace-0","name":"a","uid":"1"}}`,
	} {
		snap := readBindings(t, object)
		if tooMany := strings.Contains(strings.Join(snap.unknown, ";"), "rolebindings.rbac.authorization.k8s.io: there are too many"); tooMany == (name == "none") {
			t.Errorf("%s: unknown %q", name, snap.unknown)
		}
	}
}

// The names of Roles have any length, and a plan repeats them.
func TestPlansKeepTheKeysOfNames(t *testing.T) {
	long := strings.Repeat("x", 1000)
	snap := readBindings(t, `{"metadata":{"namespace":"namespace-0","name":"a","uid":"1"},"roleRef":{"name":"`+long+`"},"subjects":[{"name":"`+long+`"}]}`)
	if g := snap.grants["1"]; len(g.subjects) != 1 || g.role.Name != names.Key(long) || g.subjects[0].Name != names.Key(long) {
		t.Errorf("got %d subjects and a role of %d bytes, unknown %q", len(g.subjects), len(g.role.Name), snap.unknown)
	}
}

func TestTooManyObjectsAreUnknown(t *testing.T) {
	var requests atomic.Int64
	p := cluster(t, 3000, 10, &requests)
	p.Limits.Memory = 2000 * objectSize
	snap := p.read(t, 100)
	if len(snap.indexes) != 0 || len(snap.unknown) != 1 || !strings.Contains(snap.unknown[0], "configmaps: there are too many objects for one plan") {
		t.Errorf("got %d indexes, unknown %q", len(snap.indexes), snap.unknown)
	}
	if n := requests.Load(); n > 9 {
		t.Errorf("%d pages are read, although 2000 objects are the limit", n)
	}
}

// A cluster of 100 namespaces with a thousand objects each: 400 pages.
func TestThePartOfALargeClusterIsReadOneNamespaceAfterAnother(t *testing.T) {
	for _, test := range []struct {
		objects, namespaces int
		requests            int64
	}{
		{100_000, 60, 1 + 60*4},
		{1500, 60, 6},
		{1000, 40, 40 + 3},
	} {
		var requests atomic.Int64
		p := cluster(t, test.objects, 10, &requests)
		p.Limits.Memory = 1 << 30
		snap := p.read(t, test.namespaces)
		if n, _ := snap.indexes[0].Count(func(string) bool { return true }); n != min(test.objects, test.namespaces*1000) || requests.Load() != test.requests {
			t.Errorf("%d of %d objects in %d namespaces are read by %d requests, want %d requests", n, test.objects, test.namespaces, requests.Load(), test.requests)
		}
	}
}

func TestPagesOfLargeObjectsAreSmall(t *testing.T) {
	var requests atomic.Int64
	snap := cluster(t, 40, 1<<20, &requests).read(t, 100)
	if len(snap.unknown) > 0 {
		t.Fatal(snap.unknown)
	}
	sources, _ := snap.indexes[0].Count(func(string) bool { return true })
	if sources != 40 || requests.Load() < 10 {
		t.Errorf("%d objects of 1 MiB were read by %d requests, want 40 and several", sources, requests.Load())
	}
}

// BenchmarkMemory measures the memory of a plan per object and the peak while it reads many.
func BenchmarkMemory(b *testing.B) {
	for _, size := range []int{1 << 10, 16 << 10} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			const objects = 65000
			var requests atomic.Int64
			p := cluster(b, objects, size, &requests)
			for b.Loop() {
				heap := func() uint64 {
					var m runtime.MemStats
					runtime.ReadMemStats(&m)
					return m.HeapAlloc
				}
				runtime.GC()
				before := heap()
				var peak atomic.Uint64
				done := make(chan struct{})
				go func() {
					for {
						select {
						case <-done:
							return
						case <-time.After(10 * time.Millisecond):
							peak.Store(max(peak.Load(), heap()))
						}
					}
				}()
				snap := p.read(b, 100)
				close(done)
				runtime.GC()
				held := heap() - before
				b.ReportMetric(float64(held)/objects, "held-B/object")
				b.ReportMetric(float64(peak.Load()-before)/(1<<20), "peak-MiB")
				runtime.KeepAlive(snap)
			}
		})
	}
}
