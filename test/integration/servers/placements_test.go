package servers

import (
	"fmt"
	"path"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/history"
)

// moveAll asks for parents of namespaces in one request.
func (u *user) moveAll(t *testing.T, options metav1.CreateOptions, placements ...v1beta1.Placement) (*v1beta1.TreePlacement, error) {
	t.Helper()
	client, err := versioned.NewForConfig(u.config)
	if err != nil {
		t.Fatal(err)
	}
	return client.HncV1beta1().TreePlacements().Create(t.Context(), &v1beta1.TreePlacement{Spec: v1beta1.TreePlacementSpec{Placements: placements}}, options)
}

// under are placements of namespaces, each given by its name and its parent.
func under(pairs ...string) []v1beta1.Placement {
	var placements []v1beta1.Placement
	for i := 0; i < len(pairs); i += 2 {
		placements = append(placements, v1beta1.Placement{Namespace: pairs[i], Parent: pairs[i+1]})
	}
	return placements
}

// parents checks the parents of namespaces, given as for under.
func checkParents(t *testing.T, pairs ...string) {
	t.Helper()
	for _, p := range under(pairs...) {
		if got := admin.parentOf(t, p.Namespace); got != p.Parent {
			t.Errorf("%s is below %q, want %q", p.Namespace, got, p.Parent)
		}
	}
}

// A tree is built in the order in which it is written down, not in that of its levels, and reported parents first.
func TestPlacementsBuildATree(t *testing.T) {
	createNamespaces(t, "built-a", "built-b", "built-c", "built-d")
	want := []string{"built-d", "built-c", "built-c", "built-b", "built-b", "built-a"}
	dry, err := admin.moveAll(t, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}, under(want...)...)
	if err != nil {
		t.Fatal(err)
	}
	if dry.Status.Moved != 3 || dry.Status.Transactions != 0 {
		t.Errorf("dry run: %+v", dry.Status)
	}
	checkParents(t, "built-b", "", "built-c", "", "built-d", "")
	moved, err := admin.moveAll(t, metav1.CreateOptions{FieldManager: "builder"}, under(want...)...)
	if err != nil {
		t.Fatal(err)
	}
	checkParents(t, want...)
	if s := moved.Status; s.Moved != 3 || s.Unchanged != 0 || s.Transactions != 3 || len(s.Placements) != 3 || s.Placements[0].Namespace != "built-b" {
		t.Errorf("got %+v", s)
	}
	object, err := admin.dynamic.Resource(hierarchies.GroupVersionResource).Namespace("built-b").Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if fields := object.GetManagedFields(); len(fields) != 1 || fields[0].Manager != "builder" {
		t.Errorf("managed fields: %v", fields)
	}
	namespace, err := admin.CoreV1().Namespaces().Get(t.Context(), "built-b", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if owners := object.GetOwnerReferences(); len(owners) != 1 || owners[0].UID != namespace.UID {
		t.Errorf("the hierarchy is not bound to its namespace: %v", owners)
	}
	again, err := admin.moveAll(t, metav1.CreateOptions{}, under(want...)...)
	if err != nil {
		t.Fatal(err)
	}
	if s := again.Status; s.Moved != 0 || s.Unchanged != 3 || s.Transactions != 0 {
		t.Errorf("the same again: got %+v", s)
	}
}

// Two branches swap their parents, which no single move can do first.
func TestPlacementsSwapBranches(t *testing.T) {
	createNamespaces(t, "swapped-root", "swapped-up", "swapped-down")
	if _, err := admin.moveAll(t, metav1.CreateOptions{}, under("swapped-up", "swapped-root", "swapped-down", "swapped-up")...); err != nil {
		t.Fatal(err)
	}
	if err := admin.patch(t, hierarchies, "swapped-up", "swapped-down"); !illegal(err) {
		t.Fatalf("the first move alone: got %v, want a cycle", err)
	}
	recording := history.Record(t, etcdClient(t), path.Join(controlplane.EtcdPrefix, hnc.GroupName))
	moved, err := admin.moveAll(t, metav1.CreateOptions{}, under("swapped-up", "swapped-down", "swapped-down", "swapped-root")...)
	if err != nil {
		t.Fatal(err)
	}
	checkParents(t, "swapped-up", "swapped-down", "swapped-down", "swapped-root")
	if s := moved.Status; s.Moved != 2 || s.Transactions != 2 || s.Placements[0].PreviousParent != "swapped-up" {
		t.Errorf("got %+v", s)
	}
	if _, cyclic := recording.Finish(t.Context()); len(cyclic) > 0 {
		t.Error(cyclic)
	}
}

