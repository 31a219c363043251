package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned"
)

func newQuota(name, pods string) *v1beta1.HierarchicalResourceQuota {
	return &v1beta1.HierarchicalResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1beta1.HierarchicalResourceQuotaSpec{Hard: hnc.ResourceList{corev1.ResourcePods: resource.MustParse(pods)}},
	}
}

// until polls until the condition holds.
func until(t *testing.T, what string, condition func(context.Context) (bool, error)) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 2*time.Minute, true, condition); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func TestWhoMayWriteQuotas(t *testing.T) {
	create(t, "quota-users")
	hierarchies, err := versioned.NewForConfig(cp.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := hierarchies.HncV1beta1().HierarchicalResourceQuotas("quota-users").Create(t.Context(), newQuota("q", "3"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for role, writes := range map[string]bool{"view": false, "edit": true, "admin": true} {
		t.Run(role, func(t *testing.T) {
			config, err := cp.User("quota-" + role)
			if err != nil {
				t.Fatal(err)
			}
			binding := &rbacv1.RoleBinding{
				ObjectMeta: metav1.ObjectMeta{Name: role},
				RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
				Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "quota-" + role}},
			}
			if _, err := kube.RbacV1().RoleBindings("quota-users").Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			client, err := versioned.NewForConfig(config)
			if err != nil {
				t.Fatal(err)
			}
			quotas := client.HncV1beta1().HierarchicalResourceQuotas("quota-users")
			until(t, role+" reads quotas", func(ctx context.Context) (bool, error) {
				_, err := quotas.Get(ctx, "q", metav1.GetOptions{})
				return err == nil, nil
			})
			if _, err := client.HncV1alpha2().HierarchicalResourceQuotas("quota-users").List(t.Context(), metav1.ListOptions{}); err != nil {
				t.Error(err)
			}
			if _, err := client.HncV1beta1().HierarchicalResourceQuotas("default").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
				t.Errorf("a list in another namespace: %v", err)
			}
			check := func(what string, err error) {
				t.Helper()
				if writes && err != nil || !writes && !apierrors.IsForbidden(err) {
					t.Errorf("%s: %v", what, err)
				}
			}
			_, err = quotas.Create(t.Context(), newQuota(role, "1"), metav1.CreateOptions{})
			check("create", err)
			_, err = quotas.Patch(t.Context(), "q", "application/merge-patch+json", []byte(`{"spec":{"hard":{"pods":"4"}}}`), metav1.PatchOptions{})
			check("patch", err)
			check("delete a collection", quotas.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{FieldSelector: "metadata.name=" + role}))
			_, err = quotas.Patch(t.Context(), "q", "application/merge-patch+json", []byte(`{"status":{"used":{"pods":"0"}}}`), metav1.PatchOptions{}, "status")
			if !apierrors.IsForbidden(err) {
				t.Errorf("status: %v", err)
			}
		})
	}
}

