package copies

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	kubefake "k8s.io/client-go/kubernetes/fake"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/client/clienttest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// countingClient records which copies are created, and the names of those that are deleted. It refuses those that contain a name.
type countingClient struct {
	copies.Client
	mu       sync.Mutex
	created  []string
	deleted  []string
	refused  map[string]bool
	tries    int
	creating func()
}

func (f *countingClient) Create(_ context.Context, kind copies.Kind, namespace string, body []byte) (copies.Written, error) {
	if f.creating != nil {
		f.creating()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tries++
	for name := range f.refused {
		if strings.Contains(string(body), name) {
			return copies.Written{}, errors.New("refused")
		}
	}
	f.created = append(f.created, kind.Resource+" in "+namespace)
	return copies.Written{UID: types.UID(fmt.Sprint("u", f.tries)), ResourceVersion: fmt.Sprint(100 + f.tries)}, nil
}

func (f *countingClient) Delete(_ context.Context, _ copies.Kind, _, name string, _ copies.Written) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.deleted = append(f.deleted, name)
	return nil
}

// newTurns returns a controller of the trees big > big-leaf and small > small-leaf. Namespace big has the Roles role-0000
// and so on, and as many RoleBindings that refer to them.
func newTurns(t *testing.T, workers, roles int) (*Controller, *countingClient) {
	t.Helper()
	c, client := newController(), &countingClient{}
	c.Client, c.Workers, c.slots, c.urgentSlots = client, workers, make(chan struct{}, workers), make(chan struct{}, workers)
	c.Queue, c.Bindings = added{}, clienttest.Bindings{Interface: kubefake.NewClientset()}
	track(t, c, copies.Kinds...)
	for _, root := range []string{"big", "small"} {
		for _, name := range []string{root, root + "-leaf"} {
			c.Cache.ObserveNamespace(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), ResourceVersion: "1"}})
		}
		c.Cache.ObserveHierarchy(&v1beta1.Hierarchy{
			ObjectMeta: metav1.ObjectMeta{Namespace: root + "-leaf", Name: hnc.Singleton, ResourceVersion: "1"}, Spec: v1beta1.HierarchySpec{Parent: root},
		})
		c.Cache.Update(func(s *cache.State) {
			s.Kind(1).Index.Roles = s.Kind(0).Index
			n := 1
			if root == "big" {
				n = roles
			}
			for i := range n {
				s.Kind(0).Index.Set(source(t, root, "Role", fmt.Sprintf("role-%04d", i)))
				s.Kind(1).Index.Set(source(t, root, "RoleBinding", fmt.Sprintf("role-%04d", i)))
			}
		})
	}
	return c, client
}

func source(t *testing.T, namespace, kind, name string) *copies.Object {
	t.Helper()
	o, err := copies.NewObject(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind,
		"metadata": map[string]any{"namespace": namespace, "name": name, "uid": kind + name, "resourceVersion": "1"},
		"roleRef":  map[string]any{"apiGroup": rbacv1.GroupName, "kind": "Role", "name": name},
	}}, &copies.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func destination(namespace string) queue.Key {
	return queue.Key{Class: queue.Destination, Namespace: namespace}
}

// A tenant may have any number of sources, and other trees wait for each turn.
func TestTheCopiesOfANamespaceAreWrittenInTurns(t *testing.T) {
	const workers, roles = 2, 50
	c, client := newTurns(t, workers, roles)
	turns := 0
	for err := outcome.ErrUnfinished; errors.Is(err, outcome.ErrUnfinished); turns++ {
		before := len(client.created)
		if err = c.Reconcile(t.Context(), destination("big-leaf")); err != nil && !errors.Is(err, outcome.ErrUnfinished) {
			t.Fatal(err)
		}
		if n := len(client.created) - before; n > writesPerTurn*workers {
			t.Fatalf("%d copies are written in a turn", n)
		}
		if turns == 0 {
			if err := c.Reconcile(t.Context(), destination("small-leaf")); err != nil || len(client.created) != before+writesPerTurn*workers+2 {
				t.Errorf("another tree: %v, %v", err, client.created)
			}
			client.created = slices.DeleteFunc(client.created, func(s string) bool { return strings.HasSuffix(s, "small-leaf") })
		}
	}
	var want []string
	for range roles {
		want = append(want, "roles in big-leaf")
	}
	for range roles {
		want = append(want, "rolebindings in big-leaf")
	}
	if !slices.Equal(client.created, want) {
		t.Errorf("after %d turns: %v", turns, client.created)
	}
	if len(c.passes) > 0 {
		t.Error("the pass is not forgotten")
	}
}

