package admissionpolicy

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// option changes an object.
type option func(metav1.Object)

// label sets labels: key, value, key, value...
func label(pairs ...string) option {
	return func(object metav1.Object) {
		labels := object.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		for i := 0; i < len(pairs); i += 2 {
			labels[pairs[i]] = pairs[i+1]
		}
		object.SetLabels(labels)
	}
}

func annotation(key, value string) option {
	return func(object metav1.Object) {
		annotations := object.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[key] = value
		object.SetAnnotations(annotations)
	}
}

func terminating(object metav1.Object) {
	now := metav1.Now()
	object.SetDeletionTimestamp(&now)
}

func inNamespace(name string) option {
	return func(object metav1.Object) { object.SetNamespace(name) }
}

func namespace(name string, options ...option) *corev1.Namespace {
	namespace := &corev1.Namespace{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
	}
	for _, o := range options {
		o(namespace)
	}
	return namespace
}

// role returns a local Role in team-a.
func role(options ...option) *rbacv1.Role {
	role := &rbacv1.Role{
		TypeMeta:   metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "Role"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "reader", ResourceVersion: "7"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}}},
	}
	for _, o := range options {
		o(role)
	}
	return role
}

// copyOf marks an object as inherited from the namespace.
func copyOf(source string) option {
	return label(hnc.LabelInheritedFrom, source, hnc.LabelManagedBy, hnc.GroupName)
}

// widget returns a custom resource in team-a.
func widget(options ...option) *unstructured.Unstructured {
	widget := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1",
		"kind":       "Widget",
		"metadata":   map[string]any{"name": "cog", "namespace": "team-a"},
		"spec":       map[string]any{"teeth": int64(12), "sizes": []any{int64(1), 2.5}},
		"status":     map[string]any{"phase": "Turning"},
	}}
	for _, o := range options {
		o(widget)
	}
	return widget
}

// knownNamespaces are the namespaces in the server.
func knownNamespaces() []*corev1.Namespace {
	inTree := label(hnc.LabelIncludedNamespace, "true", hnc.LabelInTree, "true")
	namespaces := []*corev1.Namespace{namespace("alone", label(hnc.LabelIncludedNamespace, "true")), namespace("acme", inTree), namespace("team-a", inTree), namespace("ending", inTree, terminating)}
	for _, name := range hnc.ExcludedNamespaces {
		namespaces = append(namespaces, namespace(name))
	}
	return namespaces
}
