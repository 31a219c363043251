package servers

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// A user who moves the last child out of a sub-namespace may delete it at once. The propagator hears of the move and of
// the deletion by different watches, in any order: it must not take the namespace for one with children, and leave it
// behind as an orphan.
func TestASubnamespaceWhoseLastChildHasLeftIsDeleted(t *testing.T) {
	const movers = 6
	pairs := suite.Size(24, 60)
	startPropagator(t)
	createNamespaces(t, "leaving-root")
	sub := func(i int) string { return fmt.Sprintf("leaving-sub-%d", i) }
	guest := func(i int) string { return fmt.Sprintf("leaving-guest-%d", i) }
	each := func(act func(i int) error) {
		t.Helper()
		errs := make([]error, pairs)
		var wg sync.WaitGroup
		for mover := range movers {
			wg.Go(func() {
				for i := mover; i < pairs; i += movers {
					errs[i] = act(i)
				}
			})
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	records := admin.dynamic.Resource(subnamespaces.GroupVersionResource).Namespace("leaving-root")
	for i := range pairs {
		createNamespaces(t, guest(i))
	}
	each(func(i int) error {
		if _, err := records.Create(t.Context(), subnamespaces.object("leaving-root", sub(i), nil), metav1.CreateOptions{}); err != nil {
			return err
		}
		return admin.apply(t, hierarchies, guest(i), sub(i))
	})
	for i := range pairs {
		waitForLabel(t, guest(i), hnc.TreeLabel("leaving-root"))
	}
	// The watches were broken, and each starts again after a time of its own.
	restartRegistered(t)
	each(func(i int) error {
		return errors.Join(
			admin.apply(t, hierarchies, guest(i), ""),
			records.Delete(t.Context(), sub(i), metav1.DeleteOptions{}),
		)
	})
	for i := range pairs {
		eventually(t, sub(i)+" goes", func() error {
			namespace, err := admin.CoreV1().Namespaces().Get(t.Context(), sub(i), metav1.GetOptions{})
			if apierrors.IsNotFound(err) || (err == nil && namespace.DeletionTimestamp != nil) {
				return nil
			}
			if err != nil {
				return err
			}
			if _, err := records.Get(t.Context(), sub(i), metav1.GetOptions{}); apierrors.IsNotFound(err) {
				t.Errorf("namespace %s was left behind without its Subnamespace, labels %v", sub(i), namespace.Labels)
				return nil
			}
			return errors.New("nothing has happened yet")
		})
	}
}
