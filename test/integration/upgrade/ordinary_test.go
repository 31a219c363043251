package upgrade

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// The files of this package are tested in the order of their names, so nobody has changed anything yet.

func TestAnUpgradeServesWhatWasRecorded(t *testing.T) {
	served := map[types.UID]bool{}
	for _, o := range loaded {
		served[o.uid] = true
	}
	for _, e := range recorded {
		if strings.Contains(e.Key, "/edges/") || strings.Contains(e.Key, "/clusterrole") || strings.HasSuffix(e.Key, "/hnc-system") || strings.HasSuffix(e.Key, "/config") {
			continue
		}
		var o metav1.PartialObjectMetadata
		must(t, json.Unmarshal(e.Value, &o))
		if !served[o.UID] {
			t.Errorf("%s is not served", e.Key)
		}
	}
}

// What is right is not written again: neither by the propagator nor because somebody reads it. Namespaces with sub-namespaces get a finalizer.
func TestAnUpgradeWritesNothingInATreeInUse(t *testing.T) {
	shop := []string{"shop-web", "shop-api", "shop-test", "shop-data"}
	// A change after which everything that was due in this tree has been done.
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "later"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
	}
	_, err := as(t, "olga").RbacV1().RoleBindings("shop").Create(t.Context(), binding, metav1.CreateOptions{})
	must(t, err)
	for _, name := range shop {
		eventuallyCopied(t, name, "later")
	}
	now, err := present(t.Context())
	must(t, err)
	for _, key := range slices.Sorted(maps.Keys(loaded)) {
		before := loaded[key]
		if name, ok := strings.CutPrefix(key, "namespaces//"); ok && strings.HasPrefix(name, "shop") && hasFinalizer(t, name) {
			before.version = now[key].version
		}
		if strings.Contains(key, "/shop") && now[key] != before {
			t.Errorf("%s was %+v, and is %+v", key, before, now[key])
		}
	}
	for key := range now {
		if _, ok := loaded[key]; !ok && strings.Contains(key, "/shop") && !strings.HasSuffix(key, "/later") {
			t.Errorf("%s is new", key)
		}
	}
}

func hasFinalizer(t *testing.T, namespace string) bool {
	t.Helper()
	ns, err := root.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{})
	must(t, err)
	return slices.Contains(ns.Finalizers, hnc.FinalizerSubnamespaces)
}

func TestAnUpgradeDeletesNothingOfAnybodys(t *testing.T) {
	// Whatever is due has been done when a tree that is entered last is complete.
	_, err := root.HNC.HncV1beta1().Subnamespaces("shop").Create(t.Context(), &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: "shop-last"}}, metav1.CreateOptions{})
	must(t, err)
	now, err := present(t.Context())
	must(t, err)
	for _, key := range slices.Sorted(maps.Keys(loaded)) {
		switch before, after := loaded[key], now[key]; {
		case before.copied, key == "hierarchies/absent-child/hierarchy":
			// Copies follow their sources. The owner of that hierarchy does not exist: the garbage collector may have it.
		case before.uid != after.uid, before.terminating != after.terminating:
			t.Errorf("%s was %+v, and is %+v", key, before, after)
		}
	}
}

func TestAnUpgradedTreeGoesOn(t *testing.T) {
	olga := as(t, "olga")
	_, err := olga.HNC.HncV1beta1().Subnamespaces("shop-web").Create(t.Context(), &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: "shop-new"}}, metav1.CreateOptions{})
	must(t, err)
	eventuallyCopied(t, "shop-new", "olga-admin")
	patchHierarchy(t, olga, "shop", `{"spec":{"labels":[{"key":"team","value":"green"}]}}`)
	for _, name := range []string{"shop", "shop-api", "shop-test", "shop-data", "shop-new"} {
		suite.Eventually(t, "the managed label of "+name, func() error {
			ns, err := root.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{})
			if err == nil && ns.Labels["team"] != "green" {
				err = fmt.Errorf("got %v", ns.Labels)
			}
			return err
		})
	}
	// Cascading deletion was allowed there.
	must(t, olga.HNC.HncV1beta1().Subnamespaces("shop").Delete(t.Context(), "shop-api", metav1.DeleteOptions{}))
	eventuallyGone(t, "shop-api")
	eventuallyGone(t, "shop-test")
}
