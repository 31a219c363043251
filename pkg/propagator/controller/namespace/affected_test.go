package namespace

import (
	"maps"
	"slices"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/namespacestate"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree/treetest"
)

func TestEveryChangeAffectsTheMetadataThatFollowsFromIt(t *testing.T) {
	treetest.Check(t, treetest.Result[string]{
		Keys: (*tree.Tree).Names,
		Of: func(tr *tree.Tree, name string) any {
			changes := changesOf(tr, name)
			if changes.none() {
				return nil
			}
			return changes
		},
		Affected: func(_ *tree.Tree, affected tree.Affected, name string) bool {
			return slices.Contains(affected.Moved, name) || slices.Contains(affected.Changed, name)
		},
		Write: func(tr *tree.Tree, name string) tree.Affected {
			ns := *tr.Namespace(name)
			ns.ResourceVersion = treetest.Next()
			annotations := map[string]string{
				hnc.AnnotationAncestry: ns.Ancestry, hnc.AnnotationAbstractAncestors: hnc.JoinAbstractAncestors(ns.Abstract),
				hnc.AnnotationInheritedPodSecurity: ns.InheritedPodSecurity,
			}
			maps.Copy(annotations, ns.Annotations)
			ns.Labels, ns.Annotations = patched(ns.Labels, namespacestate.LabelChanges(tr, name)), patched(annotations, namespacestate.AnnotationChanges(tr, name))
			if add, remove := namespacestate.FinalizerChanges(tr, name); add || remove {
				ns.VanishesLast = add
			}
			ns.Ancestry, ns.Abstract = ns.Annotations[hnc.AnnotationAncestry], hnc.AbstractAncestors(ns.Annotations)
			ns.InheritedPodSecurity = ns.Annotations[hnc.AnnotationInheritedPodSecurity]
			return tr.SetNamespace(&ns)
		},
	})
}

func patched(pairs map[string]string, patch map[string]*string) map[string]string {
	result := map[string]string{}
	maps.Copy(result, pairs)
	for key, value := range patch {
		if delete(result, key); value != nil {
			result[key] = *value
		}
	}
	return result
}
