package migrate

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/configrules"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// testBadInput checks that nothing is changed if something is in the way, and that the error says what.
func testBadInput(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	existing := filepath.Join(t.TempDir(), "export.yaml")
	if err := os.WriteFile(existing, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	finalizers := func(list string) func() error {
		return func() error {
			patch := []byte(`{"metadata":{"finalizers":` + list + `}}`)
			_, err := admin.Dynamic.Resource(hierarchies).Namespace("team-003").Patch(ctx, "hierarchy", types.MergePatchType, patch, metav1.PatchOptions{})
			return err
		}
	}
	definitionFinalizers := func(list string) func() error {
		return func() error {
			_, err := admin.Dynamic.Resource(definitions).Patch(ctx, "hierarchyconfigurations.hnc.x-k8s.io", types.MergePatchType,
				[]byte(`{"metadata":{"finalizers":`+list+`}}`), metav1.PatchOptions{})
			return err
		}
	}
	const listService = "v1alpha2.resources.hnc.x-k8s.io"
	service := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": listService},
		"spec": map[string]any{
			"group": "resources.hnc.x-k8s.io", "version": "v1alpha2", "groupPriorityMinimum": int64(1), "versionPriority": int64(1),
			"service": map[string]any{"name": "other", "namespace": "default"},
		},
	}}
	nothing := func() error { return nil }
	// Only hns-propagator can write beside HNC.
	config := rest.CopyConfig(admin.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: hnc.PropagatorUser}
	propagator, err := suite.NewUser("propagator", config)
	if err != nil {
		t.Fatal(err)
	}
	beside := propagator.HNC.HncV1beta1().Hierarchies("alone")
	for name, test := range map[string]struct {
		before, after func() error
		args          []string
		want          string
	}{
		"permissions": {nothing, nothing, []string{"--as=nobody"}, "delete customresourcedefinitions.apiextensions.k8s.io in the whole cluster"},
		"the file":    {nothing, nothing, []string{"--export=" + existing}, "exists; choose another file by --export"},
		"no disk":     {nothing, nothing, []string{"--export=/nonexistent/export.yaml"}, "the export cannot be written"},
		"no file":     {nothing, nothing, []string{"--export="}, "name the file for HNC's objects by --export"},
		"finalizers": {
			finalizers(`["example.com/held"]`), finalizers("null"), nil,
			"HierarchyConfiguration team-003/hierarchy has the finalizer example.com/held, which is not HNC's",
		},
		"a server": {
			func() error {
				_, err := admin.Dynamic.Resource(apiServices).Create(ctx, service, metav1.CreateOptions{})
				return err
			},
			func() error {
				return admin.Dynamic.Resource(apiServices).Delete(ctx, listService, metav1.DeleteOptions{})
			},
			nil, "apiservice v1alpha2.resources.hnc.x-k8s.io leads to service other in namespace default",
		},
		"a full disk": {nothing, nothing, []string{limited}, "file too large; make room, or choose another file by --export"},
		"finalizers of a definition": {
			definitionFinalizers(`["customresourcecleanup.apiextensions.k8s.io","example.com/held"]`), definitionFinalizers(`["customresourcecleanup.apiextensions.k8s.io"]`), nil,
			"customresourcedefinition hierarchyconfigurations.hnc.x-k8s.io has the finalizer example.com/held, which would keep it",
		},
		"a write beside HNC": {
			func() error {
				_, err := beside.Create(ctx, &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton}}, metav1.CreateOptions{})
				return err
			},
			func() error {
				return admin.HNC.HncV1beta1().Hierarchies("alone").Delete(ctx, hnc.Singleton, metav1.DeleteOptions{})
			},
			nil, "kubectl delete hierarchies.v1beta1.hnc.x-k8s.io hierarchy -n alone",
		},
		"no confirmation": {nothing, nothing, []string{"--yes=false"}, "nothing was changed: not confirmed"},
	} {
		if err := test.before(); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		args := append([]string{"migrate", "--yes", "--export=" + filepath.Join(dir, "new.yaml")}, test.args...)
		if out, err := plugin(t, "", args...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q\n%s", name, err, test.want, out)
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
			t.Errorf("%s: files are left: %v, %v", name, files, err)
		}
		if err := test.after(); err != nil {
			t.Fatal(err)
		}
	}
	knowsRejections(t)
	announces(t, existing)
	if out, err := plugin(t, "", "migrate", "--dry-run"); err != nil || !strings.Contains(out, "subnamespaceanchors acme/alone: namespace alone is not its sub-namespace") {
		t.Errorf("a dry run: %v\n%s", err, out)
	}
	if _, err := admin.CoreV1().ConfigMaps(hnc.SystemNamespace).Get(ctx, "hns-migration", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a migration has begun: %v", err)
	}
}

