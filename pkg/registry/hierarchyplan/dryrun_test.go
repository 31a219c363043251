package hierarchyplan

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/warning"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/treerules"
)

type warnings []string

func (w *warnings) AddWarning(_, text string) { *w = append(*w, text) }

// Without a warning, a deletion would seem to have no effects.
func TestADryRunWarnsOfUnknownEffects(t *testing.T) {
	namespaces := cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil)
	if err := namespaces.Add(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a"}}); err != nil {
		t.Fatal(err)
	}
	p := New(Config{Tree: treerules.New(treerules.Config{Namespaces: corelisters.NewNamespaceLister(namespaces)})})
	for _, change := range []hnc.PlannedChange{hnc.ChangeDelete, hnc.ChangeParent} {
		var got warnings
		p.warnDryRun(warning.WithWarningRecorder(t.Context(), &got), "a", hnc.HierarchyPlanSpec{Change: change})
		if want := (warnings{"dry run: the effects are unknown: the tree has not been read yet; try again"}); !slices.Equal(got, want) {
			t.Errorf("%s: got %q", change, got)
		}
	}
}
