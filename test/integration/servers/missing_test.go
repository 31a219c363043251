package servers

import (
	"fmt"
	"path"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/history"
)

// A gets the parent B, which comes at the same moment and wants to be below A, each through another server and under
// another name of the resource. Whether B exists when A's request is validated or not: one of the two is refused,
// always.
func TestParentsThatComeLaterCloseNoCycle(t *testing.T) {
	const rounds = 40
	recording := history.Record(t, etcdClient(t), path.Join(controlplane.EtcdPrefix, hnc.GroupName))
	early := make([]string, rounds)
	for i := range early {
		early[i] = fmt.Sprintf("early-%d", i)
	}
	createNamespaces(t, early...)
	firstWon := 0
	for i, a := range early {
		b := fmt.Sprintf("late-%d", i)
		first, second := admin.at(t, i%len(replicas)), admin.at(t, (i+1)%len(replicas))
		begin := make(chan struct{})
		var wg sync.WaitGroup
		var errs [2]error
		wg.Go(func() {
			<-begin
			errs[0] = first.create(t, bothHierarchies[i%2], a, b)
		})
		wg.Go(func() {
			<-begin
			if _, errs[1] = admin.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b}}, metav1.CreateOptions{}); errs[1] == nil {
				errs[1] = second.create(t, bothHierarchies[(i+1)%2], b, a)
			}
		})
		close(begin)
		wg.Wait()
		if errs[0] == nil {
			firstWon++
		}
		if (errs[0] == nil) == (errs[1] == nil) || !illegal(errs[0]) && !illegal(errs[1]) {
			t.Errorf("%s below %s: %v; the reverse: %v; want one Conflict", a, b, errs[0], errs[1])
		}
	}
	committed, cyclic := recording.Finish(t.Context())
	t.Logf("%d moves committed, %d of %d below a parent that came later", committed, firstWon, rounds)
	for _, cycle := range cyclic {
		t.Error(cycle)
	}
}

// Nothing is left to chance: B does not exist when A gets it as its parent.
func TestAParentThatComesLaterCanNotGoBelowItsChild(t *testing.T) {
	createNamespaces(t, "waiting", "waiting-child")
	for _, edge := range [][2]string{{"waiting", "awaited"}, {"waiting-child", "waiting"}} {
		if err := admin.at(t, 0).create(t, hierarchies, edge[0], edge[1]); err != nil {
			t.Fatal(err)
		}
	}
	createNamespaces(t, "awaited")
	for i, below := range []string{"waiting", "waiting-child"} {
		if err := admin.at(t, i+1).create(t, bothHierarchies[i], "awaited", below); !illegal(err) || apierrors.IsConflict(err) != (i == 1) {
			t.Errorf("below %s: got %v, want Invalid in v1beta1 and a Conflict in v1alpha2", below, err)
		}
	}
	// Nor can it be claimed as a sub-namespace below.
	if err := admin.create(t, hierarchies, "awaited", "absent"); err != nil {
		t.Fatal(err)
	}
	n := bothSubnamespaces[0]
	_, err := admin.dynamic.Resource(n.GroupVersionResource).Namespace("waiting-child").Create(t.Context(), n.object("waiting-child", "absent", nil), metav1.CreateOptions{})
	if !apierrors.IsInvalid(err) {
		t.Errorf("got %v, want Invalid", err)
	}
}
