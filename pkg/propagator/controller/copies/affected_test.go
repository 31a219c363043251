package copies

import (
	"slices"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/namespacestate"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree/treetest"
)

func TestEveryChangeOfAncestorsMovesTheNamespace(t *testing.T) {
	treetest.Check(t, treetest.Result[string]{
		Keys: (*tree.Tree).Names,
		Of: func(tr *tree.Tree, name string) any {
			if tr.Frozen(name) {
				return nil // Nothing is written there.
			}
			return []any{namespacestate.Destination(tr, name).Ancestors}
		},
		Affected: func(_ *tree.Tree, affected tree.Affected, name string) bool {
			return slices.Contains(affected.Moved, name)
		},
	})
}