// What is illegal as a whole changes nothing, and the error names each placement that is at fault.
func TestIllegalPlacementsChangeNothing(t *testing.T) {
	createNamespaces(t, "illegal-a", "illegal-b", "illegal-c")
	for name, row := range map[string]struct {
		placements []v1beta1.Placement
		is         func(error) bool
		says       string
	}{
		"a cycle":              {under("illegal-c", "illegal-a", "illegal-a", "illegal-b", "illegal-b", "illegal-a"), apierrors.IsInvalid, "is its descendant"},
		"its own parent":       {under("illegal-c", "illegal-a", "illegal-a", "illegal-a"), apierrors.IsInvalid, `spec.placements[1].parent`},
		"twice":                {under("illegal-c", "illegal-a", "illegal-c", "illegal-b"), apierrors.IsInvalid, "spec.placements[1].namespace: Duplicate"},
		"an excluded parent":   {under("illegal-c", "illegal-a", "illegal-b", "kube-system"), apierrors.IsForbidden, "spec.placements[1]"},
		"a missing namespace":  {under("illegal-c", "illegal-a", "illegal-missing", "illegal-a"), apierrors.IsInvalid, `namespace "illegal-missing"`},
		"no placements":        {nil, apierrors.IsInvalid, "spec.placements"},
		"not a name":           {under("illegal-c", "illegal-a", "A", "illegal-a"), apierrors.IsInvalid, "spec.placements[1].namespace"},
		"a parent that is not": {under("illegal-c", "Illegal"), apierrors.IsInvalid, "spec.placements[0].parent"},
	} {
		_, err := admin.moveAll(t, metav1.CreateOptions{}, row.placements...)
		if !row.is(err) || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: got %v, want an error that says %q", name, err, row.says)
		}
		checkParents(t, "illegal-a", "", "illegal-b", "", "illegal-c", "")
	}
}

// A long tree is turned upside down, and no revision of etcd holds a cycle.
func TestPlacementsInSeveralTransactions(t *testing.T) {
	const n = 150
	var namespaces, below, turned []string
	for i := range n {
		name := fmt.Sprintf("turned-%d", i)
		namespaces = append(namespaces, name)
		if i%50 > 0 {
			below = append(below, name, fmt.Sprintf("turned-%d", i-1))
			turned = append(turned, fmt.Sprintf("turned-%d", i-1), name)
		} else {
			turned = append(turned, fmt.Sprintf("turned-%d", i+49), "")
		}
	}
	createNamespaces(t, namespaces...)
	recording := history.Record(t, etcdClient(t), path.Join(controlplane.EtcdPrefix, hnc.GroupName))
	for _, pairs := range [][]string{below, turned} {
		moved, err := admin.moveAll(t, metav1.CreateOptions{}, under(pairs...)...)
		if err != nil {
			t.Fatal(err)
		}
		if s := moved.Status; int(s.Moved) != len(pairs)/2 || s.Transactions < 2 {
			t.Errorf("%d of %d moved in %d transactions", s.Moved, len(pairs)/2, s.Transactions)
		}
		checkParents(t, pairs...)
	}
	moves, cyclic := recording.Finish(t.Context())
	if moves != (len(below)+len(turned))/2 || len(cyclic) > 0 {
		t.Errorf("%d moves, cycles: %v", moves, cyclic)
	}
}
