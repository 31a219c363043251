package reservations

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// A dry run of a move costs the requester nothing.
func TestMovesReadOnlyTheUseOfWhatMoves(t *testing.T) {
	s := newStore(map[string]string{"b": "a", "c": "a", "x": "elsewhere"})
	c := newCluster(t, "a", "b", "c", "elsewhere", "x")
	l := s.replica(t, c)
	for _, namespace := range []string{"a", "b", "elsewhere"} {
		s.limit(namespace, "5")
	}
	observe(t, l, status("b", 10, "1"))
	observe(t, l, status("x", 10, "2"))
	s.set("c", "q", corev1.ResourceList{hnc.ResourceSubnamespaces: resource.MustParse("5")})
	for _, row := range []struct{ tops, folders []string }{
		// The ledger of the root is empty first.
		{[]string{"b", "a"}, []string{folderOf("a"), folderOf("b"), folderOf("c"), folderOf("x")}},
		{[]string{"b"}, []string{folderOf("b"), folderOf("x")}},
		// No ledger contains the use below c, which nothing limits.
		{[]string{"b", "c"}, []string{folderOf("b"), folderOf("x")}},
	} {
		s.folders = nil
		moved, sums, err := l.Subtrees(t.Context(), []string{"x"}, row.tops)
		if err != nil {
			t.Fatal(err)
		}
		if got := moved[""]["pods"]; got.String() != "2" {
			t.Errorf("%s pods move, want 2", got.String())
		}
		if got := sums["b"][""]["pods"]; got.String() != "1" {
			t.Errorf("%s pods are below b, want 1", got.String())
		}
		slices.Sort(s.folders)
		if !slices.Equal(s.folders, row.folders) {
			t.Errorf("got %v, want %v", s.folders, row.folders)
		}
	}
}

func TestSubtreesAreLimitedInTotalAndForEachUser(t *testing.T) {
	s, _, l := family(t)
	s.limit("a", "5")
	began, end := make(chan struct{}), make(chan struct{})
	s.listed = func() {
		began <- struct{}{}
		<-end
	}
	results := make(chan error)
	begin := func(name string) {
		ctx := genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: name})
		go func() {
			_, _, err := l.Subtrees(ctx, []string{"b"}, nil)
			results <- err
		}()
	}
	rejects := func(name string) {
		t.Helper()
		begin(name)
		select {
		case err := <-results:
			if seconds, ok := apierrors.SuggestsClientDelay(err); !apierrors.IsTooManyRequests(err) || !ok || seconds == 0 {
				t.Errorf("got %v, want TooManyRequests with a delay", err)
			}
		case <-began:
			t.Fatal("it is not limited")
		}
	}
	for i := range maxSubtrees {
		begin("user-" + string(rune('a'+i/maxSubtreesPerUser)))
		<-began
		if i == maxSubtreesPerUser-1 {
			rejects("user-a")
		}
	}
	rejects("another")
	close(end)
	for range maxSubtrees {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	begin("user-a")
	<-began
	if err := <-results; err != nil {
		t.Errorf("when all have ended: %v", err)
	}
}
