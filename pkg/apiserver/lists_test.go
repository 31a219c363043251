package apiserver

import (
	"net/http"
	"net/http/httptest"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Lists of large objects share the memory, and do not keep others from reading.
func TestListsOfLargeObjectsShareTheMemory(t *testing.T) {
	l := newLists()
	l.large = func(resource, namespace string) int {
		return map[string]int{"hierarchies/large": 20 << 20, "hierarchies/": 200 << 20}[resource+"/"+namespace]
	}
	of := func(resource, name, verb, namespace string) *http.Request {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		ctx := genericapirequest.WithRequestInfo(r.Context(), &genericapirequest.RequestInfo{APIGroup: hnc.GroupName, Verb: verb, Namespace: namespace, Resource: resource})
		return r.WithContext(genericapirequest.WithUser(ctx, &user.DefaultInfo{Name: name}))
	}
	request := func(name, verb, namespace string) *http.Request { return of("hierarchies", name, verb, namespace) }
	var releases []func()
	for range 3 {
		release, err := l.acquire(request("eve", "list", "large"))
		if err != nil {
			t.Fatal(err)
		}
		releases = append(releases, release)
	}
	if _, err := l.acquire(request("eve", "list", "large")); !apierrors.IsTooManyRequests(err) {
		t.Errorf("a fourth list of 20 MiB: %v", err)
	}
	if _, err := l.acquire(of("hierarchyconfigurations", "eve", "list", "large")); !apierrors.IsTooManyRequests(err) {
		t.Errorf("the same by its name in HNC: %v", err)
	}
	for _, r := range []*http.Request{of("mynamespaces", "ann", "list", ""), of("hierarchicalresourcequotas", "ann", "list", "large"), request("ann", "list", "small"), request("eve", "get", "large"), request("eve", "watch", "large"), request(hnc.PropagatorUser, "list", "")} {
		if release, err := l.acquire(r); err != nil {
			t.Error(err)
		} else {
			release()
		}
	}
	for _, release := range releases {
		release()
	}
	if release, err := l.acquire(request("admin", "list", "")); err != nil {
		t.Errorf("a list of everything, alone: %v", err)
	} else {
		release()
	}
}
