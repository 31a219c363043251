package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// widgets is a custom resource, with status.
var widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

type option func(metav1.Object)

func label(key, value string) option {
	return func(object metav1.Object) {
		labels := object.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		labels[key] = value
		object.SetLabels(labels)
	}
}

func annotation(key, value string) option {
	return func(object metav1.Object) { object.SetAnnotations(map[string]string{key: value}) }
}

func copyOf(source string) option { return label(hnc.LabelInheritedFrom, source) }

func namespace(name string, options ...option) *corev1.Namespace {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, o := range options {
		o(namespace)
	}
	return namespace
}

func configMap(namespace, name string, options ...option) *corev1.ConfigMap {
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string]string{"a": "b"}}
	for _, o := range options {
		o(configMap)
	}
	return configMap
}

func role(namespace, name string, options ...option) *rbacv1.Role {
	// Without rules, so that nobody needs the permissions that it grants in order to write it.
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	for _, o := range options {
		o(role)
	}
	return role
}

func widget(namespace, name string, options ...option) *unstructured.Unstructured {
	widget := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": widgets.GroupVersion().String(), "kind": "Widget", "spec": map[string]any{"teeth": int64(12)},
	}}
	widget.SetNamespace(namespace)
	widget.SetName(name)
	for _, o := range options {
		o(widget)
	}
	return widget
}

func widgetDefinition() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1",
		"kind":       "CustomResourceDefinition",
		"metadata":   map[string]any{"name": widgets.GroupResource().String()},
		"spec": map[string]any{
			"group": widgets.Group,
			"scope": "Namespaced",
			"names": map[string]any{"plural": widgets.Resource, "singular": "widget", "kind": "Widget"},
			"versions": []any{map[string]any{
				"name": widgets.Version, "served": true, "storage": true,
				"schema":       map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
				"subresources": map[string]any{"status": map[string]any{}},
			}},
		},
	}}
}

var names atomic.Int64

// newNamespace creates a namespace under a new name, as the propagator, and returns the name.
func newNamespace(t *testing.T, options ...option) string {
	t.Helper()
	name := fmt.Sprintf("team-%d", names.Add(1))
	must(t)(propagator.CoreV1().Namespaces().Create(t.Context(), namespace(name, options...), metav1.CreateOptions{}))
	return name
}

// merge returns a JSON merge patch that sets metadata; a nil value removes.
func merge(t *testing.T, field string, value any) []byte {
	t.Helper()
	data, err := json.Marshal(map[string]any{"metadata": map[string]any{field: value}})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// must fails the test on an error of a call whose result doesn't matter.
func must(t *testing.T) func(_ any, err error) {
	return func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
}

// denied fails the test unless a policy has refused the call with all these parts of a message.
func denied(t *testing.T, err error, message ...string) {
	t.Helper()
	if !refusedByPolicy(err) {
		t.Fatalf("want it denied by a policy, got: %v", err)
	}
	for _, part := range message {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("want a message with %q, got: %v", part, err)
		}
	}
}

// invalid fails the test unless a policy has rejected the object as invalid, with all these parts of a message.
func invalid(t *testing.T, err error, message ...string) {
	t.Helper()
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "ValidatingAdmissionPolicy") {
		t.Fatalf("want it called invalid by a policy, got: %v", err)
	}
	for _, part := range message {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("want a message with %q, got: %v", part, err)
		}
	}
}

// eventually polls until the condition holds.
func eventually(t *testing.T, what string, condition func(ctx context.Context) (bool, error)) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), interval, deadline, true, condition); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// gone waits until the namespace and all that was in it is deleted.
func gone(t *testing.T, name string) {
	t.Helper()
	eventually(t, "namespace "+name+" goes", func(ctx context.Context) (bool, error) {
		_, err := admin.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	})
}
