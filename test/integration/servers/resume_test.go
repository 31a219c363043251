package servers

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// A server that has just started has no history in its cache. Clients that watched before go on nevertheless, and
// misses nothing.
func TestAWatchGoesOnAtAServerThatHasStartedSince(t *testing.T) {
	const leaf, parent, other = "resume-leaf", "resume-parent", "resume-other"
	createNamespaces(t, leaf, parent, other)
	before, err := admin.at(t, 0).dynamic.Resource(hierarchies.GroupVersionResource).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := admin.apply(t, hierarchies, leaf, parent); err != nil {
		t.Fatal(err)
	}
	late := admin.atLateReplica(t)
	w, err := late.dynamic.Resource(hierarchies.GroupVersionResource).Namespace(leaf).Watch(t.Context(), metav1.ListOptions{ResourceVersion: before.GetResourceVersion(), AllowWatchBookmarks: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	next := func(want watch.EventType) {
		t.Helper()
		for {
			select {
			case event := <-w.ResultChan():
				if event.Type == watch.Bookmark {
					continue
				}
				if event.Type != want {
					t.Fatalf("got %s, not %s: %v", event.Type, want, event.Object)
				}
				return
			case <-time.After(deadline):
				t.Fatal("nothing happens")
			}
		}
	}
	next(watch.Added)
	if err := admin.apply(t, hierarchies, leaf, other); err != nil {
		t.Fatal(err)
	}
	next(watch.Modified)
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
