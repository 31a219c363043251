package largeobjects

import (
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Of writes of large objects, a tree has a share; small objects, and other trees, are not limited by it.
func TestLargeObjectsAreNotWrittenOften(t *testing.T) {
	root := func(namespace string) string { root, _, _ := strings.Cut(namespace, "."); return root }
	now := time.Unix(1000, 0)
	l := newLimit(root)
	l.now = func() time.Time { return now }
	quota := func(namespace string, bytes int) runtime.Object {
		return &hnc.HierarchicalResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Annotations: map[string]string{"a": strings.Repeat("x", bytes)}}}
	}
	write := func(name string, obj runtime.Object) error {
		_, err := l.allow(genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: name}), hnc.Resource("hierarchicalresourcequotas"), obj, nil)
		return err
	}
	const large = 64 << 10
	accepted := 0
	for write("ann", quota("a.b", large)) == nil {
		if accepted++; accepted > burst/large {
			t.Fatal("any number of large objects is written")
		}
	}
	if accepted < burst/large/4 {
		t.Errorf("only %d large objects are written", accepted)
	}
	err := write("bob", quota("a.c", large))
	if seconds, ok := apierrors.SuggestsClientDelay(err); !apierrors.IsTooManyRequests(err) || !ok || seconds != retryAfter {
		t.Errorf("another user of the tree: got %v, want TooManyRequests with a delay", err)
	}
	for what, err := range map[string]error{
		"a small object":       write("ann", quota("a.b", 4<<10)),
		"the propagator":       write(hnc.PropagatorUser, quota("a.b", large)),
		"an object of another": write("ann", quota("b", large)),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	now = now.Add(time.Second)
	if err := write("ann", quota("a.b", large)); err != nil {
		t.Errorf("a second later: %v", err)
	}
}

// A tree has a bounded amount of large objects, however slowly they are written. What does not grow can be changed.
func TestLargeObjectsOfATreeAreBounded(t *testing.T) {
	roots := 0
	root := func(namespace string) string { roots++; root, _, _ := strings.Cut(namespace, "."); return root }
	l, now := newLimit(root), time.Unix(1000, 0)
	l.now = func() time.Time { now = now.Add(time.Minute); return now }
	quota := func(namespace string, i, bytes int) *hnc.HierarchicalResourceQuota {
		return &hnc.HierarchicalResourceQuota{ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, UID: types.UID(strconv.Itoa(i)), Annotations: map[string]string{"a": strings.Repeat("x", bytes)},
		}}
	}
	write := func(obj, old runtime.Object) error {
		_, err := l.allow(genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: "ann"}), hnc.Resource("hierarchicalresourcequotas"), obj, old)
		return err
	}
	const name, large = "quotas", 1 << 20
	l.stored.replace(name, nil)
	for i := range storedPerTree / large {
		if err := write(quota("a.b", i, large), nil); err != nil {
			t.Fatalf("object %d: %v", i, err)
		}
		l.stored.set(name, quota("a.b", i, large), false)
	}
	roots = 0
	if err := write(quota("a.c", 100, large), nil); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `the large objects of tree "a" would have more than 32 MiB`) {
		t.Errorf("one too many: got %v", err)
	}
	if roots > 2 {
		t.Errorf("the roots of %d namespaces are looked up, although there are 2", roots)
	}
	if err := write(quota("a.b", 0, 2*large), quota("a.b", 0, large)); !apierrors.IsForbidden(err) {
		t.Errorf("one that grows: got %v", err)
	}
	for what, err := range map[string]error{
		"one that does not grow": write(quota("a.b", 0, large), quota("a.b", 0, large)),
		"one that shrinks":       write(quota("a.b", 0, large/2), quota("a.b", 0, large)),
		"a small one":            write(quota("a.b", 101, 4<<10), nil),
		"one of another tree":    write(quota("b", 102, large), nil),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	l.stored.set(name, quota("a.b", 0, large), true)
	l.stored.set(name, quota("a.b", 1, 1), false)
	for i := range 2 {
		if err := write(quota("a.c", 100, large), nil); err != nil {
			t.Errorf("%d after one was deleted and one became small: %v", i, err)
		}
	}
	l.stored.replace(name, []any{quota("a.b", 0, large)})
	if err := write(quota("a.c", 100, 4*large), nil); err != nil {
		t.Errorf("after the others are gone: %v", err)
	}
	if l.stored.replace(name, nil); len(l.stored.excessIn)+len(l.stored.sizes) > 0 {
		t.Errorf("of no object, %v and %v remain", l.stored.excessIn, l.stored.sizes)
	}
}

// A list asks for it, and writes wait meanwhile. Many small objects of a namespace are as large as few large ones.
func TestTheSizeOfStoredObjectsIsKnown(t *testing.T) {
	const objects, calls = 50_000, 50_000
	s := newStored()
	s.replace("quotas", nil)
	s.replace("hierarchies", nil)
	for i := range objects {
		s.remember("quotas", types.UID(strconv.Itoa(i)), object{strconv.Itoa(i % 2), 2 * small})
	}
	s.remember("hierarchies", "h", object{"0", small})
	s.remember("hierarchies", "i", object{"0", small + 1})
	s.forget("quotas", "0")
	for of, want := range map[place]int{
		{"quotas", ""}: (objects - 1) * 2 * small, {"quotas", "0"}: (objects/2 - 1) * 2 * small, {"quotas", "1"}: objects / 2 * 2 * small,
		{"hierarchies", "0"}: 2*small + 1, {"hierarchies", ""}: small + 1, {"hierarchies", "1"}: 0, {"others", ""}: 0,
	} {
		if got := s.in(of.resource, of.namespace, 0); got != want {
			t.Errorf("%v: got %d, want %d", of, got, want)
		}
	}
	for limit, want := range map[int]int{1: small + objects/2*small, objects/2 - 1: objects / 2 * 2 * small, objects: objects / 2 * 2 * small} {
		if got := s.in("quotas", "1", limit); got > want || got < min(want, limit*2*small) {
			t.Errorf("with limit %d: got %d, want %d at most", limit, got, want)
		}
	}
	s.forget("hierarchies", "i")
	for namespace, want := range map[string]int{"0": small + 1, "1": small} {
		if got := s.largest("hierarchies", namespace); got != want {
			t.Errorf("the largest that %s has had: got %d, want %d", namespace, got, want)
		}
	}
	start := time.Now()
	for range calls {
		s.in("quotas", "0", 0)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("%d calls take %s", calls, took)
	}
}

// Namespaces come and go. Watch caches repeat the changes of the past to clients that continue from there.
func TestPeaksAreForgottenWhenNoWatchCacheHasThem(t *testing.T) {
	s := newStored()
	s.replace("quotas", nil)
	s.replace("hierarchies", nil)
	s.remember("quotas", "stays", object{"a", small + 1})
	s.remember("quotas", "deleted", object{"b", small + 1})
	s.remember("hierarchies", "deleted", object{"b", small + 1})
	s.age("quotas")
	s.forget("quotas", "deleted")
	s.forget("hierarchies", "deleted")
	for range history {
		s.age("quotas")
	}
	if _, kept := s.peaks[place{"quotas", "b"}]; !kept {
		t.Error("a peak is forgotten while watch caches have it")
	}
	for range history {
		s.age("quotas")
	}
	if got, want := s.peaks, (map[place]peak{{"quotas", "a"}: {small + 1, 0}, {"hierarchies", "b"}: {small + 1, 0}}); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
