package subtree

import (
	"context"
	"errors"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/metrics"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/discovery/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// failingDiscovery fails for one version.
type failingDiscovery struct {
	*fake.FakeDiscovery
	failing string
}

func (d *failingDiscovery) ServerResourcesForGroupVersionWithContext(ctx context.Context, version string) (*metav1.APIResourceList, error) {
	if version == d.failing {
		return nil, errors.New("unavailable")
	}
	return d.FakeDiscovery.ServerResourcesForGroupVersionWithContext(ctx, version)
}

// Whoever asks for a kind that is not known and leaves does not end the discovery that others wait for.
func TestClientsThatLeaveEndNoDiscovery(t *testing.T) {
	client := &heldDiscovery{FakeDiscovery: &fake.FakeDiscovery{Fake: &clienttesting.Fake{Resources: []*metav1.APIResourceList{
		{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "pods", Kind: "Pod", Namespaced: true, Verbs: metav1.Verbs{"list"}}}},
	}}}, held: make(chan struct{}), asked: make(chan struct{}, 1)}
	k := &kinds{client: client, changed: func() {}}
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := k.find(ctx, "pods", "")
		left <- err
	}()
	<-client.asked
	leave()
	if err := <-left; err == nil {
		t.Error("a kind is found before it is discovered")
	}
	go close(client.held)
	if _, err := k.find(t.Context(), "pods", ""); err != nil {
		t.Error(err)
	}
	if n := client.calls.Load(); n != 1 {
		t.Errorf("%d discoveries, want one", n)
	}
}

// heldDiscovery answers when held is closed, unless its client has left.
type heldDiscovery struct {
	*fake.FakeDiscovery
	held, asked chan struct{}
	calls       atomic.Int64
}

func (d *heldDiscovery) ServerResourcesForGroupVersionWithContext(ctx context.Context, version string) (*metav1.APIResourceList, error) {
	d.calls.Add(1)
	select {
	case d.asked <- struct{}{}:
	default:
	}
	select {
	case <-d.held:
		return d.FakeDiscovery.ServerResourcesForGroupVersionWithContext(ctx, version)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestKindsHaveAllServedVersions(t *testing.T) {
	list := func(version string, names ...string) *metav1.APIResourceList {
		l := &metav1.APIResourceList{GroupVersion: version}
		for _, name := range names {
			l.APIResources = append(l.APIResources, metav1.APIResource{Name: name, Kind: "K", Namespaced: true, Verbs: metav1.Verbs{"list", "watch"}})
		}
		return l
	}
	client := &failingDiscovery{FakeDiscovery: &fake.FakeDiscovery{Fake: &clienttesting.Fake{Resources: []*metav1.APIResourceList{
		list("example.com/v2", "both", "both/status"), list("example.com/v1", "both", "old"), list("v1", "pods"),
	}}}}
	k := &kinds{client: client, changed: func() {}}
	find := func(name, version string) string {
		found, err := k.find(t.Context(), name, version)
		if err != nil {
			return err.Error()
		}
		return found.GroupVersion().String()
	}
	check := func(when string) {
		t.Helper()
		for _, c := range []struct{ name, version, want string }{
			{"pods", "", "v1"}, {"pods", "v1", "v1"}, {"example.com.both", "", "example.com/v2"},
			{"example.com.both", "v1", "example.com/v1"}, {"example.com.old", "", "example.com/v1"},
			{"example.com.both", "v3", `version: the cluster does not serve example.com.both in version "v3"; choose one of v2, v1`},
			{"example.com.old", "v2", `version: the cluster does not serve example.com.old in version "v2"; choose one of v1`},
		} {
			if got := find(c.name, c.version); got != c.want {
				t.Errorf("%s: %s in version %q is %s, want %s", when, c.name, c.version, got, c.want)
			}
		}
		if got := len(k.all()); got != 3 {
			t.Errorf("%s: discovery has %d resources, want one for each of 3 kinds", when, got)
		}
	}
	check("at first")
	client.failing = "example.com/v2"
	if err := k.refresh(t.Context(), 0); err == nil {
		t.Error("nothing reports the version that fails")
	}
	check("while discovery of a version fails")
	client.failing, client.Resources = "", client.Resources[1:]
	if err := k.refresh(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if got := find("example.com.both", ""); got != "example.com/v1" {
		t.Errorf("after version v2 is gone: %s", got)
	}
}

// Tenants create and delete such kinds, and metrics stay.
func TestKindsOfViewsAreMeasuredTogether(t *testing.T) {
	metrics.Register()
	metrics.Reset()
	_, h := newHandler(t, &fixedTree{})
	h.kinds = &kinds{known: map[string][]kind{}}
	for _, plural := range []string{"as", "bs"} {
		found := kind{schema.GroupVersionResource{Group: "example.com.acme-12345" + hnc.ViewGroupsSuffix, Version: "v1", Resource: plural}, metav1.APIResource{}, 0}
		name := found.name()
		h.kinds.known[name] = []kind{found}
		info := &genericapirequest.RequestInfo{IsResourceRequest: true, Verb: "list", APIGroup: groupName, Namespace: "a", Resource: name, Parts: []string{name}}
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(genericapirequest.WithRequestInfo(t.Context(), info), "GET", "/?watch=true", nil))
	}
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	resources := sets.New[string]()
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == "resource" {
					resources.Insert(label.GetValue())
				}
			}
		}
	}
	if !resources.Equal(sets.New("*.views.hnc.x-k8s.io")) {
		t.Errorf("got metrics of %v", sets.List(resources))
	}
}