// A write takes long where it reads many ancestors first, and other trees wait for it.
func TestATurnOfSlowWritesEndsEarlier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const roles = 20
		c, client := newTurns(t, 1, roles)
		client.creating = func() { time.Sleep(turnTime * 2 / 3) }
		for err := outcome.ErrUnfinished; errors.Is(err, outcome.ErrUnfinished); {
			before := len(client.created)
			c.enqueue("big-leaf") // The plan is outdated.
			err = c.Reconcile(t.Context(), destination("big-leaf"))
			if n := len(client.created) - before; n > 2 || (n == 0 && len(client.created) < 2*roles) {
				t.Fatalf("%d copies are written in a turn", n)
			}
		}
		if len(client.created) != 2*roles {
			t.Errorf("%d copies are written", len(client.created))
		}
	})
}

// Waiting for slots takes their order.
func TestANamespaceAsksForAsManySlotsAsThereAreWorkers(t *testing.T) {
	const workers = 2
	c, client := newTurns(t, 4*workers, 1000)
	c.Workers, c.slots = workers, make(chan struct{}, 4*workers)
	most := 0
	client.creating = func() {
		client.mu.Lock()
		defer client.mu.Unlock()
		most = max(most, len(c.slots))
	}
	if err := c.Reconcile(t.Context(), destination("big-leaf")); !errors.Is(err, outcome.ErrUnfinished) {
		t.Fatal(err)
	}
	if most > workers {
		t.Errorf("%d writes at a time", most)
	}
}

// Copies that the server refuses must not be all that is ever tried, and the errors return when all others are written.
func TestRefusedCopiesDoNotHideOthers(t *testing.T) {
	const workers, roles, refused = 1, 20, 10
	c, client := newTurns(t, workers, roles)
	client.refused = map[string]bool{}
	for i := range refused {
		client.refused[fmt.Sprintf("role-%04d", i)] = true
	}
	c.Hold("big-leaf", "parent")
	err := c.Populate(t.Context(), "big-leaf", true)
	for ; errors.Is(err, outcome.ErrUnfinished); err = c.Populate(t.Context(), "big-leaf", true) {
		// It has its next turn.
	}
	if err == nil || strings.Count(err.Error(), "refused") != refused || len(client.created) != 2*(roles-refused) {
		t.Errorf("got %v, and %d copies", err, len(client.created))
	}
}

// Copies may be refused for ever, and evaluating all others costs as much as there are.
func TestOnlyWhatFailedIsTriedAgainUntilSomethingChanges(t *testing.T) {
	for how, reconcile := range map[string]func(*Controller) error{
		"destination": func(c *Controller) error { return c.Reconcile(t.Context(), destination("big-leaf")) },
		"new sub-namespace": func(c *Controller) error {
			c.Hold("big-leaf", "big")
			defer c.Release("big-leaf", "big")
			return c.Populate(t.Context(), "big-leaf", true)
		},
	} {
		c, client := newTurns(t, 4, 4)
		client.refused = map[string]bool{"role-0000": true}
		err := reconcile(c)
		for range 3 {
			// No event says so.
			c.Cache.Update(func(s *cache.State) {
				s.Kind(0).Index.Delete("big-leaf", "role-0001", s.Kind(0).Index.Get("big-leaf", "role-0001").UID)
			})
			tries := client.tries
			if _ = reconcile(c); client.tries != tries+1 {
				t.Errorf("%s: %d copies are tried again", how, client.tries-tries)
			}
			c.enqueue("big-leaf")
			if err = reconcile(c); client.tries != tries+3 {
				t.Errorf("%s: after a change, %d copies are tried", how, client.tries-tries-1)
			}
		}
		client.refused = nil
		created := len(client.created)
		if failed := err; failed == nil || reconcile(c) != nil || len(client.created) != created+1 || len(c.repeats) > 0 {
			t.Errorf("%s: got %v and then %v, and %d passes are left", how, failed, client.created[created:], len(c.repeats))
		}
	}
}

