package reservations

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/quota/limits"
)

// eventually polls until get returns want.
func eventually(t *testing.T, want string, get func() string) {
	t.Helper()
	got := ""
	if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, 10*time.Second, true, func(context.Context) (bool, error) {
		got = get()
		return got == want, nil
	}); err != nil {
		t.Fatalf("got %s, want %s", got, want)
	}
}

// terminate deletes a namespace, which leaves the tree before its objects are gone.
func terminate(t *testing.T, s *store, c *cluster, name string) {
	t.Helper()
	if err := c.namespaces.Update(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, DeletionTimestamp: &metav1.Time{}}}); err != nil {
		t.Fatal(err)
	}
	s.move(name, "")
}

// Otherwise a limit of one's own, which has existed longer, makes room below a limit from above.
func TestUseOfATerminatingNamespaceCountsForLaterQuotas(t *testing.T) {
	s, c, l := family(t)
	s.limit("b", "5")
	observe(t, l, status("b", 10, "5"))
	s.limit("a", "5")
	terminate(t, s, c, "b")
	if err := l.Reserve(t.Context(), status("c", 11, "0"), status("c", 11, "1")); !apierrors.IsForbidden(err) {
		t.Errorf("got %v, want Forbidden", err)
	}
}

// A move changes no ResourceQuota if the limits are the same below both parents.
func TestUseOfATerminatingNamespaceCountsWhereItWasMovedTo(t *testing.T) {
	s, c, l := family(t)
	s.limit("a", "5")
	s.limit("elsewhere", "5")
	stored := status("b", 10, "4")
	if err := c.quotas.Add(stored); err != nil {
		t.Fatal(err)
	}
	o := &Observer{ledger: l, client: liveQuotas(stored), queue: newQueue[key]()}
	go o.observeAll(t.Context())
	t.Cleanup(o.queue.ShutDown)
	go o.followTree(t.Context())
	eventually(t, "4", func() string { return used(t, l, "a") })
	s.move("b", "elsewhere")
	eventually(t, "b elsewhere", func() string {
		ancestors := ""
		for u, err := range l.stored(t.Context(), folderOf("b")) {
			if err != nil {
				t.Fatal(err)
			}
			ancestors = strings.Join(u.Ancestors, " ")
		}
		return ancestors
	})
	terminate(t, s, c, "b")
	if got, want := used(t, l, "a")+" "+used(t, l, "elsewhere"), "0 4"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A namespace that was moved immediately before its deletion gives nothing back where it had left already.
func TestUseThatIsGoneIsGivenBackOnce(t *testing.T) {
	s, c, l := family(t)
	s.limit("a", "5")
	s.limit("elsewhere", "5")
	observe(t, l, status("b", 10, "4"))
	s.move("b", "elsewhere")
	if err := l.Reserve(t.Context(), status("c", 11, "0"), status("c", 11, "1")); err != nil {
		t.Fatal(err)
	}
	terminate(t, s, c, "b")
	if err := c.namespaces.Delete(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "b"}}); err != nil {
		t.Fatal(err)
	}
	end(t, s, l, "b")
	if got, want := used(t, l, "a")+" "+used(t, l, "elsewhere"), "1 0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Users who create many quotas below would otherwise make the record too large to be written, and stop everybody else's
// creations.
func TestQuotasBelowDoNotEnlargeALedger(t *testing.T) {
	s, _, l := family(t)
	s.limit("a", "5")
	updated := status("b", 10, "1")
	updated.Status.Used["count/widgets.example.com"] = updated.Status.Used[corev1.ResourcePods]
	if err := l.Reserve(t.Context(), status("b", 10, "0"), updated); err != nil {
		t.Fatal(err)
	}
	scoped := status("b", 10, "1")
	scoped.Name += ".0123456789abcdef"
	observe(t, l, scoped)
	entries, err := s.Read(t.Context(), limits.Ledger("a"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(entries[0].Value), `{"":{"pods":"1"},"quotas 1":null}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
