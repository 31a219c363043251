package view

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/viewdefinition"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// widget returns a custom resource of the first version.
func widget(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": name}}}
}

var widgetsV1 = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

// References to custom resources of the view refer to those of the cluster, and permissions for them are granted with
// roles.
func TestReferencesToOwnCustomResources(t *testing.T) {
	tn := newOwner(t, "crd-refs", 1)
	tn.run(t, manifest(widgetSpec("v1")), "apply", "--server-side", "-f", "-")
	ctx, realGroup := t.Context(), "example.com."+tn.suffix(t)
	owner, err := tn.dynamic(t).Resource(widgetsV1).Namespace("default").Create(ctx, widget("owner"), metav1.CreateOptions{})
	must(t, "owner", err)
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owned", OwnerReferences: []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Widget", Name: "owner", UID: owner.GetUID()}}}}
	created, err := tn.view.CoreV1().ConfigMaps("default").Create(ctx, cm, metav1.CreateOptions{})
	must(t, "owned", err)
	stored, err := admin.CoreV1().ConfigMaps(tn.root).Get(ctx, "owned", metav1.GetOptions{})
	must(t, "stored", err)
	if created.OwnerReferences[0].APIVersion != "example.com/v1" || stored.OwnerReferences[0].APIVersion != realGroup+"/v1" {
		t.Errorf("shown %v, stored %v", created.OwnerReferences, stored.OwnerReferences)
	}
	updated, err := tn.view.CoreV1().ConfigMaps("default").Update(ctx, created, metav1.UpdateOptions{})
	must(t, "write back", err)
	if updated.ResourceVersion != stored.ResourceVersion {
		t.Error("writing back what was read changes it")
	}
	tn.run(t, `
apiVersion: v1
kind: ServiceAccount
metadata: {name: operator, namespace: default}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: operator}
rules: [{apiGroups: [example.com], resources: [widgets], verbs: [get, list, watch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: operator}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: operator}
subjects: [{kind: ServiceAccount, name: operator, namespace: default}]
`, "apply", "-f", "-")
	if got, err := tn.view.RbacV1().ClusterRoles().Get(ctx, "operator", metav1.GetOptions{}); err != nil || got.Rules[0].APIGroups[0] != "example.com" {
		t.Errorf("%v: %v", err, got.Rules)
	}
	suite.Eventually(t, "the account may list", func() error {
		answer, err := tn.view.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: "system:serviceaccount:default:operator", ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: "default", Verb: "list", Group: "example.com", Resource: "widgets"},
		}}, metav1.CreateOptions{})
		if err == nil && (!answer.Status.Allowed || answer.Spec.ResourceAttributes.Group != "example.com") {
			err = fmt.Errorf("got %v", answer)
		}
		return err
	})
	if out := tn.run(t, "", "get", "clusterroles,clusterrolebindings", "-o", "name"); !strings.Contains(out, "clusterrolebinding.rbac.authorization.k8s.io/custom-resources") {
		t.Errorf("the roles of the view: %s", out)
	}
	// The garbage collector follows the reference.
	must(t, "delete", tn.dynamic(t).Resource(widgetsV1).Namespace("default").Delete(ctx, "owner", metav1.DeleteOptions{}))
	suite.Eventually(t, "the dependent is gone", func() error {
		if _, err := tn.view.CoreV1().ConfigMaps("default").Get(ctx, "owned", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("not yet: %w", err)
		}
		return nil
	})
}

