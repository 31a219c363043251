package children

import (
	"fmt"
	"os"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// The predecessor has deleted one level, and Kubernetes has deleted everything above when the propagator starts again.
func TestInterruptedCascadeIsContinued(t *testing.T) {
	namespaces(t, "broken")
	subnamespaces(t, "broken", "broken-1", "broken-2", "broken-3")
	if err := root.hierarchy(t, "broken", cascades); err != nil {
		t.Fatal(err)
	}
	operator := newOperator(t, "operator-broken")
	config, _, err := cp.ServiceAccount(t.Context(), controlplane.Namespace, "hns-propagator")
	if err != nil {
		t.Fatal(err)
	}
	predecessor, err := clients("predecessor", config)
	if err != nil {
		t.Fatal(err)
	}
	// The label says so on each level, once the propagator has seen it.
	for _, name := range []string{"broken", "broken-1"} {
		eventuallyLabelled(t, name, hnc.LabelCascadingDeletion, hnc.CascadingAllowed)
	}
	stopped(t, func() {
		operator.deleteNamespace(t, "broken")
		if err := predecessor.CoreV1().Namespaces().Delete(t.Context(), "broken-1", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := predecessor.HNC.HncV1beta1().Subnamespaces("broken").Patch(t.Context(), "broken-1", types.MergePatchType,
			[]byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		// As an earlier version did, which set no finalizer.
		if _, err := root.CoreV1().Namespaces().Patch(t.Context(), "broken", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		eventuallyNoNamespace(t, "broken")
		suite.Eventually(t, "the hierarchy of broken-1 is gone", func() error {
			if _, err := root.HNC.HncV1beta1().Hierarchies("broken-1").Get(t.Context(), hnc.Singleton, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				return fmt.Errorf("got %w", err)
			}
			return nil
		})
		active(t, "broken-2", "broken-3")
	})
	for _, name := range []string{"broken-1", "broken-2", "broken-3"} {
		eventuallyNoNamespace(t, name)
	}
}

// What can't be confirmed is not deleted, and not released.
func TestCascadeWaitsForTheAPIServer(t *testing.T) {
	namespaces(t, "waits")
	subnamespaces(t, "waits", "waits-1", "waits-2")
	if err := root.hierarchy(t, "waits", cascades); err != nil {
		t.Fatal(err)
	}
	operator := newOperator(t, "operator-waits")
	eventuallyLabelled(t, "waits", hnc.LabelCascadingDeletion, hnc.CascadingAllowed)
	if err := cp.StopProcess(t.Context(), apiServer.Name); err != nil {
		t.Fatal(err)
	}
	operator.deleteNamespace(t, "waits")
	suite.Eventually(t, "the propagator tries", func() error {
		log, err := os.ReadFile(cp.Log(propagator.Name))
		if err == nil && !strings.Contains(string(log), `namespace="waits" name="waits-1" failures=`) {
			err = fmt.Errorf("the log has no such line")
		}
		return err
	})
	active(t, "waits-1", "waits-2")
	if _, err := cp.StartServer(t.Context(), installation, apiServer); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"waits", "waits-1", "waits-2"} {
		eventuallyNoNamespace(t, name)
	}
}
