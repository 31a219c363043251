package children

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const urgent, urgentChild, urgentSub = "urgent", "urgent-child", "urgent-sub"

// While the APIServices are taken away and the server is down, clients get 404 for hierarchies. The propagator, also
// one that is restarted, takes that for no loss of them: all namespaces stay in their trees, and all copies stay.
func TestAnEmergencyChangesNoTree(t *testing.T) {
	names := []string{urgent, urgentChild, urgentSub}
	namespaces(t, urgent, urgentChild)
	if err := root.hierarchy(t, urgentChild, below(urgent)); err != nil {
		t.Fatal(err)
	}
	if _, err := root.subnamespace(t, urgent, urgentSub); err != nil {
		t.Fatal(err)
	}
	eventuallyReady(t, urgent, urgentSub)
	bindUrgently(t, "before")
	steady(t, names...)
	trees := objectsOfTrees(t, names...)

	file := filepath.Join(t.TempDir(), "apiservices.yaml")
	if err := cp.Kill(t.Context(), apiServer.Name); err != nil {
		t.Fatal(err)
	}
	resumed := false
	resume := func() {
		ctx := context.WithoutCancel(t.Context())
		if err := suite.Emergency(ctx, cp, binDir, "resume", file); err != nil {
			t.Error(err)
		}
		if _, err := cp.StartServer(ctx, installation, apiServer); err != nil {
			t.Error(err)
		}
		if _, err := cp.StartServer(ctx, installation, propagator); err != nil {
			t.Errorf("the propagator is not ready: %v", err)
		}
		resumed = true
	}
	t.Cleanup(func() {
		if !resumed {
			resume()
		}
	})
	if err := suite.Emergency(t.Context(), cp, binDir, "suspend", file); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "hierarchies are not found", func() error {
		err := root.HNC.HncV1beta1().RESTClient().Get().Resource("hierarchies").MaxRetries(0).Do(t.Context()).Error()
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("got %w", err)
	})
	bindUrgently(t, "during")
	before := steady(t, names...)

	if err := cp.StopProcess(t.Context(), propagator.Name); err != nil {
		t.Fatal(err)
	}
	startUnready(t)
	steady(t, names...)
	unwritten(t, before, names...)
	if !cp.Running(propagator.Name) {
		t.Error("the restarted propagator has ended")
	}

	resume()
	eventuallyReady(t, urgent, urgentSub)
	steady(t, names...)
	unwritten(t, before, names...)
	if after := objectsOfTrees(t, names...); after != trees {
		t.Errorf("the trees were\n%s\nand are\n%s", trees, after)
	}
	bindUrgently(t, "after")
}

// bindUrgently creates a RoleBinding in the root, and waits for its copies.
func bindUrgently(t *testing.T, name string) {
	t.Helper()
	if _, err := root.RbacV1().RoleBindings(urgent).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, namespace := range []string{urgentChild, urgentSub} {
		suite.Eventually(t, "the copy of "+name+" in "+namespace, func() error {
			_, err := root.RbacV1().RoleBindings(namespace).Get(t.Context(), name, metav1.GetOptions{})
			return err
		})
	}
}

// startUnready starts the propagator, and returns when it serves, and reports that it is not ready.
func startUnready(t *testing.T) {
	t.Helper()
	soon, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := cp.StartServer(soon, installation, propagator); err == nil {
		t.Fatal("the propagator is ready although it can read no hierarchies")
	}
	port, err := cp.Port(propagator.Name)
	if err != nil {
		t.Fatal(err)
	}
	client, err := rest.HTTPClientFor(cp.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "the propagator reports that it is not ready", func() error {
		response, err := client.Get(fmt.Sprintf("https://127.0.0.1:%d/readyz", port))
		if err != nil {
			return err
		}
		if err := response.Body.Close(); err != nil {
			return err
		}
		if response.StatusCode != http.StatusInternalServerError {
			return fmt.Errorf("got %s", response.Status)
		}
		return nil
	})
}

// objectsOfTrees returns the identities and specs of the hierarchies and Subnamespaces in namespaces.
func objectsOfTrees(t *testing.T, names ...string) string {
	t.Helper()
	var all strings.Builder
	for _, name := range names {
		hierarchies, err := root.HNC.HncV1beta1().Hierarchies(name).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range hierarchies.Items {
			fmt.Fprintf(&all, "%s %s %d %+v\n", name, h.UID, h.Generation, h.Spec)
		}
		subnamespaces, err := root.HNC.HncV1beta1().Subnamespaces(name).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range subnamespaces.Items {
			fmt.Fprintf(&all, "%s/%s %s %d %+v %s\n", name, s.Name, s.UID, s.Generation, s.Spec, s.Status.State)
		}
	}
	return all.String()
}