func TestEachWriteOfACustomResourceDefinition(t *testing.T) {
	tn := newOwner(t, "crd-writes", 1)
	api, ctx := tn.dynamic(t).Resource(crds), t.Context()
	events, err := api.Watch(ctx, metav1.ListOptions{})
	must(t, "watch", err)
	defer events.Stop()
	tn.run(t, manifest(widgetSpec("v1")), "create", "-f", "-")
	if event := <-events.ResultChan(); event.Object.(*unstructured.Unstructured).GetKind() != "CustomResourceDefinition" || event.Object.(*unstructured.Unstructured).GetNamespace() != "" {
		t.Errorf("the watch shows %v", event)
	}
	changed := func(size string) string { return strings.Replace(widgetSpec("v1"), "How large it is.", size, 1) }
	for _, write := range []struct {
		kind types.PatchType
		body string
	}{
		{types.MergePatchType, `{"spec":` + changed("A") + `}`},
		{types.StrategicMergePatchType, `{"metadata":{"labels":{"a":"b"}},"spec":` + changed("B") + `}`},
		{types.JSONPatchType, `[{"op":"test","path":"/kind","value":"CustomResourceDefinition"},{"op":"replace","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/size/description","value":"C"}]`},
	} {
		patched, err := api.Patch(ctx, "widgets.example.com", write.kind, []byte(write.body), metav1.PatchOptions{FieldManager: "test"})
		must(t, string(write.kind), err)
		if patched.GetAPIVersion() != "apiextensions.k8s.io/v1" || patched.GetManagedFields()[0].APIVersion != "apiextensions.k8s.io/v1" {
			t.Errorf("%s answers %v", write.kind, patched)
		}
	}
	tn.run(t, manifest(changed("D")), "apply", "--server-side", "--force-conflicts", "-f", "-")
	explains(t, tn, "    D\n")
	_, err = api.Get(ctx, "widgets.example.com", metav1.GetOptions{}, "status")
	must(t, "status", err)
	tn.run(t, "", "get", "--raw", "/apis/example.com/v1/widgets")
	_, err = tn.dynamic(t).Resource(widgetsV1).Namespace("default").Create(ctx, widget("one"), metav1.CreateOptions{})
	must(t, "create", err)
	// Without the finalizer, its custom resources would outlive it.
	tn.run(t, "", "patch", "crd", "widgets.example.com", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	tn.run(t, "", "delete", "crd", "widgets.example.com", "--timeout=20s")
	if _, err := administrator(t).Resource(crds).Get(ctx, "widgets.example.com."+tn.suffix(t), metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("it is still there: %v", err)
	}
	suite.Eventually(t, "the permissions are gone", func() error {
		_, err := admin.RbacV1().Roles(tn.root).Get(ctx, hnc.ViewRoleName(tn.root, hnc.CustomResources), metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("not yet: %w", err)
		}
		return nil
	})
}

func TestDefinitionsThatAreRefused(t *testing.T) {
	tn, without := newOwner(t, "crd-no", 1), newTenant(t, "crd-none").relative(t)
	realNames := newTenant(t, "crd-real")
	reader := newTenant(t, "crd-reader").relative(t)
	for _, test := range []struct {
		what     string
		tn       *tenant
		old, new string
		want     string
	}{
		{"a webhook", tn, `"scope":`, `"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"https://x"}}},"scope":`, "spec.conversion.strategy"},
		{"the cluster's scope", tn, `"Namespaced"`, `"Cluster"`, "spec.scope"},
		{"the name of pods", tn, `"singular":"widget"`, `"singular":"po"`, "spec.names.singular"},
		{"a column that prints everything", tn, `".spec.size"`, `"..size"`, "spec.versions[0].additionalPrinterColumns[0].jsonPath"},
		{"a reserved group", tn, "example.com", "example.x.k8s.io", "spec.group"},
		{"ours", tn, "example.com", "hnc.x-k8s.io", "spec.group"},
		{"that of another view", tn, "example.com", "example.com." + tn.suffix(t), "spec.group"},
		{"a group of the cluster", tn, "example.com", "apps", "an administrator has installed apps"},
		{"a long name", tn, "example.com", strings.Repeat("a.", 110) + "com", "metadata.name"},
		{"no TenantView", without, "", "", "spec.customResources.limit of the TenantView of this namespace allows 0"},
		{"real names", realNames, "", "", "a view with relative names can have its own"},
	} {
		body := strings.ReplaceAll(manifest(widgetSpec("v1")), test.old, test.new)
		if test.old == "" {
			body = manifest(widgetSpec("v1"))
		}
		code, answer := test.tn.raw(t, http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body, "Content-Type", "application/json")
		if code != http.StatusUnprocessableEntity && code != http.StatusForbidden || !strings.Contains(answer, test.want) || strings.Contains(answer, "ViewDefinition.hnc") {
			t.Errorf("%s: %d %s", test.what, code, answer)
		}
	}
	if code, answer := tn.raw(t, http.MethodDelete, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", ""); code != http.StatusMethodNotAllowed {
		t.Errorf("a collection: %d %s", code, answer)
	}
	tn.run(t, manifest(widgetSpec("v1")), "create", "-f", "-")
	if out, err := tn.output(t, strings.ReplaceAll(manifest(widgetSpec("v1")), "idget", "adget"), "create", "-f", "-"); err == nil || !strings.Contains(out, "allows 1 CustomResourceDefinitions") {
		t.Errorf("over the limit: %v %s", err, out)
	}
	// Another tenant gets nothing, neither in its view nor in the cluster.
	if code, answer := reader.raw(t, http.MethodGet, "/apis/example.com."+tn.suffix(t)+"/v1/widgets", ""); code != http.StatusNotFound {
		t.Errorf("another tenant: %d %s", code, answer)
	}
	direct, err := dynamic.NewForConfig(reader.direct.Config)
	must(t, "client", err)
	group := schema.GroupVersionResource{Group: "example.com." + tn.suffix(t), Version: "v1", Resource: "widgets"}
	if _, err := direct.Resource(group).Namespace(tn.root).List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("directly: %v", err)
	}
}