func TestQuotasInDiscoveryAndTables(t *testing.T) {
	create(t, "quota-table")
	client, err := versioned.NewForConfig(cp.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, version := range []string{"v1beta1", "v1alpha2"} {
		list, err := kube.Discovery().ServerResourcesForGroupVersion("hnc.x-k8s.io/" + version)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == "hierarchicalresourcequotas" })
		if i < 0 {
			t.Fatalf("%s has no quotas", version)
		}
		r := list.APIResources[i]
		names[version] = fmt.Sprint(r.ShortNames, r.Categories)
		if r.Kind != "HierarchicalResourceQuota" || r.SingularName != "hierarchicalresourcequota" || !r.Namespaced {
			t.Errorf("%s: %+v", version, r)
		}
	}
	if names["v1beta1"] != "[hrq] [hns]" || names["v1alpha2"] != "[] []" {
		t.Errorf("short names and categories: %v", names)
	}
	quotas := client.HncV1beta1().HierarchicalResourceQuotas("quota-table")
	quota, err := quotas.Create(t.Context(), newQuota("q", "3"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	quota.Status.Hard = hnc.ResourceList{corev1.ResourcePods: resource.MustParse("3"), corev1.ResourceLimitsCPU: resource.MustParse("2")}
	quota.Status.Used = hnc.ResourceList{corev1.ResourcePods: resource.MustParse("1")}
	if _, err := quotas.UpdateStatus(t.Context(), quota, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"v1beta1", "v1alpha2"} {
		text, err := kube.Discovery().RESTClient().Get().AbsPath("/apis/hnc.x-k8s.io/"+version+"/namespaces/quota-table/hierarchicalresourcequotas").
			SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var table metav1.Table
		if err := json.Unmarshal(text, &table); err != nil {
			t.Fatal(err)
		}
		var columns []string
		for _, c := range table.ColumnDefinitions {
			columns = append(columns, c.Name)
		}
		if got := fmt.Sprint(columns, table.Rows[0].Cells[:3]); got != "[Name Request Limit Age] [q pods: 1/3 limits.cpu: 0/2]" {
			t.Errorf("%s: %s", version, got)
		}
	}
}

func TestScopesOfQuotasStay(t *testing.T) {
	create(t, "quota-scopes")
	client, err := versioned.NewForConfig(cp.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	quotas := client.HncV1beta1().HierarchicalResourceQuotas("quota-scopes")
	quota := newQuota("q", "3")
	quota.Spec.Scopes = []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeBestEffort}
	if quota, err = quotas.Create(t.Context(), quota, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(quota.Spec.Scopes)
	if _, err := quotas.Update(t.Context(), quota, metav1.UpdateOptions{}); err != nil {
		t.Errorf("another order: %v", err)
	}
	for _, patch := range []string{`{"spec":{"scopes":["Terminating"]}}`, `{"spec":{"scopes":null}}`,
		`{"spec":{"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"Exists"}]}}}`} {
		if _, err := quotas.Patch(t.Context(), "q", "application/merge-patch+json", []byte(patch), metav1.PatchOptions{}); !apierrors.IsInvalid(err) {
			t.Errorf("%s: %v", patch, err)
		}
	}
}

// Quantities are rounded as kube-apiserver rounds those of ResourceQuotas. Otherwise the propagator would never find
// them equal.
func TestQuantitiesAreThoseOfResourceQuotas(t *testing.T) {
	create(t, "quota-rounding")
	client, err := versioned.NewForConfig(cp.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	hard := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1n"), corev1.ResourceMemory: resource.MustParse("1.5Gi")}
	ours, err := client.HncV1beta1().HierarchicalResourceQuotas("quota-rounding").Create(t.Context(), &v1beta1.HierarchicalResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "q"}, Spec: v1beta1.HierarchicalResourceQuotaSpec{Hard: hnc.ResourceList(hard)}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	core, err := kube.CoreV1().ResourceQuotas("quota-rounding").Create(t.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "q"}, Spec: corev1.ResourceQuotaSpec{Hard: hard}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for name, quantity := range core.Spec.Hard {
		if got := ours.Spec.Hard[name]; got.Cmp(quantity) != 0 || got.String() != quantity.String() {
			t.Errorf("%s: %s, want %s", name, got.String(), quantity.String())
		}
	}
}

func TestNamespacesWithQuotasAreDeleted(t *testing.T) {
	create(t, "quota-gone")
	client, err := versioned.NewForConfig(cp.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	quotas := client.HncV1beta1().HierarchicalResourceQuotas("quota-gone")
	held := newQuota("held", "3")
	held.Finalizers = []string{"example.com/hold"}
	for _, quota := range []*v1beta1.HierarchicalResourceQuota{held, newQuota("q", "3")} {
		if _, err := quotas.Create(t.Context(), quota, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := kube.CoreV1().Namespaces().Delete(t.Context(), "quota-gone", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, "the quota without a finalizer goes", func(ctx context.Context) (bool, error) {
		_, err := quotas.Get(ctx, "q", metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
	// The server may learn of the deletion later than kube-apiserver.
	until(t, "no quota is created any more", func(ctx context.Context) (bool, error) {
		_, err := quotas.Create(ctx, newQuota("late", "3"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause), nil
	})
	if _, err := quotas.Patch(t.Context(), "held", "application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, "the namespace goes", func(ctx context.Context) (bool, error) { return isGone(ctx, kube, "quota-gone") })
}

func isGone(ctx context.Context, client kubernetes.Interface, namespace string) (bool, error) {
	_, err := client.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	return false, err
}
