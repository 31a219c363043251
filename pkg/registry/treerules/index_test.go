package treerules

import (
	"context"
	"strings"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

func TestMembersAreExistingNamespaces(t *testing.T) {
	f := newFixture(t, map[string]string{"root": "", "b": "root", "a": "b", "sub": "b", "gone": "b", "other": ""})
	for root, want := range map[string]string{"root": "a b root sub", "b": "a b sub", "a": "a", "other": "other", "gone": "", "nowhere": ""} {
		names, err := f.Index.Members(t.Context(), root)
		if err != nil || strings.Join(names, " ") != want {
			t.Errorf("%s: %q, %v, want %q", root, names, err, want)
		}
	}
	changed := f.Index.Changed()
	f.config().Edges = scripted{marked{f.stored, f.marks}, []fence.Entry{{Name: "sub"}}}
	f.Index.Run(t.Context())
	select {
	case <-changed:
	default:
		t.Error("a change of an edge was not reported")
	}
	if _, err := New(*f.config()).Index.Members(t.Context(), "root"); err == nil {
		t.Error("an index that is not synced returns members")
	}
}

// scripted delivers some changes and returns.
type scripted struct {
	marked
	changes []fence.Entry
}

func (s scripted) ListAndWatch(_ context.Context, _ func([]fence.Entry), update func(fence.Entry)) {
	for _, entry := range s.changes {
		update(entry)
	}
}
