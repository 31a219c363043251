package servers

import (
	"strings"
	"sync"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// Two users, each an admin of both namespaces, put them below each other at once through different servers. In the
// predecessor both succeeded every time.
func TestTwoUsersNeverSwapAParentAndItsChild(t *testing.T) {
	rounds := suite.Size(40, 100)
	const left, right = "swap-left", "swap-right"
	createNamespaces(t, left, right)
	ann, bob := newAccount(t, "ann"), newAccount(t, "bob")
	ann.grant(t, fullAdmin, left, right)
	bob.grant(t, fullAdmin, left, right)

	var none int
	for round := range rounds {
		// In turns: objects that exist are changed, and objects that don't are created.
		move := (*user).patch
		if round%2 == 1 {
			move = (*user).create
		}
		for _, namespace := range []string{left, right} {
			if err := admin.apply(t, hierarchies, namespace, ""); err != nil {
				t.Fatal(err)
			}
			if round%2 == 1 {
				if err := admin.remove(t, hierarchies, namespace); err != nil {
					t.Fatal(err)
				}
			}
		}
		annAt, bobAt := ann.at(t, round%len(replicas)), bob.at(t, (round+1)%len(replicas))
		begin := make(chan struct{})
		var errs [2]error
		var wg sync.WaitGroup
		wg.Go(func() {
			<-begin
			errs[0] = move(annAt, t, hierarchies, left, right)
		})
		wg.Go(func() {
			<-begin
			errs[1] = move(bobAt, t, configurations, right, left)
		})
		close(begin)
		wg.Wait()

		succeeded := 0
		for i, err := range errs {
			switch {
			case err == nil:
				succeeded++
			case !illegal(err):
				t.Errorf("round %d, mover %d: %v", round, i, err)
			case !strings.Contains(err.Error(), "is its descendant") && !strings.Contains(err.Error(), "keeps changing"):
				t.Errorf("round %d, mover %d: the answer does not show the cycle: %v", round, i, err)
			}
		}
		switch succeeded {
		case 0:
			none++
		case 2:
			t.Errorf("round %d: both succeeded", round)
		}
		// What was answered is what is stored.
		if below := admin.parentOf(t, left) == right; below != (errs[0] == nil) {
			t.Errorf("round %d: the first mover was answered %v, and %s is below %q", round, errs[0], left, admin.parentOf(t, left))
		}
		if below := admin.parentOf(t, right) == left; below != (errs[1] == nil) {
			t.Errorf("round %d: the second mover was answered %v, and %s is below %q", round, errs[1], right, admin.parentOf(t, right))
		}
	}
	// A fence is lost to a write that went through, so nobody should lose to nobody.
	if none > rounds/20 {
		t.Errorf("in %d of %d rounds nobody succeeded", none, rounds)
	}
}