// A user who has created a definition and is no administrator of the root any more loses the custom resources.
func TestPermissionsForCustomResourcesEndWithThoseForTheirDefinition(t *testing.T) {
	tn := newOwner(t, "crd-ends", 1)
	tn.run(t, manifest(widgetSpec("v1")), "create", "-f", "-")
	ctx, bindings := t.Context(), admin.RbacV1().RoleBindings(tn.root)
	name := hnc.ViewRoleName(tn.root, hnc.CustomResources)
	subjects := func() int {
		binding, err := bindings.Get(ctx, name, metav1.GetOptions{})
		must(t, "binding", err)
		return len(binding.Subjects)
	}
	if subjects() != 1 {
		t.Fatal("the creator is not bound")
	}
	// Somebody else who is added is removed.
	binding, err := bindings.Get(ctx, name, metav1.GetOptions{})
	must(t, "binding", err)
	binding.Subjects = append(binding.Subjects, rbacv1.Subject{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "somebody"})
	_, err = bindings.Update(ctx, binding, metav1.UpdateOptions{})
	must(t, "update", err)
	suite.EventuallyEqual(t, "subjects", "1", func() string { return fmt.Sprint(subjects()) })
	must(t, "revoke", bindings.Delete(ctx, "tenant", metav1.DeleteOptions{}))
	suite.EventuallyEqual(t, "subjects", "0", func() string { return fmt.Sprint(subjects()) })
}

