package permissions

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

const widgets = `{"group":"%s","scope":"Namespaced","names":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"},
"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}`

// definitions has hns-propagator delete a CustomResourceDefinition of a view after the component for views was removed,
// so that it cannot create one any more.
func definitions(t *testing.T) {
	ctx, namespace, name := t.Context(), "views", "widgets.example.com"
	ns, err := kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	apply(t, "tenantviews", "TenantView", namespace, hnc.TenantViewSingleton, `{"customResources":{"limit":1}}`)
	apply(t, "viewdefinitions", "ViewDefinition", namespace, name, fmt.Sprintf(widgets, "example.com"))
	stored := objects.Resource(ours("viewdefinitions")).Namespace(namespace)
	ready := func(ctx context.Context) (reason string, v *unstructured.Unstructured, err error) {
		if v, err = stored.Get(ctx, name, metav1.GetOptions{}); err != nil {
			return "", nil, err
		}
		conditions, _, _ := unstructured.NestedSlice(v.Object, "status", "conditions")
		for _, c := range conditions {
			if c := c.(map[string]any); c["type"] == hnc.ConditionReady {
				reason = fmt.Sprint(c["reason"])
			}
		}
		return reason, v, nil
	}
	var v *unstructured.Unstructured
	is := func(want string) func(context.Context) error {
		return func(ctx context.Context) (err error) {
			var reason string
			if reason, v, err = ready(ctx); err == nil && reason != want {
				err = fmt.Errorf("the reason is %q", reason)
			}
			return err
		}
	}
	eventually(t, "the definition cannot be written", is(hnc.ReasonDefinitionRefused))
	group := "example.com." + hnc.ViewGroupSuffix(namespace, ns.UID)
	var o unstructured.Unstructured
	if err := o.UnmarshalJSON(fmt.Appendf(nil, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":%q},"spec":`+widgets+`}`, "widgets."+group, group)); err != nil {
		t.Fatal(err)
	}
	o.SetLabels(map[string]string{hnc.LabelViewRoot: namespace})
	o.SetAnnotations(map[string]string{hnc.AnnotationViewDefinition: fmt.Sprintf("%s/%d", v.GetUID(), v.GetGeneration())})
	crds := objects.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	if _, err := crds.Create(ctx, &o, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is ready", is(hnc.ReasonReady))
	if err := kube.CoreV1().Namespaces().Delete(ctx, namespace, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the definition is deleted with its namespace", func(ctx context.Context) error {
		if _, err := crds.Get(ctx, o.GetName(), metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("it exists: %w", err)
		}
		if _, err := stored.Get(ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the ViewDefinition exists: %w", err)
		}
		return nil
	})
}
