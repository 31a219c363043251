package reads

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// TestRequestsAboutASmallTreeDoNotListTheCluster counts the objects that lists of both API servers go through, beside
// many namespaces in another tree.
func TestRequestsAboutASmallTreeDoNotListTheCluster(t *testing.T) {
	const others = 40
	namespaces(t, "small", "small-a", "small-b", "large")
	setParent(t, "small-a", "small")
	for i := range others {
		name := fmt.Sprintf("large-%d", i)
		namespaces(t, name)
		setParent(t, name, "large")
	}
	dryRun := metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}, FieldManager: "test"}
	created := 0
	for what, request := range map[string]func() error{
		"dry run of a parent": func() error {
			patch := []byte(`{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"Hierarchy","metadata":{"name":"hierarchy"},"spec":{"parent":"small-a"}}`)
			_, err := root.HNC.HncV1beta1().Hierarchies("small-b").Patch(t.Context(), hnc.Singleton, types.ApplyPatchType, patch, dryRun)
			return err
		},
		"plan of a parent": func() error {
			plan := &v1alpha3.HierarchyPlan{Spec: v1alpha3.HierarchyPlanSpec{Change: v1alpha3.ChangeParent, Parent: "small-b"}}
			_, err := root.HNC.HncV1beta1().Hierarchies("small-a").Plan(t.Context(), hnc.Singleton, plan, metav1.CreateOptions{})
			return err
		},
		"new sub-namespace": func() error {
			created++
			subnamespace(t, "small", fmt.Sprintf("small-sub-%d", created))
			return nil
		},
		"tree": func() error {
			_, err := root.tree(t, "small")
			return err
		},
	} {
		// Others may list at the same time, but not at each attempt.
		suite.Eventually(t, what, func() error {
			before, err := listed(t)
			if err != nil {
				return err
			}
			if err := request(); err != nil {
				return err
			}
			after, err := listed(t)
			if err == nil && after-before >= others {
				err = fmt.Errorf("lists have gone through %d objects", after-before)
			}
			return err
		})
	}
	before, err := listed(t)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := root.HNC.HncV1beta1().Hierarchies(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := root.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	if after, err := listed(t); err != nil || after-before < 2*others {
		t.Errorf("lists of the cluster have gone through %d objects, %v", after-before, err)
	}
}

// listed returns through how many namespaces, hierarchies and sub-namespaces the lists of both API servers have gone.
func listed(t *testing.T) (objects int, err error) {
	t.Helper()
	for _, server := range []string{"kube-apiserver", "hns-apiserver"} {
		samples, err := cp.Metrics(t.Context(), server)
		if err != nil {
			return 0, err
		}
		for name, n := range samples {
			if strings.HasPrefix(name, "apiserver_storage_list_fetched_objects_total{") && (strings.Contains(name, `resource="namespaces"`) ||
				strings.Contains(name, `resource="hierarchies"`) || strings.Contains(name, `resource="subnamespaces"`)) {
				objects += int(n)
			}
		}
	}
	return objects, nil
}
