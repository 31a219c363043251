package policy

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Pods still run in a namespace that is being deleted, for as long as a tenant's finalizer keeps it.
func TestTenantsDoNotDeleteCopiesInATerminatingNamespace(t *testing.T) {
	ctx := t.Context()
	ns := newNamespace(t, label(hnc.TreeLabel("acme"), "1"))
	rules := []rbacv1.PolicyRule{{APIGroups: []string{""}, Verbs: []string{"*"}, Resources: []string{"configmaps", "resourcequotas"}}}
	editor, err := person(ctx, "editor", rules...)
	if err != nil {
		t.Fatal(err)
	}
	operator, err := person(ctx, "operator", append(rules, rbacv1.PolicyRule{
		APIGroups: []string{""}, Verbs: []string{"delete"}, Resources: []string{"namespaces"}, ResourceNames: []string{ns}})...)
	if err != nil {
		t.Fatal(err)
	}
	// The namespace controller finds objects with finalizers, so that the test does not depend on when it comes.
	held := func(object metav1.Object) { object.SetFinalizers([]string{"example.com/hold"}) }
	must(t)(propagator.CoreV1().ConfigMaps(ns).Create(ctx, configMap(ns, "inherited", copyOf("acme"), held), metav1.CreateOptions{}))
	must(t)(propagator.CoreV1().ResourceQuotas(ns).Create(ctx, resourceQuota(ns, hnc.ResourceQuotaName, "9", label(hnc.LabelQuota, "true"), held), metav1.CreateOptions{}))
	must(t)(nil, admin.CoreV1().Namespaces().Delete(ctx, ns, metav1.DeleteOptions{}))

	message := "ConfigMap " + ns + "/inherited is inherited from namespace acme"
	labeled := metav1.ListOptions{LabelSelector: hnc.LabelInheritedFrom}
	denied(t, editor.CoreV1().ConfigMaps(ns).Delete(ctx, "inherited", metav1.DeleteOptions{}), message, "or wait until Kubernetes deletes it with namespace "+ns)
	denied(t, editor.CoreV1().ConfigMaps(ns).DeleteCollection(ctx, metav1.DeleteOptions{}, labeled), message)
	_, err = editor.CoreV1().ConfigMaps(ns).Patch(ctx, "inherited", types.MergePatchType, merge(t, "ownerReferences",
		[]any{map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "none", "uid": "none"}}), metav1.PatchOptions{})
	denied(t, err, message, "gets no owners")
	denied(t, editor.CoreV1().ResourceQuotas(ns).Delete(ctx, hnc.ResourceQuotaName, metav1.DeleteOptions{}), "only the propagator deletes")

	must(t)(nil, operator.CoreV1().ConfigMaps(ns).Delete(ctx, "inherited", metav1.DeleteOptions{}))
	must(t)(nil, operator.CoreV1().ResourceQuotas(ns).Delete(ctx, hnc.ResourceQuotaName, metav1.DeleteOptions{}))

	// Kubernetes deletes the rest, and nothing keeps the namespace.
	must(t)(propagator.CoreV1().ConfigMaps(ns).Patch(ctx, "inherited", types.MergePatchType, merge(t, "finalizers", nil), metav1.PatchOptions{}))
	must(t)(propagator.CoreV1().ResourceQuotas(ns).Patch(ctx, hnc.ResourceQuotaName, types.MergePatchType, merge(t, "finalizers", nil), metav1.PatchOptions{}))
	gone(t, ns)
}