// A root that is deleted takes its definitions with it, and one of its name inherits nothing: neither these, nor those
// of a namespace that was restored with another UID, whose custom resources nobody deletes.
func TestARootThatIsCreatedAgainHasNoDefinitions(t *testing.T) {
	tn := newOwner(t, "crd-again", 1)
	tn.run(t, manifest(widgetSpec("v1")), "create", "-f", "-")
	_, err := tn.dynamic(t).Resource(widgetsV1).Namespace("default").Create(t.Context(), widget("one"), metav1.CreateOptions{})
	must(t, "create", err)
	name, before := "widgets.example.com."+tn.suffix(t), tn.suffix(t)
	must(t, "delete", admin.CoreV1().Namespaces().Delete(t.Context(), tn.root, metav1.DeleteOptions{}))
	suite.Eventually(t, "the root is gone", func() error {
		_, err := admin.CoreV1().Namespaces().Get(t.Context(), tn.root, metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("not yet: %w", err)
		}
		return nil
	})
	suite.Eventually(t, "the definition is gone", func() error {
		if _, err := administrator(t).Resource(crds).Get(t.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("not yet: %w", err)
		}
		return nil
	})
	kept := restored(t, tn.root)
	again := newOwner(t, "crd-again", 1)
	if again.suffix(t) == before {
		t.Skip("the UIDs begin with the same characters")
	}
	if out := again.run(t, "", "get", "crds", "-o", "name"); strings.TrimSpace(out) != "" {
		t.Errorf("it has %s", out)
	}
	if code, _ := again.raw(t, http.MethodGet, "/apis/example.com/v1/widgets", ""); code != http.StatusNotFound {
		t.Errorf("got %d", code)
	}
	again.run(t, manifest(widgetSpec("v1")), "create", "-f", "-") // It does not count.
	if crd, err := administrator(t).Resource(crds).Get(t.Context(), kept, metav1.GetOptions{}); err != nil || crd.GetDeletionTimestamp() != nil {
		t.Errorf("what was restored is deleted: %v", err)
	}
}

// restored creates a CustomResourceDefinition as a restore does, of a namespace with another UID, and returns its name.
func restored(t *testing.T, root string) string {
	t.Helper()
	var o unstructured.Unstructured
	must(t, "manifest", o.UnmarshalJSON([]byte(strings.ReplaceAll(manifest(widgetSpec("v1")), "example.com", "example.com."+root+"-zzzzz.views.hnc.x-k8s.io"))))
	o.SetLabels(map[string]string{hnc.LabelViewRoot: root})
	client := administrator(t).Resource(crds)
	_, err := client.Create(t.Context(), &o, metav1.CreateOptions{})
	must(t, "restored", err)
	t.Cleanup(func() { _ = client.Delete(context.Background(), o.GetName(), metav1.DeleteOptions{}) })
	return o.GetName()
}

// Whatever a tenant calls its kinds, kubectl finds the built-in ones by their names.
func TestNamesOfBuiltInKindsAreKnown(t *testing.T) {
	_, lists, err := admin.Discovery().ServerGroupsAndResources()
	must(t, "discovery", err)
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		must(t, "group", err)
		if strings.Contains(gv.Group, ".") && !strings.HasSuffix(gv.Group, ".k8s.io") {
			continue
		}
		for _, r := range list.APIResources {
			if strings.Contains(r.Name, "/") {
				continue
			}
			for _, name := range append([]string{r.Name, r.SingularName}, r.ShortNames...) {
				if name != "" && !viewdefinition.IsBuiltIn(name) {
					t.Errorf("%s of %s is not in the table", name, list.GroupVersion)
				}
			}
		}
	}
}

// The short names and categories of a view are not those of the cluster, where "kubectl get all" would list its
// objects.
func TestShortNamesAreThoseOfTheView(t *testing.T) {
	tn := newOwner(t, "crd-short", 1)
	tn.run(t, manifest(strings.Replace(widgetSpec("v1"), `"shortNames":["wd"]`, `"shortNames":["po"],"categories":["all"]`, 1)), "create", "-f", "-")
	resources, err := admin.Discovery().ServerResourcesForGroupVersion("example.com." + tn.suffix(t) + "/v1")
	must(t, "discovery", err)
	for _, r := range resources.APIResources {
		if slices.Contains(r.ShortNames, "po") || slices.Contains(r.Categories, "all") {
			t.Errorf("in the cluster: %v", r)
		}
	}
	for _, accept := range []string{"application/json", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"} {
		path := "/apis"
		if accept == "application/json" {
			path = "/apis/example.com/v1"
		}
		if code, body := tn.raw(t, http.MethodGet, path, "", "Accept", accept); code != http.StatusOK || !strings.Contains(body, `"shortNames":["po"]`) || !strings.Contains(body, `"categories":["all"]`) {
			t.Errorf("in the view: %d %s", code, body)
		}
	}
	v, err := tn.direct.HNC.HncV1alpha3().ViewDefinitions(tn.root).Get(t.Context(), "widgets.example.com", metav1.GetOptions{})
	must(t, "definition", err)
	if got := v.Status.AcceptedNames; !slices.Equal(got.ShortNames, []string{"po"}) || !slices.Equal(got.Categories, []string{"all"}) {
		t.Errorf("the accepted names are %v", got)
	}
}