// rolledBack checks that HNC has everything again, and that our server has nothing.
func rolledBack(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	service, err := admin.Dynamic.Resource(apiServices).Get(ctx, "v1alpha2.hnc.x-k8s.io", metav1.GetOptions{})
	if err != nil || service.GetLabels()["kube-aggregator.kubernetes.io/automanaged"] != "true" {
		t.Errorf("the APIService: %v, %v", service, err)
	}
	if err == nil && service.GetAnnotations()["helm.sh/resource-policy"] != "keep" {
		t.Errorf("the next upgrade of the chart deletes the APIService: %v", service.GetAnnotations())
	}
	belongsToRelease(t, false)
	webhooks := admin.AdmissionregistrationV1()
	if _, err := webhooks.ValidatingWebhookConfigurations().Get(ctx, "hnc-validating-webhook-configuration", metav1.GetOptions{}); err != nil {
		t.Errorf("the validating webhooks: %v", err)
	}
	if _, err := webhooks.MutatingWebhookConfigurations().Get(ctx, "hnc-mutating-webhook-configuration", metav1.GetOptions{}); err != nil {
		t.Errorf("the mutating webhooks: %v", err)
	}
	runsHNC(t)
	prefers(t, true)
	if list, err := admin.HNC.HncV1beta1().Hierarchies("").List(ctx, metav1.ListOptions{}); err != nil || len(list.Items) != 0 {
		t.Errorf("hierarchies are left: %v, %v", list, err)
	}
	if list, err := admin.HNC.HncV1beta1().Subnamespaces("").List(ctx, metav1.ListOptions{}); err != nil || len(list.Items) != 0 {
		t.Errorf("Subnamespaces are left: %v, %v", list, err)
	}
	if _, err := admin.RbacV1().ClusterRoles().Get(ctx, grantedRole, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the permissions that were granted: %v", err)
	}
	if _, err := admin.RbacV1().ClusterRoles().Get(ctx, ownRole, metav1.GetOptions{}); err != nil {
		t.Errorf("permissions that the migration has not granted: %v", err)
	}
	if _, err := admin.AdmissionregistrationV1().ValidatingAdmissionPolicies().Get(ctx, "migration-copies.hnc.x-k8s.io", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("copies are protected from HNC's users: %v", err)
	}
	namespaces, err := admin.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, ns := range namespaces.Items {
		if slices.Contains(ns.Finalizers, hnc.FinalizerSubnamespaces) {
			t.Errorf("namespace %s has our finalizer", ns.Name)
		}
	}
}

// runsHNC checks that HNC's Deployments have the replicas that they had.
func runsHNC(t *testing.T) {
	t.Helper()
	for name, want := range map[string]int32{"hnc-controller-manager": 1, "hnc-controller-manager-ha": 3} {
		if d, err := admin.AppsV1().Deployments("hnc-system").Get(t.Context(), name, metav1.GetOptions{}); err != nil || *d.Spec.Replicas != want {
			t.Errorf("deployment %s does not have %d replicas: %v, %v", name, want, d, err)
		}
	}
}

// descendant is a namespace below the root.
const descendant = "team-001"

// ClusterRoles of hns-propagator: one that a migration creates, and one that an administrator has created.
const (
	grantedRole = "hns-propagator:widgets.example.com"
	ownRole     = "hns-propagator:gadgets.example.com"
)

// grants checks that a kind that HNC has propagated is propagated.
func grants(t *testing.T) {
	t.Helper()
	widgets := admin.Dynamic.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"})
	widget := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "gear"}}}
	if _, err := widgets.Namespace(root).Create(t.Context(), widget, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "the widget is copied", func() error {
		_, err := widgets.Namespace(descendant).Get(t.Context(), "gear", metav1.GetOptions{})
		return err
	})
}

// migrated checks the trees, and the conditions of what HNC has left.
func migrated(t *testing.T, members []member) {
	t.Helper()
	ctx := t.Context()
	c, err := admin.HNC.HncV1beta1().HNCConfigurations().Get(ctx, hnc.ConfigurationName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := &v1beta1.Rules{
		ManagedNamespaceLabels: []string{`example\.com/.*`}, ExcludedNamespaces: []string{"kube-node-lease", "kube-public", "kube-system", "monitoring", "hnc-system", hnc.SystemNamespace},
		DroppedAnnotations: []string{"example.com/checksum"},
	}
	if !configrules.Same(c.Spec.Rules, want) {
		t.Errorf("the rules are %+v, want %+v", c.Spec.Rules, want)
	}
	for _, m := range members {
		if m.parent == "" {
			continue
		}
		h, err := admin.HNC.HncV1beta1().Hierarchies(m.name).Get(ctx, hnc.Singleton, metav1.GetOptions{})
		if err != nil || h.Spec.Parent != m.parent && m.name != "cycle-a" {
			t.Errorf("%s: the parent is %q, want %q: %v", m.name, h.Spec.Parent, m.parent, err)
		}
		if allowed := h.Spec.AllowCascadingDeletion; m.name == changed && (allowed == nil || !*allowed) {
			t.Errorf("%s: what was changed after the export is not imported: %+v", m.name, h.Spec)
		}
		if !m.anchored {
			continue
		}
		if _, err := admin.HNC.HncV1beta1().Subnamespaces(m.parent).Get(ctx, m.name, metav1.GetOptions{}); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
	for name, reason := range map[string]string{
		"orphan": hnc.ReasonParentMissing, "below-orphan": hnc.ReasonAncestorHalted, "cycle-a": hnc.ReasonParentMissing,
		"cycle-b": hnc.ReasonAncestorHalted, "lonely": hnc.ReasonSubnamespaceMissing,
	} {
		suite.Eventually(t, name, func() error {
			h, err := admin.HNC.HncV1beta1().Hierarchies(name).Get(ctx, hnc.Singleton, metav1.GetOptions{})
			if err != nil {
				return err
			}
			for _, c := range h.Status.Details() {
				if c.Reason == reason {
					return nil
				}
			}
			return fmt.Errorf("%v, want %s", h.Status.Conditions, reason)
		})
	}
	for _, name := range []string{"migration.hnc.x-k8s.io", "migration-copies.hnc.x-k8s.io"} {
		if _, err := admin.AdmissionregistrationV1().ValidatingAdmissionPolicies().Get(ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("the freeze goes on: %s: %v", name, err)
		}
	}
}
