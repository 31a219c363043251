package subnamespace

import (
	"slices"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree/treetest"
)

func TestEveryChangeAffectsTheSubnamespacesThatHaveToBeActedOn(t *testing.T) {
	treetest.Check(t, treetest.Result[tree.Key]{
		Keys: func(tr *tree.Tree) []tree.Key {
			keys := tr.SubnamespaceKeys()
			for _, name := range tr.Names() {
				keys = append(keys, tr.Missing(name)...)
			}
			return keys
		},
		Of: func(tr *tree.Tree, key tree.Key) any {
			// What is written besides follows when the Subnamespace is acted on.
			switch p := planFor(tr, key, treetest.Now); p.action {
			case none:
				return nil
			case report:
				return []any{p.action, p.status}
			default:
				return p.action
			}
		},
		Affected: func(tr *tree.Tree, affected tree.Affected, key tree.Key) bool {
			for _, name := range affected.Moved {
				if slices.Contains(tr.RequestsFor(name), key) || slices.Contains(tr.Missing(name), key) {
					return true
				}
			}
			return slices.Contains(affected.Subnamespaces, key)
		},
		Write: func(tr *tree.Tree, key tree.Key) tree.Affected {
			p, s := planFor(tr, key, treetest.Now), tr.SubnamespaceRecord(key)
			if s == nil || (p.action != report && p.action != populate) {
				return tree.Affected{}
			}
			written := *s
			written.ResourceVersion, written.Status = treetest.Next(), p.status
			return tr.SetSubnamespace(&written)
		},
	})
}
