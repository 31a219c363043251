package hierarchy

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/namespacestate"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree/treetest"
)

func affects(_ *tree.Tree, affected tree.Affected, name string) bool {
	return slices.Contains(affected.Moved, name) || slices.Contains(affected.Changed, name)
}

func TestEveryChangeAffectsTheStatusesThatFollowFromIt(t *testing.T) {
	treetest.Check(t, treetest.Result[string]{
		Keys: (*tree.Tree).Names,
		Of: func(tr *tree.Tree, name string) any {
			if p := Plan(tr, name, treetest.Now); p != nil {
				return []any{p.Create, p.Parent, p.Metadata, p.Bind, p.Status}
			}
			return nil
		},
		Affected: affects,
		Write: func(tr *tree.Tree, name string) tree.Affected {
			p := Plan(tr, name, treetest.Now)
			h := &tree.Hierarchy{Namespace: name, UID: types.UID("h-" + treetest.Next()), Owner: tr.Namespace(name).UID, Parent: p.Parent, Metadata: p.Metadata, Generation: 1}
			if !p.Create {
				*h = *p.Hierarchy
				h.Status = p.Status
			}
			h.ResourceVersion = treetest.Next()
			return tr.SetHierarchy(h)
		},
	})
}

func TestEveryChangeAffectsTheConditionsThatFollowFromIt(t *testing.T) {
	treetest.Check(t, treetest.Result[string]{
		Keys: (*tree.Tree).Names,
		Of: func(tr *tree.Tree, name string) any {
			return namespacestate.Conditions(tr, name)
		},
		Affected: affects,
	})
}
