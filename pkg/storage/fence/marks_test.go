package fence

import (
	"fmt"
	"testing"
)

func TestOldMarksAreDeleted(t *testing.T) {
	client := newTestClient(t)
	edges := client.Edges()
	mark := func(names ...string) {
		t.Helper()
		for _, name := range names {
			transaction := transaction{prefix: edges.prefix}
			transaction.addGuard(&Guard{Mark: []string{name}})
			if _, err := client.client.Txn(t.Context()).Then(transaction.then...).Commit(); err != nil {
				t.Fatal(err)
			}
		}
	}
	prune := func(until int64) int64 {
		t.Helper()
		revision, err := edges.pruneMarks(t.Context(), until)
		if err != nil {
			t.Fatal(err)
		}
		return revision
	}
	expect := func(name string, want bool) {
		t.Helper()
		if revision, err := edges.Mark(t.Context(), name); err != nil || revision > 0 != want {
			t.Errorf("mark %q: got revision %d, %v, want it: %t", name, revision, err, want)
		}
	}

	for i := range 2*marksAtOnce + 1 {
		mark(fmt.Sprintf("old-%03d", i))
	}
	mark("old-000/propagation", "again")
	prune(0)
	expect("old-000", true)
	until := prune(0)
	mark("again", "new")
	prune(until)
	for _, gone := range []string{"old-000", "old-000/propagation", fmt.Sprintf("old-%03d", marksAtOnce), fmt.Sprintf("old-%03d", 2*marksAtOnce)} {
		expect(gone, false)
	}
	expect("again", true)
	expect("new", true)
}
