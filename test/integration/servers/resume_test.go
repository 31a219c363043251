package servers

import (
	"context"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// A server that has just started has no history in its cache. As with kube-apiserver, clients that watched before list
// again, and miss nothing.
func TestClientsListAgainAtAServerThatHasStartedSince(t *testing.T) {
	const leaf, parent, other = "resume-leaf", "resume-parent", "resume-other"
	createNamespaces(t, leaf, parent, other)
	before, err := admin.at(t, 0).dynamic.Resource(hierarchies.GroupVersionResource).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := admin.apply(t, hierarchies, leaf, parent); err != nil {
		t.Fatal(err)
	}
	client := admin.atLateReplica(t).dynamic.Resource(hierarchies.GroupVersionResource).Namespace(leaf)
	next := func(version string) watch.Event {
		t.Helper()
		w, err := client.Watch(t.Context(), metav1.ListOptions{ResourceVersion: version})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		select {
		case event := <-w.ResultChan():
			return event
		case <-time.After(deadline):
			t.Fatal("nothing happens")
		}
		return watch.Event{}
	}
	if event := next(before.GetResourceVersion()); event.Type != watch.Error || !apierrors.IsResourceExpired(apierrors.FromObject(event.Object)) {
		t.Fatalf("a watch from before its start: got %s %v, want an error 410", event.Type, event.Object)
	}
	now, err := client.List(t.Context(), metav1.ListOptions{})
	if err != nil || len(now.Items) != 1 {
		t.Fatalf("listed %d hierarchies: %v", len(now.Items), err)
	}
	if err := admin.apply(t, hierarchies, leaf, other); err != nil {
		t.Fatal(err)
	}
	if event := next(now.GetResourceVersion()); event.Type != watch.Modified {
		t.Errorf("got %s, not %s: %v", event.Type, watch.Modified, event.Object)
	}
}

// atLateReplica returns the user's clients for a replica that starts now, and runs until the test ends.
func (u *user) atLateReplica(t *testing.T) *user {
	t.Helper()
	port, err := cp.Port("in-process-late")
	if err != nil {
		t.Fatal(err)
	}
	o, err := configure(port)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	r, err := startReplica(ctx, o, port)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		if err := <-r.ended; err != nil {
			t.Error(err)
		}
	})
	late, err := u.direct(r)
	if err != nil {
		t.Fatal(err)
	}
	return late
}
