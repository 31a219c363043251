package hierarchyplan

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	restclient "k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/configrules"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	seen "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/yamlbody"
)

// Empty values need 20 times the memory of their text. Those of others are not in the way.
func TestObjectsOfVeryManyValuesAreNotDecoded(t *testing.T) {
	large := `{"metadata":{"namespace":"large","name":"a"},"spec":[` + strings.Repeat("{},", yamlbody.MaxValues) + `{}]}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{},"items":[%s,{"metadata":{"namespace":"small","name":"b"}}]}`, large)
	}))
	defer server.Close()
	lister, err := NewObjectLister(&restclient.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	for namespace, want := range map[string]bool{"small": true, "large": false} {
		var found []string
		err := lister.forEach(t.Context(), configMaps.GroupVersionResource, "", 0, func(of string) bool { return of == namespace }, func(u *unstructured.Unstructured) error {
			found = append(found, u.GetKind()+" "+u.GetName())
			return nil
		})
		if (err == nil) != want || want && (len(found) != 1 || found[0] != "ConfigMap b") || !want && (!strings.Contains(err.Error(), "one of the objects: ") || strings.Contains(err.Error(), "namespace")) {
			t.Errorf("%s: got %v, %v", namespace, found, err)
		}
	}
}

// respond answers requests without a network.
type respond func(*http.Request) string

func (f respond) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r, Body: io.NopCloser(strings.NewReader(f(r))),
	}, nil
}

// listOf returns a lister of ConfigMaps, each in a namespace of its own, with so many bytes of data. Those of a negative
// number are deleted when their namespace is listed.
func listOf(t *testing.T, requests *[]string, sizes ...int) *ObjectLister {
	t.Helper()
	lister, err := NewObjectLister(&restclient.Config{Host: "http://cluster", QPS: -1, Transport: respond(func(r *http.Request) string {
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
		if requests != nil {
			*requests = append(*requests, fmt.Sprintf("%d from %d", limit, from))
		}
		end := len(sizes)
		if _, path, found := strings.Cut(r.URL.Path, "/namespaces/n-"); found {
			from, _ = strconv.Atoi(strings.TrimSuffix(path, "/configmaps"))
			end = from + min(1, sizes[from]+1)
		}
		to, next := min(from+limit, end), ""
		if to < end {
			next = strconv.Itoa(to)
		}
		var page bytes.Buffer
		_, _ = fmt.Fprintf(&page, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"continue":%q},"items":[`, next)
		for i := from; i < to; i++ {
			if i > from {
				page.WriteByte(',')
			}
			_, _ = fmt.Fprintf(&page, `{"metadata":{"namespace":"n-%d","name":"a"},"data":{"a":"%s"}}`, i, strings.Repeat("x", max(sizes[i], 0)))
		}
		page.WriteString("]}")
		return page.String()
	})})
	if err != nil {
		t.Fatal(err)
	}
	return lister
}

// A ConfigMap of control characters has 9 MiB in JSON.
func TestLargeObjectsOfOthersDoNotHideAKind(t *testing.T) {
	sizes := make([]int, 400)
	sizes[7], sizes[300] = 9<<20, 9<<20
	var requests []string
	found := 0
	err := listOf(t, &requests, sizes...).forEach(t.Context(), configMaps.GroupVersionResource, "", 0,
		func(of string) bool { return of != "n-7" }, func(*unstructured.Unstructured) error {
			found++
			return nil
		})
	if err != nil || found != len(sizes)-1 {
		t.Errorf("got %d objects, %v", found, err)
	}
	if len(requests) > 40 || requests[len(requests)-1] != "64 from 364" {
		t.Errorf("%d pages are read, and those after a large object do not grow: %q", len(requests), requests)
	}
}

// With many namespaces, a plan begins to list the cluster.
func TestManyLargeObjectsOfOthersDoNotHideAKind(t *testing.T) {
	const deleted = "n-3"
	small := make([]int, manyNamespaces+1)
	small[3] = -1
	others := slices.Repeat([]int{pageBytes}, maxLarge+1)
	read := func(names sets.Set[string], sizes ...int) *snapshot {
		snap := &snapshot{tree: seen.New(managedkeys.Rules{}), rules: &configrules.Rules{}}
		p := New(Config{Lister: listOf(t, nil, sizes...), Limits: Limits{Memory: 64 << 20}})
		p.readObjects(t.Context(), snap, []kinds.WithPolicies{{Kind: configMaps}}, names)
		return snap
	}
	names := sets.New[string]()
	for i := range manyNamespaces {
		names.Insert(fmt.Sprint("n-", i))
	}
	beside := read(names, slices.Concat(small, others)...)
	if len(beside.unknown) > 0 || len(beside.indexes) != 1 {
		t.Fatalf("unknown: %q", beside.unknown)
	}
	for name := range names {
		if exists := beside.indexes[0].Get(name, "a") != nil; exists == (name == deleted) {
			t.Errorf("the object of %s exists: %v", name, exists)
		}
	}
	if alone := read(names.Clone().Delete(deleted), small...); beside.free != alone.free {
		t.Errorf("%d bytes are free, but %d without the large objects", beside.free, alone.free)
	}
	names.Insert(fmt.Sprint("n-", manyNamespaces))
	if unknown := read(names, slices.Concat(small, others)...).unknown; len(unknown) != 1 || !strings.HasSuffix(unknown[0], errManyLarge.Error()) {
		t.Errorf("of too many namespaces: unknown %q", unknown)
	}
}

func TestLargeObjectsAreBoundedInSizeAndNumber(t *testing.T) {
	for want, sizes := range map[string][]int{
		"<nil>":                  slices.Repeat([]int{pageBytes}, maxLarge),
		"too many large objects": slices.Repeat([]int{pageBytes}, maxLarge+1),
		"one of the objects has more than 16 MiB": {objectBytes},
	} {
		err := listOf(t, nil, sizes...).forEach(t.Context(), configMaps.GroupVersionResource, "", 0, func(string) bool { return false }, nil)
		if fmt.Sprint(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestOneLargeObjectIsReadAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lister := listOf(t, nil, 5<<20)
		began := time.Now()
		var lists sync.WaitGroup
		for range 4 {
			lists.Go(func() {
				if err := lister.forEach(t.Context(), configMaps.GroupVersionResource, "", 0, func(string) bool { return true }, func(*unstructured.Unstructured) error {
					time.Sleep(time.Second) // while it is in memory
					return nil
				}); err != nil {
					t.Error(err)
				}
			})
		}
		lists.Wait()
		if took := time.Since(began); took != 4*time.Second {
			t.Errorf("four objects that need a second each are read in %v", took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if !lister.large.TryAcquire(1) {
			t.Fatal("a finished list holds the memory of a large object")
		}
		if err := lister.forEach(ctx, configMaps.GroupVersionResource, "", 0, func(string) bool { return true }, nil); err == nil {
			t.Error("a request that has ended waits for another's object")
		}
	})
}
