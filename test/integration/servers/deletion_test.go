package servers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
)

var apiServices = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}

// startPropagator runs the propagator until the test ends.
func startPropagator(t *testing.T) {
	t.Helper()
	server := controlplane.Server{Name: "hns-propagator"}
	if _, err := cp.StartServer(t.Context(), installation, server); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cp.StopProcess(context.WithoutCancel(t.Context()), server.Process()); err != nil {
			t.Error(err)
		}
	})
}

// createSubnamespaces creates sub-namespaces along a path, and returns when they can be used.
func createSubnamespaces(t *testing.T, path ...string) {
	t.Helper()
	for i, child := range path[1:] {
		parent := path[i]
		_, err := admin.dynamic.Resource(subnamespaces.GroupVersionResource).Namespace(parent).
			Create(t.Context(), subnamespaces.object(parent, child, nil), metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "sub-namespace "+child+" exists", func() error {
			_, err := admin.CoreV1().Namespaces().Get(t.Context(), child, metav1.GetOptions{})
			return err
		})
	}
}

// The namespace controller asks our server to delete all that a namespace holds, whatever the namespace is to us.
func TestNamespacesAreDeletedWithWhatTheyHold(t *testing.T) {
	startPropagator(t)
	t.Run("nothing of ours", func(t *testing.T) {
		t.Parallel()
		createNamespaces(t, "delete-plain")
		deleteNamespaces(t, "delete-plain")
	})
	t.Run("the hierarchies of a parent and of a child", func(t *testing.T) {
		t.Parallel()
		createNamespaces(t, "delete-parent", "delete-child")
		for namespace, parent := range map[string]string{"delete-child": "delete-parent", "delete-parent": ""} {
			if err := admin.apply(t, hierarchies, namespace, parent); err != nil {
				t.Fatal(err)
			}
		}
		deleteNamespaces(t, "delete-child", "delete-parent")
	})
	t.Run("sub-namespaces, which go with it, and a full child, which stays", func(t *testing.T) {
		t.Parallel()
		createNamespaces(t, "delete-tree", "delete-guest")
		if _, err := admin.dynamic.Resource(hierarchies.GroupVersionResource).Namespace("delete-tree").Create(t.Context(),
			hierarchies.object("delete-tree", hnc.Singleton, map[string]any{"allowCascadingDeletion": true}), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		createSubnamespaces(t, "delete-tree", "delete-branch", "delete-leaf")
		if err := admin.apply(t, hierarchies, "delete-guest", "delete-leaf"); err != nil {
			t.Fatal(err)
		}
		waitForLabel(t, "delete-leaf", hnc.LabelCascadingDeletion)
		waitForLabel(t, "delete-guest", hnc.TreeLabel("delete-tree"))
		deleteNamespaces(t, "delete-tree")
		waitUntilGone(t, "delete-branch")
		waitUntilGone(t, "delete-leaf")
		guest, err := admin.CoreV1().Namespaces().Get(t.Context(), "delete-guest", metav1.GetOptions{})
		if err != nil || guest.DeletionTimestamp != nil {
			t.Errorf("the full child: %v, %v", guest, err)
		}
		deleteNamespaces(t, "delete-guest")
	})
}

func waitForLabel(t *testing.T, namespace, label string) {
	t.Helper()
	eventually(t, "namespace "+namespace+" has label "+label, func() error {
		got, err := admin.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{})
		if err == nil && got.Labels[label] == "" {
			err = fmt.Errorf("labels: %v", got.Labels)
		}
		return err
	})
}

// While our server is down nobody knows what a namespace holds of ours, so that deletions wait. They go on when it is
// back.
func TestNamespaceDeletionWaitsForTheServer(t *testing.T) {
	createNamespaces(t, "down-plain", "down-parent", "down-child")
	if err := admin.apply(t, hierarchies, "down-child", "down-parent"); err != nil {
		t.Fatal(err)
	}
	if err := cp.StopProcess(t.Context(), registered.Process()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { restartRegistered(t) })
	names := []string{"down-plain", "down-child"}
	for _, name := range names {
		if err := admin.CoreV1().Namespaces().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names {
		eventually(t, "the deletion of "+name+" waits", func() error {
			namespace, err := admin.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			waits := slices.ContainsFunc(namespace.Status.Conditions, func(c corev1.NamespaceCondition) bool {
				return c.Type == corev1.NamespaceDeletionDiscoveryFailure && c.Status == corev1.ConditionTrue
			})
			if !waits {
				return fmt.Errorf("its conditions are %v", namespace.Status.Conditions)
			}
			return nil
		})
	}
	restartRegistered(t)
	for _, name := range names {
		waitUntilGone(t, name)
	}
}

// restartRegistered replaces the server that kube-apiserver forwards to. It may be called when the test has ended.
func restartRegistered(t *testing.T, args ...string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	if err := errors.Join(cp.StopProcess(ctx, registered.Process()), startRegistered(ctx, args...)); err != nil {
		t.Fatal(err)
	}
}

// Who has no clients of HNC's version left switches it off in the server and takes away its APIService.
func TestNamespacesAreDeletedWithoutTheOldVersion(t *testing.T) {
	ctx := t.Context()
	createNamespaces(t, "without-parent", "without-child")
	// Written under the name that goes away.
	if err := admin.apply(t, configurations, "without-child", "without-parent"); err != nil {
		t.Fatal(err)
	}
	if err := cp.StopProcess(ctx, registered.Process()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { restartRegistered(t) })
	server := registered
	server.Args = []string{"--runtime-config=hnc.x-k8s.io/v1alpha2=false"}
	if _, err := cp.StartServer(ctx, installation, server); err != nil {
		t.Fatal(err)
	}
	if err := admin.dynamic.Resource(apiServices).Delete(ctx, "v1alpha2."+hnc.GroupName, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	// kube-apiserver looks at a server again when its APIService changes.
	touch := fmt.Sprintf(`{"metadata":{"annotations":{"test/touched":%q}}}`, time.Now())
	if _, err := admin.dynamic.Resource(apiServices).Patch(ctx, "v1beta1."+hnc.GroupName, types.MergePatchType, []byte(touch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "only the new version is served", func() error {
		if err := admin.apply(t, configurations, "without-child", "without-parent"); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the old name still gives %w", err)
		}
		return admin.apply(t, hierarchies, "without-child", "without-parent")
	})
	deleteNamespaces(t, "without-child", "without-parent")
}