// What was tried before counts for neither another namespace of that name nor one that has moved.
func TestAPassBeginsAgainForAnotherNamespaceOrParent(t *testing.T) {
	for name, change := range map[string]func(*Controller){
		"it is another one": func(c *Controller) {
			c.Cache.ObserveNamespace(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "big-leaf", UID: "other", ResourceVersion: "9"}})
		},
		"it has moved":     func(c *Controller) { c.Enqueue("big-leaf") },
		"it is to be made": func(c *Controller) { c.Hold("big-leaf", "parent") },
	} {
		c, _ := newTurns(t, 1, 20)
		for range 6 {
			if err := c.syncNamespace(t.Context(), c.slots, "big-leaf", true); !errors.Is(err, outcome.ErrUnfinished) {
				t.Fatal(err)
			}
		}
		c.Cache.Update(func(s *cache.State) {
			role := s.Kind(0).Index.Get("big-leaf", "role-0000")
			s.Kind(0).Index.Delete("big-leaf", "role-0000", role.UID)
		})
		change(c)
		for err := outcome.ErrUnfinished; errors.Is(err, outcome.ErrUnfinished); {
			err = c.syncNamespace(t.Context(), c.slots, "big-leaf", true)
		}
		c.Cache.Read(func(s *cache.State) {
			if s.Kind(0).Index.Get("big-leaf", "role-0000") == nil {
				t.Errorf("%s: what was tried before is missing", name)
			}
		})
	}
}

// removing calls a function at each removal.
type removing struct {
	*countingClient
	removed func()
}

func (f removing) Delete(ctx context.Context, kind copies.Kind, namespace, name string, version copies.Written) error {
	f.removed()
	return f.countingClient.Delete(ctx, kind, namespace, name, version)
}

