package view

import (
	"fmt"
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
