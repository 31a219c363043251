package view

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

var crds = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// widgetSpec is the spec of a CustomResourceDefinition with one version.
func widgetSpec(version string) string {
	return `{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList","shortNames":["wd"]},
"versions":[{"name":"` + version + `","served":true,"storage":true,
"schema":{"openAPIV3Schema":{"type":"object","properties":{
  "spec":{"type":"object","properties":{"size":{"type":"integer","description":"How large it is."}}},
  "status":{"type":"object","properties":{"size":{"type":"integer"}}}}}},
"subresources":{"status":{},"scale":{"specReplicasPath":".spec.size","statusReplicasPath":".status.size"}},
"additionalPrinterColumns":[{"name":"Size","type":"integer","jsonPath":".spec.size"}]}]}`
}

func (tn *tenant) dynamic(t *testing.T) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(tn.view.Config)
	must(t, "client", err)
	return client
}

func administrator(t *testing.T) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(admin.Config)
	must(t, "client", err)
	return client
}

// suffix returns what the groups of a tenant's view end with.
func (tn *tenant) suffix(t *testing.T) string {
	t.Helper()
	ns, err := admin.CoreV1().Namespaces().Get(t.Context(), tn.root, metav1.GetOptions{})
	must(t, "root", err)
	return hnc.ViewGroupSuffix(tn.root, ns.UID)
}

func limited(limit int32) v1alpha3.TenantViewSpec {
	return v1alpha3.TenantViewSpec{CustomResources: v1alpha3.ViewCustomResources{Limit: limit}}
}

func definition(name, spec string) *v1alpha3.ViewDefinition {
	return &v1alpha3.ViewDefinition{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: runtime.RawExtension{Raw: []byte(spec)}}
}

// A ViewDefinition makes a CustomResourceDefinition of the cluster, and its creator can use the custom resources.
func TestADefinitionMakesACustomResourceDefinition(t *testing.T) {
	tn := newTenant(t, "defs")
	openView(t, tn.root, limited(1))
	child(t, "defs-a", tn.root)
	definitions, ctx := tn.direct.HNC.HncV1alpha3().ViewDefinitions(tn.root), t.Context()
	forged := definition("widgets.example.com", widgetSpec("v1"))
	forged.Annotations = map[string]string{hnc.AnnotationRequester: "somebody", hnc.AnnotationRequesterGroups: `["system:masters"]`}
	created, err := definitions.Create(ctx, forged, metav1.CreateOptions{})
	must(t, "create", err)
	if created.Annotations[hnc.AnnotationRequester] == "somebody" || strings.Contains(created.Annotations[hnc.AnnotationRequesterGroups], "masters") {
		t.Errorf("the requester is %v", created.Annotations)
	}
	suite.Eventually(t, "the definition is ready", func() error {
		v, err := definitions.Get(ctx, created.Name, metav1.GetOptions{})
		if err == nil && (!meta.IsStatusConditionTrue(v.Status.Conditions, hnc.ConditionReady) || !meta.IsStatusConditionTrue(v.Status.Conditions, "Established") || v.Status.AcceptedNames.Kind != "Widget") {
			err = fmt.Errorf("status: %+v", v.Status)
		}
		return err
	})
	name := "widgets.example.com." + tn.suffix(t)
	crd, err := administrator(t).Resource(crds).Get(ctx, name, metav1.GetOptions{})
	must(t, "the real one", err)
	if got, _, _ := unstructured.NestedString(crd.Object, "spec", "group"); got != "example.com."+tn.suffix(t) {
		t.Errorf("the group is %s", got)
	}
	if _, err := definitions.Create(ctx, definition("gadgets.example.com", strings.ReplaceAll(widgetSpec("v1"), "idget", "adget")), metav1.CreateOptions{}); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "spec.customResources.limit") {
		t.Errorf("more than the limit: %v", err)
	}
	direct, err := dynamic.NewForConfig(tn.direct.Config)
	must(t, "client", err)
	widgets := direct.Resource(schema.GroupVersionResource{Group: "example.com." + tn.suffix(t), Version: "v1", Resource: "widgets"})
	for _, namespace := range []string{tn.root, "defs-a"} {
		suite.Eventually(t, "the tenant creates a custom resource", func() error {
			_, err := widgets.Namespace(namespace).Create(ctx, &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "example.com." + tn.suffix(t) + "/v1", "kind": "Widget", "metadata": map[string]any{"name": "one"}, "spec": map[string]any{"size": int64(1)},
			}}, metav1.CreateOptions{})
			return err
		})
	}
	if _, err := widgets.Namespace(people).List(ctx, metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("in another namespace: %v", err)
	}
	must(t, "delete", definitions.Delete(ctx, created.Name, metav1.DeleteOptions{}))
	suite.Eventually(t, "the definition is gone", func() error {
		if _, err := definitions.Get(ctx, created.Name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("not yet: %w", err)
		}
		return nil
	})
	if _, err := administrator(t).Resource(crds).Get(ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the real one: %v", err)
	}
}

