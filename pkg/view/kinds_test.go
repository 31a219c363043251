package view

import (
	"context"
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// slowDiscovery finds pods. It takes as long as the test wants, or until its context is done.
type slowDiscovery struct {
	discovery.DiscoveryInterfaceWithContext
	started, end chan struct{}
}

func (d *slowDiscovery) ServerGroupsAndResourcesWithContext(ctx context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	if _, ok := ctx.Deadline(); !ok {
		return nil, nil, errors.New("there is no deadline")
	}
	d.started <- struct{}{}
	select {
	case <-d.end:
		return nil, []*metav1.APIResourceList{{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "pods", Kind: "Pod", Namespaced: true}}}}, nil
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
}

var podResource, unknownResource = schema.GroupVersionResource{Version: "v1", Resource: "pods"}, schema.GroupVersionResource{Version: "v1", Resource: "unknown"}

// Callers that ask for unknown kinds and leave do not keep others from knowing the kinds.
func TestDiscoveryOutlivesItsCallers(t *testing.T) {
	d := &slowDiscovery{started: make(chan struct{}, 10), end: make(chan struct{})}
	k := NewKinds(d)
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := k.find(ctx, unknownResource); !errors.Is(err, context.Canceled) {
			t.Errorf("a caller that leaves gets %v", err)
		}
	}
	<-d.started
	found := make(chan error)
	go func() {
		pods, err := k.find(t.Context(), podResource)
		if err == nil && (pods == nil || pods.Kind != "Pod") {
			err = errors.New("pods are unknown")
		}
		found <- err
	}()
	close(d.end)
	if err := <-found; err != nil {
		t.Error(err)
	}
	if len(d.started) != 0 {
		t.Errorf("discovery has started %d times more", len(d.started))
	}
}

func TestKnownKindsDoNotWaitForDiscovery(t *testing.T) {
	d := &slowDiscovery{started: make(chan struct{}, 10), end: make(chan struct{})}
	k := NewKinds(d)
	k.known = map[schema.GroupVersionResource]kind{podResource: {schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, true}}
	for range 2 { // the first one begins the refresh
		if found, err := k.find(t.Context(), podResource); found == nil || err != nil || !k.namespaced(podResource) {
			t.Errorf("got %v, %v", found, err)
		}
	}
	<-d.started
	close(d.end)
	if err := k.current(t.Context()); err != nil {
		t.Error(err)
	}
	if _, age := k.lookup(podResource); age > maxRefresh {
		t.Errorf("what is known is %s old", age)
	}
}

// failingDiscovery counts attempts.
type failingDiscovery struct {
	discovery.DiscoveryInterfaceWithContext
	attempts int
}

func (d *failingDiscovery) ServerGroupsAndResourcesWithContext(context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	d.attempts++
	return nil, nil, errors.New("unavailable")
}

// A body can have any number of unknown groups.
func TestUnknownGroupsDoNotWaitForDiscoveryThatFails(t *testing.T) {
	d := &failingDiscovery{}
	groups := Groups("root", identified{fixed{}}, NewKinds(d))
	for range 1000 {
		if got := groups.In("example.com"); got != "example.com" {
			t.Fatalf("the group is %s", got)
		}
	}
	if d.attempts == 0 || d.attempts > 100 {
		t.Errorf("discovery was asked %d times", d.attempts)
	}
}