// However a spec of many values is written, nothing decodes it.
func TestSpecsOfManyValuesAreRejected(t *testing.T) {
	tn := newOwner(t, "crd-large", 2)
	many := "[" + strings.Repeat("{},", 20000) + "{}]"
	path := "/apis/hnc.x-k8s.io/v1alpha3/namespaces/" + tn.root + "/viewdefinitions"
	body := `{"apiVersion":"hnc.x-k8s.io/v1alpha3","kind":"ViewDefinition","metadata":{"name":"widgets.example.com"},"spec":`
	send := func(what, verb, path, contentType, body string) {
		t.Helper()
		result := tn.direct.HNC.HncV1alpha3().RESTClient().Verb(verb).AbsPath(path).Param("dryRun", "All").Param("fieldManager", "test").SetHeader("Content-Type", contentType).Body([]byte(body)).Do(t.Context())
		if err := result.Error(); err == nil || !strings.Contains(err.Error(), "at most 32768 values") {
			t.Errorf("%s: %v", what, err)
		}
	}
	send("a creation", "POST", path, "application/json", body+many+"}")
	_, err := tn.direct.HNC.HncV1alpha3().ViewDefinitions(tn.root).Create(t.Context(), definition("widgets.example.com", widgetSpec("v1")), metav1.CreateOptions{})
	must(t, "create", err)
	path += "/widgets.example.com"
	send("a merge patch", "PATCH", path, string(types.MergePatchType), `{"spec":{"x":`+many+`}}`)
	send("a server-side apply", "PATCH", path, string(types.ApplyPatchType), body+many+"}")
	tenth := "[" + strings.Repeat("{},", 2000) + "{}]"
	patch := `[{"op":"add","path":"/spec/x0","value":` + tenth + `}`
	for i := range 9 {
		patch += fmt.Sprintf(`,{"op":"copy","from":"/spec/x0","path":"/spec/x%d"}`, i+1)
	}
	send("a JSON patch that copies", "PATCH", path, string(types.JSONPatchType), patch+"]")
}

// hns-propagator, whose token may be stolen, writes no CustomResourceDefinition but those of views.
func TestThePropagatorWritesOnlyDefinitionsOfViews(t *testing.T) {
	config, _, err := cp.ServiceAccount(t.Context(), hnc.SystemNamespace, "hns-propagator")
	must(t, "token", err)
	client, err := dynamic.NewForConfig(config)
	must(t, "client", err)
	for what, body := range map[string]string{
		"no CustomResourceDefinition but those of views": manifest(widgetSpec("v1")),
		"of cluster-scoped objects":                      strings.Replace(strings.ReplaceAll(manifest(widgetSpec("v1")), "example.com", "example.com.x-12345.views.hnc.x-k8s.io"), "Namespaced", "Cluster", 1),
		"with a conversion webhook": strings.Replace(strings.ReplaceAll(manifest(widgetSpec("v1")), "example.com", "example.com.x-12345.views.hnc.x-k8s.io"),
			`"scope":`, `"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"https://x"}}},"scope":`, 1),
	} {
		var o unstructured.Unstructured
		must(t, "manifest", o.UnmarshalJSON([]byte(body)))
		o.SetLabels(map[string]string{hnc.LabelViewRoot: "x"})
		suite.Eventually(t, "the policy denies one "+what, func() error {
			_, err := client.Resource(crds).Create(t.Context(), &o, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), what) {
				return fmt.Errorf("got %w", err)
			}
			return nil
		})
	}
}