// A namespace may be created, by another propagator, after its turn has begun.
func TestPermissionsWaitForLimitsThatBecomePendingInATurn(t *testing.T) {
	c, client := newTurns(t, 4, 2)
	observe := func(version, pending string) {
		c.Cache.ObserveNamespace(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "big-leaf", UID: "big-leaf", ResourceVersion: version,
			Annotations: map[string]string{hnc.AnnotationLimitsPending: pending}}})
	}
	c.Client = removing{client, func() { observe("2", "subnamespace") }}
	c.Cache.Update(func(s *cache.State) {
		s.Kind(0).Index.Set(copies.NewSource(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Namespace: "big-leaf", Name: "old", UID: "old", ResourceVersion: "1", Labels: map[string]string{hnc.LabelInheritedFrom: "big"},
		}}, copies.Roles, &copies.Rules{}))
	})
	sync := func() {
		err := outcome.ErrUnfinished
		for errors.Is(err, outcome.ErrUnfinished) {
			err = c.syncDestination(t.Context(), "big-leaf")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if sync(); len(client.deleted) != 1 || len(client.created) != 0 {
		t.Errorf("removed are %v, and created are %v", client.deleted, client.created)
	}
	observe("3", "")
	if sync(); len(client.created) != 4 {
		t.Errorf("created are %v after the limits are in force", client.created)
	}
}

// A plan evaluates all copies of a namespace, while other namespaces wait for theirs.
func TestAPassPlansForManyTurns(t *testing.T) {
	const roles = namesPerPlan/2 + 100
	c, client := newTurns(t, 4, roles)
	plans, turns := map[time.Time]bool{}, 0
	for err := outcome.ErrUnfinished; errors.Is(err, outcome.ErrUnfinished); turns++ {
		err = c.Reconcile(t.Context(), destination("big-leaf"))
		if p := c.passes["big-leaf"]; p != nil {
			plans[p.plan.at] = true
			if planned := slices.Concat(p.plan.names[:]...); len(planned) > namesPerPlan {
				t.Fatalf("%d names are planned", len(planned))
			}
			c.enqueue("big-leaf") // It changes all the time.
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if len(client.created) != 2*roles || turns < 2*roles/(4*writesPerTurn) || len(plans) > 4 {
		t.Errorf("%d copies in %d turns with %d plans", len(client.created), turns, len(plans))
	}
}

// What others have written since the plan is no work.
func TestWhatIsWrittenSinceThePlanTakesNoTurn(t *testing.T) {
	c, client := newTurns(t, 1, 20)
	if err := c.syncNamespace(t.Context(), c.slots, "big-leaf", true); !errors.Is(err, outcome.ErrUnfinished) {
		t.Fatal(err)
	}
	for i := range 20 {
		if err := c.syncCopy(t.Context(), queue.Key{Class: queue.Copy, Kind: 0, Namespace: "big-leaf", Name: fmt.Sprintf("role-%04d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.syncNamespace(t.Context(), c.slots, "big-leaf", true); !errors.Is(err, outcome.ErrUnfinished) || len(client.created) != 20+writesPerTurn {
		t.Errorf("got %v, and %d copies", err, len(client.created))
	}
}

// The queue has the key once, and what changes between two turns may have been tried before.
func TestWhatIsEnqueuedDuringAPassIsEvaluatedAgain(t *testing.T) {
	for _, again := range []bool{false, true} {
		c, _ := newTurns(t, 1, 20)
		enqueued := added{}
		c.Queue = enqueued
		err := c.Reconcile(t.Context(), destination("big-leaf"))
		if again {
			c.enqueue("big-leaf")
			clear(enqueued)
		}
		for errors.Is(err, outcome.ErrUnfinished) {
			err = c.Reconcile(t.Context(), destination("big-leaf"))
		}
		if err != nil || enqueued[destination("big-leaf")] != again {
			t.Errorf("enqueued: %t: got %v, %v", again, err, enqueued)
		}
	}
}

// Whoever creates sources all the time prolongs a pass, and must not keep a permission that is revoked meanwhile.
func TestWhatIsRevokedDuringAPassDoesNotWaitForItsEnd(t *testing.T) {
	c, client := newTurns(t, 1, 20)
	for range 3 {
		if err := c.syncNamespace(t.Context(), c.slots, "big-leaf", true); !errors.Is(err, outcome.ErrUnfinished) {
			t.Fatal(err)
		}
	}
	c.Cache.Update(func(s *cache.State) {
		role := s.Kind(0).Index.Get("big", "role-0000")
		s.Kind(0).Index.Delete("big", "role-0000", role.UID)
	})
	c.enqueue("big-leaf")
	c.passes["big-leaf"].plan.at = time.Now().Add(-2 * minPlanAge)
	if err := c.syncNamespace(t.Context(), c.slots, "big-leaf", true); !errors.Is(err, outcome.ErrUnfinished) {
		t.Fatal(err)
	}
	if !slices.Equal(client.deleted, []string{"role-0000"}) {
		t.Errorf("deleted %v", client.deleted)
	}
}

// Any namespace may have a Subnamespace of that name.
func TestOnlyItsParentReleasesANamespace(t *testing.T) {
	c, _ := newTurns(t, 1, 1)
	c.Hold("big-leaf", "big")
	if c.Release("big-leaf", "small"); c.populating["big-leaf"] != "big" {
		t.Error("another one has released it")
	}
	if c.Release("big-leaf", "big"); len(c.populating) > 0 {
		t.Error("it is not released")
	}
}
