package extract

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
)

// declared returns what a repository declares of an object: its content, without what a cluster or hns-sync sets.
func declared(o *unstructured.Unstructured) *unstructured.Unstructured {
	printed := &unstructured.Unstructured{Object: map[string]any{}}
	for key, value := range o.DeepCopy().Object {
		if key != "metadata" && key != "status" {
			printed.Object[key] = value
		}
	}
	if o.GroupVersionKind().GroupKind() == object.Namespace {
		// The API server adds its finalizer.
		unstructured.RemoveNestedField(printed.Object, "spec", "finalizers")
		if spec, ok := printed.Object["spec"].(map[string]any); ok && len(spec) == 0 {
			delete(printed.Object, "spec")
		}
	}
	printed.SetName(o.GetName())
	printed.SetLabels(without(o.GetLabels(), isSetByClusterLabel))
	printed.SetAnnotations(without(o.GetAnnotations(), isLeftOut))
	return printed
}

func without(entries map[string]string, drop func(key string) bool) map[string]string {
	kept := map[string]string{}
	for key, value := range entries {
		if !drop(key) {
			kept[key] = value
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}

func isSetByClusterLabel(key string) bool {
	_, tree := hnc.TreeLabelAncestor(key)
	return tree || key == "kubernetes.io/metadata.name" || strings.HasPrefix(key, hnc.GroupName+"/") || object.IsReserved(key)
}

// isLeftOut reports whether an annotation is left out: the cluster sets it, or in a repository it would decide how the
// object is treated, and tenants may have set it. Exceptions have a prefix of their own, and stay.
func isLeftOut(key string) bool {
	switch key {
	case object.AnnotationLocalConfig, object.AnnotationMutation, object.AnnotationDeletion:
		return true
	}
	return key == corev1.LastAppliedConfigAnnotation || strings.HasPrefix(key, hnc.GroupName+"/") || object.IsReserved(key)
}

// isAutomatic reports whether an object is made by a controller, or exists in every namespace.
func isAutomatic(o *unstructured.Unstructured) bool {
	if len(o.GetOwnerReferences()) > 0 || o.GetDeletionTimestamp() != nil {
		return true
	}
	switch kind := o.GroupVersionKind().GroupKind(); {
	case kind.Group == hnc.GroupName && (kind.Kind == "Hierarchy" || kind.Kind == "Subnamespace"):
		return true
	case kind.Group != "":
		return false
	case kind.Kind == "ConfigMap":
		return o.GetName() == "kube-root-ca.crt"
	case kind.Kind == "ServiceAccount":
		return o.GetName() == "default"
	case kind.Kind == "Secret":
		secretType, _, _ := unstructured.NestedString(o.Object, "type")
		return secretType == "kubernetes.io/service-account-token" || secretType == "helm.sh/release.v1" //nolint:gosec // types, no credentials
	case kind.Kind == "ResourceQuota":
		return o.GetLabels()[hnc.LabelQuota] != ""
	}
	return false
}
