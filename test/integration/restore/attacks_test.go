package restore

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

func start(t *testing.T, server controlplane.Server) {
	t.Helper()
	if err := suite.Start(t.Context(), cp, installation, server); err != nil {
		t.Fatal(err)
	}
}

func eventuallyGone(t *testing.T, name string) {
	t.Helper()
	suite.Eventually(t, name+" is gone", func() error {
		if _, err := root.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("not yet: %w", err)
		}
		return nil
	})
}

func subnamespace(t *testing.T, parent, name string) {
	t.Helper()
	suite.Eventually(t, "the Subnamespace is accepted", func() error {
		_, err := root.HNC.HncV1beta1().Subnamespaces(parent).Create(t.Context(), &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Namespace: parent, Name: name}}, metav1.CreateOptions{})
		return err
	})
	eventuallyBelow(t, name, parent, "none")
}

// TestDeletionsInABackup restores hierarchies that were saved while a sub-namespace was being deleted, below a
// propagator that is not stopped. Since then, that namespace has been created again, and another one has been deleted.
// During the pause the store is restored once more.
func TestDeletionsInABackup(t *testing.T) {
	fresh(t)
	namespace(t, "att")
	source(t, "att")
	subnamespace(t, "att", "att-again")
	subnamespace(t, "att", "att-gone")
	ours, _ := data()
	subnamespaces := root.HNC.HncV1beta1().Subnamespaces("att")
	stop(t, propagator.Name)
	if err := subnamespaces.Delete(t.Context(), "att-again", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	stop(t, apiServer.Name)
	old := backup(t, ours)
	startOurs(t)
	eventuallyGone(t, "att-again")
	first := eventuallyRecorded(t, "")
	if err := subnamespaces.Delete(t.Context(), "att-gone", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventuallyGone(t, "att-gone")
	subnamespace(t, "att", "att-again")
	eventuallyRecorded(t, first)
	before := uids(t, "att", "att-again")

	stop(t, apiServer.Name)
	restore(t, ours, old)
	start(t, apiServer)
	eventuallyEnded(t, propagator.Name)
	start(t, propagator)
	eventuallyPaused(t, hnc.ReasonHierarchiesOlder)
	stop(t, apiServer.Name)
	restore(t, ours, old)
	start(t, apiServer)
	eventuallyPaused(t, hnc.ReasonHierarchiesOlder)
	if out, code := run(t, "", "kubectl-hns", "create", "att-new", "-n", "att"); code != 0 || !strings.Contains(out, "the propagation is paused") {
		t.Errorf("a sub-namespace is created during the pause: exit code %d\n%s", code, out)
	}
	resume(t, hnc.TrustNamespaces)
	eventuallyRecorded(t, "")
	eventuallyBelow(t, "att-new", "att", "none")
	suite.Eventually(t, "the Subnamespaces are as the namespaces", func() error {
		again, err := subnamespaces.Get(t.Context(), "att-again", metav1.GetOptions{})
		if err != nil {
			return err
		}
		gone, err := subnamespaces.Get(t.Context(), "att-gone", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if again.DeletionTimestamp != nil || again.Status.State != v1beta1.SubnamespaceOk || gone.Status.State != v1beta1.SubnamespaceConflict {
			return fmt.Errorf("%+v %+v, %+v", again.ObjectMeta, again.Status, gone.Status)
		}
		return nil
	})
	eventuallyGone(t, "att-gone")
	if gone := lost(before, uids(t, "att", "att-again")); len(gone) > 0 {
		t.Errorf("deleted: %v", gone)
	}
}

// TestALossIsNoReasonToDeleteCopies loses the hierarchies of an orphan, whose labels do not name its parent, but which
// has kept its copies.
func TestALossIsNoReasonToDeleteCopies(t *testing.T) {
	fresh(t)
	for _, name := range []string{"loss", "loss-leaf"} {
		namespace(t, name)
	}
	source(t, "loss")
	setParent(t, "loss-leaf", "loss")
	eventuallyBelow(t, "loss-leaf", "loss", "none")
	if err := root.CoreV1().Namespaces().Delete(t.Context(), "loss", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventuallyGone(t, "loss")
	suite.Eventually(t, "the orphan has no label of its parent", func() error {
		ns, err := root.CoreV1().Namespaces().Get(t.Context(), "loss-leaf", metav1.GetOptions{})
		if err == nil && ns.Labels[hnc.TreeLabel("loss")] != "" {
			err = errors.New("it has")
		}
		return err
	})
	before := uids(t, "loss-leaf")
	stop(t, propagator.Name, apiServer.Name)
	ours, _ := data()
	restore(t, ours, t.TempDir())
	start(t, apiServer)
	suite.Eventually(t, "the new store has a configuration", func() error {
		_, err := root.HNC.HncV1beta1().HNCConfigurations().Create(t.Context(), &v1beta1.HNCConfiguration{ObjectMeta: metav1.ObjectMeta{Name: hnc.ConfigurationName}}, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
	// The propagator has not been started yet.
	doctorLists(t, "delete rolebindings.rbac.authorization.k8s.io: 1 (loss-leaf/loss)")
	start(t, propagator)
	eventuallyPaused(t, hnc.ReasonHierarchiesLost)
	if gone := lost(before, uids(t, "loss-leaf")); len(gone) > 0 {
		t.Errorf("deleted: %v", gone)
	}
	resume(t, hnc.TrustHierarchies)
	suite.Eventually(t, "the copy is deleted", func() error {
		if _, err := root.RbacV1().RoleBindings("loss-leaf").Get(t.Context(), "loss", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("not yet: %w", err)
		}
		return nil
	})
}
