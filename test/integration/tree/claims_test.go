package tree

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// claim creates a Subnamespace, as a user who is admin of nothing.
func claim(ctx context.Context, storage replica, parent, name string) (revision int, err error) {
	ctx = genericapirequest.WithUser(requestContext(ctx, parent), &user.DefaultInfo{Name: squatter})
	created, err := storage.subnamespaces.Subnamespace.Create(ctx, &hnc.Subnamespace{ObjectMeta: metav1.ObjectMeta{Namespace: parent, Name: name}},
		rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(created.(*hnc.Subnamespace).ResourceVersion)
}

// The replica whose tree is behind may not know the namespaces that name a missing parent.
func TestAStaleReplicaDoesNotAdoptOrphans(t *testing.T) {
	storages, _ := registries(t, 2, 300*time.Millisecond, []string{"evil", "child"})
	if err := move(t.Context(), storages[0], "child", "gone"); err != nil {
		t.Fatal(err)
	}
	for i, storage := range storages {
		if _, err := claim(t.Context(), storage, "evil", "gone"); !apierrors.IsForbidden(err) {
			t.Errorf("replica %d: got %v, want Forbidden", i, err)
		}
	}
	if _, err := claim(t.Context(), storages[1], "evil", "free"); err != nil {
		t.Errorf("a name that nobody has named: %v", err)
	}
	if err := move(t.Context(), storages[0], "child", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := claim(t.Context(), storages[1], "evil", "gone"); err != nil {
		t.Errorf("a name that nobody names any more: %v", err)
	}
}

// A namespace gets a missing parent while somebody claims that name, each through another replica. If both succeed, the
// claim was first: the namespace was put below what was there.
func TestNobodyIsAdoptedByAClaimThatRaces(t *testing.T) {
	const rounds = 150
	namespaces := []string{"evil"}
	for i := range rounds {
		namespaces = append(namespaces, fmt.Sprintf("child-%d", i))
	}
	storages, _ := registries(t, 2, 20*time.Millisecond, namespaces)
	var claimed, refused int
	// lead is by how much the move is ahead of the claim. It follows the outcomes, so that neither is always the first.
	lead := 400 * time.Microsecond
	for i := range rounds {
		child, gone := fmt.Sprintf("child-%d", i), fmt.Sprintf("gone-%d", i)
		begin := make(chan struct{})
		var wg sync.WaitGroup
		var moved, created int
		var moveErr, claimErr error
		wg.Go(func() {
			<-begin
			time.Sleep(-lead)
			moved, moveErr = moveAt(t.Context(), storages[0], child, gone)
		})
		wg.Go(func() {
			<-begin
			time.Sleep(lead)
			created, claimErr = claim(t.Context(), storages[1], "evil", gone)
		})
		close(begin)
		wg.Wait()
		switch {
		case moveErr != nil:
			t.Errorf("%s below %s: %v", child, gone, moveErr)
		case claimErr == nil:
			claimed++
			lead += 100 * time.Microsecond
			if created > moved {
				t.Errorf("%s was claimed at revision %d, and %s had it as its parent since %d", gone, created, child, moved)
			}
		case apierrors.IsForbidden(claimErr):
			refused++
			lead -= 100 * time.Microsecond
		default:
			t.Errorf("claiming %s: %v", gone, claimErr)
		}
	}
	t.Logf("%d claimed, %d refused", claimed, refused)
	if claimed == 0 || refused == 0 {
		t.Error("one of the two was always the first: the test shows nothing")
	}
}
