package apiserver

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Lists of large objects share the memory, and do not keep others from reading.
func TestListsOfLargeObjectsShareTheMemory(t *testing.T) {
	l := newLists()
	l.root = func(namespace string) string { root, _, _ := strings.Cut(namespace, "."); return root }
	l.size = func(resource, namespace string, _ int) int {
		return map[string]int{"hierarchies/large": 20 << 20, "hierarchies/large.child": 20 << 20, "hierarchies/large.third": 20 << 20, "hierarchies/other": 20 << 20, "hierarchies/third": 20 << 20, "hierarchies/fourth": 20 << 20, "hierarchies/": 200 << 20}[resource+"/"+namespace]
	}
	of := func(resource, name, verb, namespace string) *http.Request {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		ctx := genericapirequest.WithRequestInfo(r.Context(), &genericapirequest.RequestInfo{APIGroup: hnc.GroupName, Verb: verb, Namespace: namespace, Resource: resource})
		return r.WithContext(genericapirequest.WithUser(ctx, &user.DefaultInfo{Name: name}))
	}
	request := func(name, verb, namespace string) *http.Request { return of("hierarchies", name, verb, namespace) }
	var releases []func()
	taken := func(r *http.Request) {
		t.Helper()
		release, err := l.acquire(r)
		if err != nil {
			t.Fatal(err)
		}
		releases = append(releases, release)
	}
	all := []*http.Request{
		request("eve", "list", "large"), request("eve", "list", "large.child"), request("ann", "list", "other"), request("ann", "list", "third"), request("admin", "list", ""),
	}
	for _, r := range all[:2] {
		taken(r)
	}
	for what, r := range map[string]*http.Request{
		"a second list of 20 MiB of one namespace": request("eve", "list", "large"),
		"one of a third namespace of the tree":     request("eve", "list", "large.third"),
		"its deletion, which returns the objects":  request("eve", "deletecollection", "large"),
	} {
		if _, err := l.acquire(r); !apierrors.IsTooManyRequests(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	taken(all[2])
	taken(all[3])
	if _, err := l.acquire(request("ann", "list", "fourth")); !apierrors.IsTooManyRequests(err) {
		t.Errorf("80 MiB of all namespaces: %v", err)
	}
	if _, err := l.acquire(of("hierarchyconfigurations", "eve", "list", "large")); !apierrors.IsTooManyRequests(err) {
		t.Errorf("the same by its name in HNC: %v", err)
	}
	for _, r := range []*http.Request{of("mynamespaces", "ann", "list", ""), of("hierarchicalresourcequotas", "ann", "list", "large"), request("ann", "list", "small"), request("eve", "get", "large"), request("eve", "watch", "large"), request(hnc.PropagatorUser, "list", ""), request(hnc.NamespaceControllerUser, "deletecollection", "large")} {
		if release, err := l.acquire(r); err != nil {
			t.Error(err)
		} else {
			release()
		}
	}
	taken(all[4])
	if _, err := l.acquire(request("admin", "list", "")); !apierrors.IsTooManyRequests(err) {
		t.Errorf("two lists of everything: %v", err)
	}
	for _, release := range releases {
		release()
	}
	for _, r := range all {
		taken(r) // again
	}
}

// Of a namespace with many objects, clients read a page or one object at a time.
func TestListsOfFewObjectsCountWhatTheyReturn(t *testing.T) {
	for what, row := range map[string]struct {
		query, namespace, name string
		limit, want            int
	}{
		"a page":                      {"limit=500", "wide", "", 500, 4 << 20},
		"a continued page":            {"limit=500&continue=x", "wide", "", 500, 4 << 20},
		"an object by its name":       {"", "wide", "a", 0, 0},
		"its name, in all namespaces": {"", "", "a", 0, 4 << 20},
		"all":                         {"", "wide", "", 0, 4 << 20},
		"all in spite of a limit":     {"limit=1&resourceVersion=0", "wide", "", 0, 4 << 20},
		"few labels among many":       {"limit=1&resourceVersion=7&labelSelector=a%3Db", "wide", "", 0, 4 << 20},
		"few fields among many":       {"limit=1&fieldSelector=metadata.name%3Da", "wide", "", 0, 4 << 20},
	} {
		l := newLists()
		l.root = func(namespace string) string { return namespace }
		l.size = func(_, _ string, limit int) int {
			if limit != row.limit {
				t.Errorf("%s: the limit is %d, want %d", what, limit, row.limit)
			}
			return 4 << 20
		}
		r := httptest.NewRequest(http.MethodGet, "/?"+row.query, nil)
		ctx := genericapirequest.WithRequestInfo(r.Context(), &genericapirequest.RequestInfo{APIGroup: hnc.GroupName, Verb: "list", Namespace: row.namespace, Name: row.name, Resource: "hierarchies"})
		if _, err := l.acquire(r.WithContext(genericapirequest.WithUser(ctx, &user.DefaultInfo{Name: "ann"}))); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		rest := func(bytes int) (func(), error) {
			return l.namespaces.AcquireNamespace(row.namespace, namespaceMemory-bytes)
		}
		if row.namespace == "" {
			rest = func(bytes int) (func(), error) { return l.everything.AcquireNamespace("", listMemory-bytes) }
		}
		if _, err := rest(row.want - 1); err == nil {
			t.Errorf("%s: less than %d bytes are in flight", what, row.want)
		}
		if _, err := rest(row.want); err != nil {
			t.Errorf("%s: more than %d bytes are in flight: %v", what, row.want, err)
		}
	}
}
