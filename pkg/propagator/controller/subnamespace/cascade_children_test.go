package subnamespace

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	clientgotesting "k8s.io/client-go/testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	hncfake "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/fake"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
)

// selectByParent makes a fake select Hierarchies by spec.parent, as the server does.
func selectByParent(clients *hncfake.Clientset) {
	clients.PrependReactor("list", "hierarchies", func(action clientgotesting.Action) (bool, runtime.Object, error) {
		list := action.(clientgotesting.ListActionImpl)
		obj, err := clients.Tracker().List(list.GetResource(), list.GetKind(), list.GetNamespace())
		if err != nil {
			return true, nil, err
		}
		hierarchies := obj.(*v1beta1.HierarchyList)
		hierarchies.Items = slices.DeleteFunc(hierarchies.Items, func(h v1beta1.Hierarchy) bool {
			return !list.GetListRestrictions().Fields.Matches(fields.Set{"spec.parent": h.Spec.Parent})
		})
		return true, hierarchies, nil
	})
}

// hns-apiserver, which has accepted the deletion, does not count a child that is being deleted either.
func TestAChildThatIsBeingDeletedDoesNotKeepItsParent(t *testing.T) {
	childGoes := func(o *objects) { o.d.DeletionTimestamp = o.terminationStamp }
	childComesBack := func(o *objects) {
		childGoes(o)
		o.d.Annotations = map[string]string{hnc.AnnotationSubnamespaceOf: "c"}
		o.subnamespaceD = o.subnamespace.DeepCopy()
		o.subnamespaceD.Namespace, o.subnamespaceD.Name, o.subnamespaceD.UID, o.subnamespaceD.DeletionTimestamp = "c", "d", "sd", nil
		o.subnamespaceD.OwnerReferences[0].Name, o.subnamespaceD.OwnerReferences[0].UID = "c", "uid-c"
	}
	childGoesWithItsSubnamespace := func(o *objects) {
		childComesBack(o)
		o.subnamespaceD.DeletionTimestamp = o.terminationStamp
	}
	for name, test := range map[string]struct {
		cached, live func(*objects)
		written      string
		stale        bool
	}{
		"it stays":                         {func(*objects) {}, func(*objects) {}, "patch subnamespaces c", false},
		"it goes":                          {childGoes, childGoes, "delete c uid-c 10", false},
		"it goes with its Subnamespace":    {childGoesWithItsSubnamespace, childGoesWithItsSubnamespace, "delete c uid-c 10", false},
		"it will be created again":         {childComesBack, childComesBack, "patch subnamespaces c", false},
		"it goes, which the cache has not": {func(*objects) {}, childGoesWithItsSubnamespace, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			cached, live := newObjects(), newObjects()
			for _, o := range []*objects{cached, live} {
				o.allow(o.hierarchyP, false)
				o.userDeletes()
			}
			test.cached(cached)
			test.live(live)
			written, err := reconcile(t, cached, live)
			if strings.Join(written, ", ") != test.written || errors.Is(err, outcome.ErrStale) != test.stale || (err != nil && !test.stale) {
				t.Errorf("wrote %q and returned %v, want %q", written, err, test.written)
			}
		})
	}
}
