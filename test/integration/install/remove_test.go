package install

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagatorroles"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// An installation with Helm, the use of it, and its removal by both ways, in one cluster and in this order.
func TestInstallAndRemove(t *testing.T) {
	install(t, "--set=sync.enabled=true")
	buildTree(t)
	diagnose(t)
	repositorySync(t)
	before := inventory(t)
	if len(before) < 6 {
		t.Fatalf("the tree is incomplete: %v", before)
	}

	_, err := admin.RbacV1().ClusterRoles().Create(t.Context(), propagatorroles.Role(schema.GroupResource{Group: "example.com", Resource: "widgets"}), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := command(t, "kubectl-hns", "uninstall", "--dry-run=client")
	if err != nil {
		t.Fatal(err)
	}
	for _, stays := range []string{"3 of them in trees", "2 copies of configmaps", "persistentvolumeclaims/hns-apiserver",
		"3 resourcequotas of hierarchical quotas, each of which limits its namespace from then on: child-a/hrq.hnc.x-k8s.io, child-b/hrq.hnc.x-k8s.io, parent/hrq.hnc.x-k8s.io",
		"kubectl delete resourcequotas -A -l hnc.x-k8s.io/hrq=true",
		"3 objects of repositorysyncs/policy, 1 of them namespaces", "the namespace hns-repositories",
		"clusterroles/hns-propagator:widgets.example.com, which grants permissions to hns-propagator only"} {
		if !strings.Contains(out, stays) {
			t.Errorf("the dry run does not say %q:\n%s", stays, out)
		}
	}
	if _, err := command(t, "kubectl-hns", "uninstall"); err == nil || !strings.Contains(err.Error(), "not confirmed") {
		t.Errorf("without confirmation: %v", err)
	}
	configMaps, migration := admin.CoreV1().ConfigMaps(controlplane.Namespace), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: hnc.Migration}}
	if _, err := configMaps.Create(t.Context(), migration, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := command(t, "kubectl-hns", "uninstall", "--yes"); err == nil || !strings.Contains(err.Error(), "a migration from HNC is under way") {
		t.Errorf("during a migration: %v", err)
	}
	if err := configMaps.Delete(t.Context(), hnc.Migration, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.AppsV1().Deployments(controlplane.Namespace).Get(t.Context(), "hns-apiserver", metav1.GetOptions{}); err != nil {
		t.Fatalf("the dry run has removed something: %v", err)
	}

	// Somebody else's object with the label of the installation.
	foreign := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Name: "foreign", Labels: map[string]string{"app.kubernetes.io/part-of": "hns"},
	}}
	for _, namespace := range []string{"child-a", "hns-repositories", metav1.NamespaceDefault} {
		if _, err := admin.CoreV1().Secrets(namespace).Create(t.Context(), foreign, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	openView(t)
	// A kubelet stops the process when its Deployment is deleted.
	if err := cp.StopProcess(t.Context(), "hns-propagator"); err != nil {
		t.Fatal(err)
	}
	if err := admin.HNC.HncV1alpha3().TenantViews("parent").Delete(t.Context(), hnc.TenantViewSingleton, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	diagnoseLag(t)
	if n := withFinalizer(t); n != 1 {
		t.Errorf("%d namespaces wait for their sub-namespaces", n)
	}
	out, err = command(t, "kubectl-hns", "uninstall", "--yes")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out, "helm uninstall hns") {
		t.Errorf("no hint that Helm has a record:\n%s", out)
	}
	removed(t, before)
	if n := withFinalizer(t); n != 0 {
		t.Errorf("%d namespaces have our finalizer", n)
	}
	for _, namespace := range []string{"child-a", "hns-repositories", metav1.NamespaceDefault} {
		if _, err := admin.CoreV1().Secrets(namespace).Get(t.Context(), "foreign", metav1.GetOptions{}); err != nil {
			t.Errorf("an object outside hns-system was removed: %v", err)
		}
	}
	if out, err := command(t, "kubectl-hns", "uninstall", "--yes"); err != nil || !strings.Contains(out, "Nothing is installed") {
		t.Errorf("repeated: %v\n%s", err, out)
	}
	if _, err := command(t, "helm", "uninstall", "hns", "--namespace=hns-system"); err != nil {
		t.Errorf("Helm cannot forget the release: %v", err)
	}

	// The volume is still there: the trees are those of before. Now the servers are gone before the removal begins.
	install(t, "--set=sync.enabled=true")
	suite.Eventually(t, "the hierarchies are back", func() error {
		h, err := admin.HNC.HncV1beta1().Hierarchies("child-a").Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
		if err == nil && h.Spec.Parent != "parent" {
			err = fmt.Errorf("the parent is %q", h.Spec.Parent)
		}
		return err
	})
	if after := inventory(t); !maps.Equal(before, after) {
		t.Errorf("another installation has changed something: before %v, after %v", before, after)
	}
	stopServers(t)
	if _, err := command(t, "helm", "uninstall", "hns", "--namespace=hns-system"); err != nil {
		t.Fatal(err)
	}
	// hns-propagator has registered it, so Helm does not know of it.
	err = admin.AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(t.Context(), hnc.QuotaWebhookName, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	removed(t, before)
}

func buildTree(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	if _, err := admin.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "parent"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "the kind is configured", func() error {
		_, err := admin.HNC.HncV1beta1().HNCConfigurations().Patch(ctx, "config", types.MergePatchType,
			[]byte(`{"spec":{"resources":[{"resource":"configmaps"}]}}`), metav1.PatchOptions{})
		return err
	})
	source := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"a": "b"}}
	if _, err := admin.CoreV1().ConfigMaps("parent").Create(ctx, source, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := admin.HNC.HncV1beta1().HierarchicalResourceQuotas("parent").Create(ctx, &v1beta1.HierarchicalResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "budget"},
		Spec:       v1beta1.HierarchicalResourceQuotaSpec{Hard: hnc.ResourceList{corev1.ResourcePods: resource.MustParse("20")}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, child := range []string{"child-a", "child-b"} {
		_, err := admin.HNC.HncV1beta1().Subnamespaces("parent").Create(ctx, &v1beta1.Subnamespace{ObjectMeta: metav1.ObjectMeta{Name: child}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		suite.Eventually(t, "the copy in "+child, func() error {
			_, err := admin.CoreV1().ConfigMaps(child).Get(ctx, "settings", metav1.GetOptions{})
			return err
		})
	}
	suite.Eventually(t, "the namespaces are limited", func() error {
		limits, err := admin.CoreV1().ResourceQuotas("").List(ctx, metav1.ListOptions{LabelSelector: hnc.LabelQuota})
		if err == nil && len(limits.Items) != 3 {
			err = fmt.Errorf("%d ResourceQuotas", len(limits.Items))
		}
		return err
	})
}

// withFinalizer returns how many namespaces have the finalizer by which they wait for their sub-namespaces.
func withFinalizer(t *testing.T) int {
	t.Helper()
	namespaces, err := admin.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, ns := range namespaces.Items {
		if slices.Contains(ns.Finalizers, hnc.FinalizerSubnamespaces) {
			n++
		}
	}
	return n
}

// openView creates a TenantView, and waits for its grant. Without hns-gateway nothing serves it.
func openView(t *testing.T) {
	t.Helper()
	view := &v1alpha3.TenantView{ObjectMeta: metav1.ObjectMeta{Name: hnc.TenantViewSingleton}}
	if _, err := admin.HNC.HncV1alpha3().TenantViews("parent").Create(t.Context(), view, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "the copy of the grant", func() error {
		_, err := admin.RbacV1().RoleBindings("child-a").Get(t.Context(), hnc.ViewGrant, metav1.GetOptions{})
		return err
	})
	out, code := doctor(t)
	for _, found := range []string{"1 TenantViews cannot be used: hns-gateway is not installed", "no replica of hns-sync leads", "1 of 1 are not synced: policy"} {
		if code != 3 || !strings.Contains(out, found) {
			t.Errorf("a TenantView without hns-gateway, and a RepositorySync without hns-sync: exit code %d, not %q\n%s", code, found, out)
		}
	}
}

// repositorySync creates a RepositorySync, with the status that hns-sync would have set.
func repositorySync(t *testing.T) {
	t.Helper()
	syncs := admin.HNC.HncV1alpha3().RepositorySyncs()
	created, err := syncs.Create(t.Context(), &v1alpha3.RepositorySync{ObjectMeta: metav1.ObjectMeta{Name: "policy"}, Spec: v1alpha3.RepositorySyncSpec{
		Source:         v1alpha3.RepositorySource{URL: "https://git.example.com/x.git"},
		ServiceAccount: v1alpha3.ServiceAccountReference{Namespace: "hns-repositories", Name: "policy"},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	created.Status.Objects, created.Status.Namespaces = 3, 1
	if _, err := syncs.UpdateStatus(t.Context(), created, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// inventory returns the identities and the labels of the tree's namespaces and ConfigMaps.
func inventory(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, name := range []string{"parent", "child-a", "child-b"} {
		namespace, err := admin.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		found[name] = fmt.Sprint(namespace.UID, namespace.DeletionTimestamp, namespace.Labels, namespace.Annotations)
		object, err := admin.CoreV1().ConfigMaps(name).Get(t.Context(), "settings", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		found[name+"/settings"] = fmt.Sprint(object.UID, object.DeletionTimestamp, object.Labels, object.ResourceVersion)
	}
	return found
}

// removed checks that the servers' objects are gone, that nothing else has changed, and that namespaces can be deleted.
func removed(t *testing.T, before map[string]string) {
	t.Helper()
	ctx := t.Context()
	stopServers(t)
	if after := inventory(t); !maps.Equal(before, after) {
		t.Errorf("the removal has changed something: before %v, after %v", before, after)
	}
	for resource, names := range map[schema.GroupVersionResource][]string{
		{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}: {"v1beta1.hnc.x-k8s.io", "v1alpha3.hnc.x-k8s.io", "v1alpha2.hnc.x-k8s.io"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"}: {
			"hns-propagator", "hns-apiserver", "hns-apiserver:any-kind", "hns-aggregate-to-edit", "hns-sync", "hns-sync:accounts",
		},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"}:                {"hns-propagator", "hns-sync", "hns-sync:auth-delegator"},
		{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicies"}:     {"copies.hnc.x-k8s.io"},
		{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations"}: {hnc.QuotaWebhookName},
		{Group: "flowcontrol.apiserver.k8s.io", Version: "v1", Resource: "flowschemas"}:                     {"hns-propagator"},
	} {
		for _, name := range names {
			if _, err := admin.Dynamic.Resource(resource).Get(ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("%s %s: got %v, want that it is not found", resource.Resource, name, err)
			}
		}
	}
	for _, namespace := range []string{controlplane.Namespace, metav1.NamespaceSystem, metav1.NamespaceDefault, "hns-repositories"} {
		bindings, err := admin.RbacV1().RoleBindings(namespace).List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/part-of=hns"})
		if err != nil || len(bindings.Items) > 0 {
			t.Errorf("RoleBindings in %s: %v, %v", namespace, bindings, err)
		}
	}
	if grants, err := admin.RbacV1().RoleBindings("").List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + hnc.ViewGrant}); err != nil || len(grants.Items) > 0 {
		t.Errorf("grants of TenantViews: %v, %v", grants, err)
	}
	if deployments, err := admin.AppsV1().Deployments(controlplane.Namespace).List(ctx, metav1.ListOptions{}); err != nil || len(deployments.Items) > 0 {
		t.Errorf("Deployments: %v, %v", deployments, err)
	}
	if _, err := admin.CoreV1().PersistentVolumeClaims(controlplane.Namespace).Get(ctx, "hns-apiserver", metav1.GetOptions{}); err != nil {
		t.Errorf("the volume is gone: %v", err)
	}
	name := fmt.Sprintf("unrelated-%d", time.Now().UnixNano())
	if _, err := admin.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := admin.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "a namespace can be deleted", func() error {
		_, err := admin.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it exists: %w", err)
	})
}
