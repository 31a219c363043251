package policy

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func resourceQuota(namespace, name, configMaps string, options ...option) *corev1.ResourceQuota {
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourceConfigMaps: resource.MustParse(configMaps)}},
	}
	for _, o := range options {
		o(quota)
	}
	return quota
}

// tenant returns the clients of a new ServiceAccount that may do everything with ResourceQuotas and ConfigMaps in the
// namespace.
func tenant(t *testing.T, namespace string) user {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "tenant"}}
	must(t)(admin.CoreV1().ServiceAccounts(namespace).Create(t.Context(), account, metav1.CreateOptions{}))
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "tenant"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Verbs: []string{"*"}, Resources: []string{"resourcequotas", "resourcequotas/status", "configmaps"}}}}
	must(t)(admin.RbacV1().Roles(namespace).Create(t.Context(), role, metav1.CreateOptions{}))
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "tenant"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "tenant"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "tenant"}},
	}
	must(t)(admin.RbacV1().RoleBindings(namespace).Create(t.Context(), binding, metav1.CreateOptions{}))
	config, _, err := cp.ServiceAccount(t.Context(), namespace, "tenant")
	if err != nil {
		t.Fatal(err)
	}
	u, err := clients(config)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestQuotaHoldsAgainstTenants(t *testing.T) {
	namespace := newNamespace(t)
	tenant := tenant(t, namespace)
	quotas, configMaps := tenant.CoreV1().ResourceQuotas(namespace), tenant.CoreV1().ConfigMaps(namespace)
	eventually(t, "the tenant has its permissions", func(ctx context.Context) (bool, error) {
		_, err := quotas.List(ctx, metav1.ListOptions{})
		return err == nil, nil
	})
	labeled := label(hnc.LabelQuota, "true")

	_, err := quotas.Create(t.Context(), resourceQuota(namespace, hnc.ResourceQuotaName, "9"), metav1.CreateOptions{})
	denied(t, err, "choose another name")
	_, err = quotas.Create(t.Context(), resourceQuota(namespace, "own", "9", labeled), metav1.CreateOptions{})
	denied(t, err, "leave it out")
	must(t)(quotas.Create(t.Context(), resourceQuota(namespace, "own", "9"), metav1.CreateOptions{}))
	_, err = quotas.Patch(t.Context(), "own", types.MergePatchType, merge(t, "labels", map[string]any{hnc.LabelQuota: "true"}), metav1.PatchOptions{})
	denied(t, err, "leave it out")
	_, err = quotas.Patch(t.Context(), "own", types.MergePatchType, merge(t, "labels", map[string]any{hnc.LabelQuota: "true"}), metav1.PatchOptions{}, "status")
	denied(t, err, "leave it out")

	// kube-controller-manager puts a ConfigMap into each namespace.
	eventually(t, "the namespace has its ConfigMap", func(ctx context.Context) (bool, error) {
		list, err := configMaps.List(ctx, metav1.ListOptions{})
		return err == nil && len(list.Items) == 1, err
	})
	must(t)(propagator.CoreV1().ResourceQuotas(namespace).Create(t.Context(), resourceQuota(namespace, hnc.ResourceQuotaName, "3", labeled), metav1.CreateOptions{}))
	for what, patch := range map[string][]byte{
		"limit":     []byte(`{"spec":{"hard":{"configmaps":"9"}}}`),
		"label":     merge(t, "labels", map[string]any{hnc.LabelQuota: nil}),
		"finalizer": merge(t, "finalizers", []string{"example.com/hold"}),
		"owner":     merge(t, "ownerReferences", []any{map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "none", "uid": "1"}}),
	} {
		t.Run(what, func(t *testing.T) {
			for _, subresources := range [][]string{nil, {"status"}} {
				if what == "limit" && subresources != nil {
					continue
				}
				_, err := quotas.Patch(t.Context(), hnc.ResourceQuotaName, types.MergePatchType, patch, metav1.PatchOptions{}, subresources...)
				denied(t, err, "only the propagator changes")
			}
		})
	}
	_, err = quotas.Patch(t.Context(), hnc.ResourceQuotaName, types.MergePatchType, []byte(`{"status":{"used":{"configmaps":"7"}}}`), metav1.PatchOptions{}, "status")
	denied(t, err, "this needs the verb update on resourcequotas/status in all namespaces")
	denied(t, quotas.Delete(t.Context(), hnc.ResourceQuotaName, metav1.DeleteOptions{}), "only the propagator deletes")
	denied(t, quotas.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: hnc.LabelQuota}), "only the propagator deletes")

	// Kubernetes counts: kube-apiserver what is created, kube-controller-manager what is deleted.
	used := func(want string) {
		t.Helper()
		eventually(t, want+" ConfigMaps are counted", func(ctx context.Context) (bool, error) {
			quota, err := quotas.Get(ctx, hnc.ResourceQuotaName, metav1.GetOptions{})
			return err == nil && quota.Status.Used.Name(corev1.ResourceConfigMaps, resource.DecimalSI).String() == want, err
		})
	}
	// The first count may have missed the ConfigMap, if it was not in the controller's cache yet. A deletion makes it
	// count again.
	must(t)(configMaps.Create(t.Context(), configMap(namespace, "deleted"), metav1.CreateOptions{}))
	if err := configMaps.Delete(t.Context(), "deleted", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	used("1")
	for i := range 2 {
		must(t)(configMaps.Create(t.Context(), configMap(namespace, fmt.Sprint("c", i)), metav1.CreateOptions{}))
	}
	used("3")
	if _, err := configMaps.Create(t.Context(), configMap(namespace, "c2"), metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("want the fourth denied, got: %v", err)
	}
	if err := configMaps.Delete(t.Context(), "c0", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	// kube-controller-manager writes nothing if its cache has a ResourceQuota from before the last creation. Another deletion
	// makes it count again.
	left, began := "2", time.Now()
	eventually(t, "what is deleted is not counted", func(ctx context.Context) (bool, error) {
		quota, err := quotas.Get(ctx, hnc.ResourceQuotaName, metav1.GetOptions{})
		if err == nil && left == "2" && time.Since(began) > 10*time.Second {
			left, err = "1", configMaps.Delete(ctx, "c1", metav1.DeleteOptions{})
		}
		return err == nil && quota.Status.Used.Name(corev1.ResourceConfigMaps, resource.DecimalSI).String() == left, err
	})

	// Nothing keeps the namespace.
	if err := alice.CoreV1().Namespaces().Delete(t.Context(), namespace, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	gone(t, namespace)
}