// manifest returns a CustomResourceDefinition as a tenant writes it.
func manifest(spec string) string {
	return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},"spec":` + spec + `}`
}

// newOwner returns a tenant with a view with relative names that may have CustomResourceDefinitions.
func newOwner(t *testing.T, root string, limit int32) *tenant {
	t.Helper()
	tn := newTenant(t, root).relative(t)
	openView(t, root, limited(limit))
	return tn
}

// Two tenants own CustomResourceDefinitions of the same name with other versions, and use them with any client. Another
// one sees nothing of them.
func TestTenantsOwnCustomResourceDefinitions(t *testing.T) {
	one, other := newOwner(t, "crd-one", 3), newTenant(t, "crd-other").relative(t)
	two := newUser(t, "crd-two")
	views := admin.HNC.HncV1alpha3().TenantViews(two.root)
	v, err := views.Get(t.Context(), hnc.TenantViewSingleton, metav1.GetOptions{})
	must(t, "view", err)
	v.Spec.CustomResources.Limit = 1
	_, err = views.Update(t.Context(), v, metav1.UpdateOptions{})
	must(t, "limit", err)
	for version, tn := range map[string]*tenant{"v1": one, "v2": two} {
		tn.run(t, "", "create", "namespace", "dev")
		suite.Eventually(t, "the view has its limit", func() error {
			out, err := tn.output(t, manifest(widgetSpec(version)), "apply", "-f", "-")
			if err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
			return nil
		})
		useWidgets(t, tn, version)
	}
	for _, tn := range []*tenant{one, two} {
		mine, theirs := "v1", "v2"
		if tn == two {
			mine, theirs = theirs, mine
		}
		if code, body := tn.raw(t, "GET", "/apis/example.com/"+theirs, ""); code != 404 {
			t.Errorf("the other's version: %d %s", code, body)
		}
		if code, body := tn.raw(t, "GET", "/apis/example.com/"+mine, ""); code != 200 || strings.Contains(body, "views.hnc") {
			t.Errorf("its own version: %d %s", code, body)
		}
		for _, path := range []string{"/apis/example.com." + one.suffix(t), "/apis/example.com." + two.suffix(t) + "/v2/namespaces/dev/widgets"} {
			if code, body := tn.raw(t, "GET", path, ""); code != 404 {
				t.Errorf("%s: %d %s", path, code, body)
			}
		}
	}
	for _, path := range []string{"/apis", "/", "/openapi/v2", "/openapi/v3", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"} {
		for _, tn := range []*tenant{one, two, other} {
			for _, accept := range []string{"application/json", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"} {
				code, body := tn.raw(t, "GET", path, "", "Accept", accept)
				for _, foreign := range []string{"crd-one-", "crd-two-", "com.example"} {
					if (tn == other || foreign != "com.example" && !strings.HasPrefix(foreign, tn.root)) && strings.Contains(body, foreign) {
						t.Errorf("%s of %s as %s: %d contains %s", path, tn.root, accept, code, foreign)
					}
				}
				if path == "/apis" && code == 200 && strings.Contains(body, "example.com") != (tn != other) {
					t.Errorf("groups of %s: %s", tn.root, body)
				}
			}
		}
	}
	if code, _ := other.raw(t, "GET", "/apis/example.com/v1/namespaces/default/widgets", ""); code != 404 {
		t.Errorf("the other tenant gets %d", code)
	}
}

var applied = regexp.MustCompile(`last-applied-configuration: .*\n.*`)

// useWidgets uses the custom resources of a tenant's own CustomResourceDefinition.
func useWidgets(t *testing.T, tn *tenant, version string) {
	t.Helper()
	ctx := t.Context()
	if out := tn.run(t, "", "get", "crds", "-o", "name"); strings.TrimSpace(out) != "customresourcedefinition.apiextensions.k8s.io/widgets.example.com" {
		t.Errorf("the definitions are %s", out)
	}
	tn.run(t, "", "wait", "crd/widgets.example.com", "--for=condition=Established", "--timeout=10s")
	widgets := tn.dynamic(t).Resource(schema.GroupVersionResource{Group: "example.com", Version: version, Resource: "widgets"})
	events, err := widgets.Watch(ctx, metav1.ListOptions{})
	must(t, "watch", err)
	defer events.Stop()
	widget := fmt.Sprintf(`{"apiVersion":"example.com/%s","kind":"Widget","metadata":{"name":"one"},"spec":{"size":1}}`, version)
	suite.Eventually(t, "its creator has the permissions", func() error {
		out, err := tn.output(t, widget, "apply", "-n", "dev", "-f", "-")
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	})
	tn.run(t, widget, "apply", "--server-side", "--force-conflicts", "-n", "dev", "-f", "-")
	event := <-events.ResultChan()
	if seen, ok := event.Object.(*unstructured.Unstructured); !ok || seen.GetAPIVersion() != "example.com/"+version || seen.GetNamespace() != "dev" {
		t.Errorf("the watch shows %v", event.Object)
	}
	tn.run(t, "", "patch", "-n", "dev", "widget", "one", "--type=merge", "-p", `{"spec":{"size":2}}`)
	tn.run(t, "", "patch", "-n", "dev", "widget", "one", "--type=json", "-p", `[{"op":"replace","path":"/spec/size","value":3}]`)
	tn.run(t, "", "scale", "-n", "dev", "widget/one", "--replicas=4")
	if out := tn.run(t, "", "get", "wd", "-A"); !strings.Contains(out, "dev") || !strings.Contains(out, "4") {
		t.Errorf("a table: %s", out)
	}
	// kube-apiserver writes what kubectl applies on the server into an annotation, which is as stored.
	if out := applied.ReplaceAllString(tn.run(t, "", "get", "widgets", "-A", "-o", "yaml"), ""); strings.Contains(out, "views.hnc") || !strings.Contains(out, "apiVersion: example.com/"+version) {
		t.Errorf("the widgets: %s", out)
	}
	explains(t, tn, "How large it is.")
	if out := tn.run(t, "", "auth", "can-i", "create", "widgets.example.com", "-n", "dev"); strings.TrimSpace(out) != "yes" {
		t.Errorf("can-i: %s", out)
	}
	list, err := widgets.List(ctx, metav1.ListOptions{})
	must(t, "list", err)
	if list.GetAPIVersion() != "example.com/"+version || len(list.Items) != 1 || list.Items[0].GetAPIVersion() != "example.com/"+version {
		t.Errorf("the list is %v", list)
	}
	stored, err := administrator(t).Resource(schema.GroupVersionResource{Group: "example.com." + tn.suffix(t), Version: version, Resource: "widgets"}).
		Namespace(tn.root+"-dev").Get(ctx, "one", metav1.GetOptions{})
	must(t, "stored", err)
	// What is read can be written back, and changes nothing.
	read, err := widgets.Namespace("dev").Get(ctx, "one", metav1.GetOptions{})
	must(t, "read", err)
	written, err := widgets.Namespace("dev").Update(ctx, read, metav1.UpdateOptions{})
	must(t, "write back", err)
	if written.GetResourceVersion() != stored.GetResourceVersion() {
		t.Errorf("writing back what was read made %s of %s", written.GetResourceVersion(), stored.GetResourceVersion())
	}
}

// explains waits until kubectl explain prints a text, by both versions of OpenAPI: kube-apiserver publishes them some
// time after it serves a kind.
func explains(t *testing.T, tn *tenant, text string) {
	t.Helper()
	for _, output := range []string{"plaintext", "plaintext-openapiv2"} {
		suite.Eventually(t, "kubectl explains the kind as "+output, func() error {
			out, err := tn.output(t, "", "explain", "widget.spec.size", "--output="+output)
			if err != nil || !strings.Contains(out, text) {
				return fmt.Errorf("%w: %s", err, out)
			}
			if strings.Contains(out, "views.hnc") {
				t.Errorf("explain: %s", out)
			}
			return nil
		})
	}
}
