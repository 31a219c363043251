package tree

import (
	"context"
	"strings"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

func TestMembersAreThoseThatExist(t *testing.T) {
	f := newFixture(t, map[string]string{"root": "", "b": "root", "a": "b", "sub": "b", "gone": "b", "other": ""})
	for root, want := range map[string]string{"root": "a b root sub", "b": "a b sub", "a": "a", "other": "other", "gone": "", "nowhere": ""} {
		names, err := f.Members(t.Context(), root)
		if err != nil || strings.Join(names, " ") != want {
			t.Errorf("%s: %q, %v, want %q", root, names, err, want)
		}
	}
	changed := f.Changed()
	f.Edges = feeding{marked{f.stored, f.marks}, []fence.Entry{{Name: "sub"}}}
	f.Run(t.Context())
	select {
	case <-changed:
	default:
		t.Error("a change of an edge was not told")
	}
	if _, err := New(f.Config).Members(t.Context(), "root"); err == nil {
		t.Error("a tree that has not been read knows members")
	}
}

// feeding tells some changes, and ends.
type feeding struct {
	marked
	changes []fence.Entry
}

func (f feeding) Feed(_ context.Context, _ func([]fence.Entry), update func(fence.Entry)) {
	for _, entry := range f.changes {
		update(entry)
	}
}
