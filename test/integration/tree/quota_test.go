package tree

import (
	"errors"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// An etcd whose history has reached its quota refuses writes with an error that says so, and accepts them again by itself.
func TestAnEtcdThatReachesItsQuotaIsReportedAndRecovers(t *testing.T) {
	replicas, client := registriesWithin(t, 1, 0, []string{"a", "b"}, 32<<20)
	if err := move(t.Context(), replicas[0], "a", "b"); err != nil {
		t.Fatal(err)
	}
	// Each time it has recovered, until a move is refused before it has.
	var refused error
	for range 200 {
		if _, err := client.Put(t.Context(), "/other", strings.Repeat("x", 1<<20)); !errors.Is(err, rpctypes.ErrNoSpace) {
			if err != nil {
				t.Fatal(err)
			}
			continue
		}
		if refused = move(t.Context(), replicas[0], "a", ""); refused != nil {
			break
		}
		if err := move(t.Context(), replicas[0], "a", "b"); err != nil {
			refused = err
			break
		}
	}
	if !apierrors.IsServiceUnavailable(refused) || !strings.Contains(refused.Error(), "etcd has reached its quota and accepts no writes") {
		t.Fatalf("a move while etcd is full: %v", refused)
	}
	eventually(t, "moves are accepted again", func() error {
		if err := move(t.Context(), replicas[0], "a", ""); err != nil {
			return err
		}
		return move(t.Context(), replicas[0], "a", "b")
	})
}
