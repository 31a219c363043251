package kinds

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

var (
	configMaps      = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	secrets         = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	networkPolicies = schema.GroupVersionResource{Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"}
)

// object is something to create; its value is what distinguishes versions in tests.
func object(kind, namespace, name, value string, annotations ...string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"kind": kind}}
	switch kind {
	case "ConfigMap":
		u.SetAPIVersion("v1")
		u.Object["data"] = map[string]any{"value": value}
	case "Secret":
		u.SetAPIVersion("v1")
		u.Object["stringData"] = map[string]any{"value": value}
	case "NetworkPolicy":
		u.SetAPIVersion("networking.k8s.io/v1")
		u.Object["spec"] = map[string]any{"podSelector": map[string]any{"matchLabels": map[string]any{"value": value}}}
	default:
		u.SetAPIVersion("example.com/v1")
		u.Object["spec"] = map[string]any{"value": value}
	}
	u.SetNamespace(namespace)
	u.SetName(name)
	set := map[string]string{}
	for _, a := range annotations {
		key, v, _ := strings.Cut(a, "=")
		set[key] = v
	}
	u.SetAnnotations(set)
	return u
}

// put creates an object, or replaces it if there is one, as alice.
func put(t *testing.T, resource schema.GroupVersionResource, u *unstructured.Unstructured) {
	t.Helper()
	client := alice.Dynamic.Resource(resource).Namespace(u.GetNamespace())
	suite.Must(t, u.GetKind()+" "+u.GetName(), func() error {
		_, err := client.Create(t.Context(), u, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			_, err = client.Update(t.Context(), u, metav1.UpdateOptions{})
		}
		return err
	})
}

// noSecrets has a namespace reject new Secrets, and returns what ends that. The quota's status is not enough to wait
// for: kube-apiserver admits by a cache.
func noSecrets(t *testing.T, namespace string) (end func()) {
	t.Helper()
	client := alice.CoreV1().ResourceQuotas(namespace)
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "no-secrets"},
		Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/secrets": resource.MustParse("0")}}}
	if _, err := client.Create(t.Context(), quota, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	suite.EventuallyEqual(t, "Secrets are rejected in "+namespace, "true", func() string {
		_, err := alice.CoreV1().Secrets(namespace).Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "probe"}},
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return boolean(err != nil && strings.Contains(err.Error(), "exceeded quota: no-secrets"))
	})
	return func() {
		t.Helper()
		if err := client.Delete(t.Context(), quota.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

func patch(t *testing.T, resource schema.GroupVersionResource, namespace, name, patch string) error {
	t.Helper()
	_, err := alice.Dynamic.Resource(resource).Namespace(namespace).Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

// present returns the objects in a namespace as "name=value<source" in order. Those that Kubernetes puts there are left
// out.
func present(t *testing.T, resource schema.GroupVersionResource, namespace string) string {
	t.Helper()
	list, err := admin.Dynamic.Resource(resource).Namespace(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		return err.Error()
	}
	var words []string
	for _, u := range list.Items {
		if u.GetName() == "kube-root-ca.crt" {
			continue
		}
		word := u.GetName() + "=" + valueOf(u)
		if from, ok := u.GetLabels()[hnc.LabelInheritedFrom]; ok {
			word += "<" + from
		}
		words = append(words, word)
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

func valueOf(u unstructured.Unstructured) string {
	for _, path := range [][]string{{"data", "value"}, {"spec", "value"}, {"spec", "podSelector", "matchLabels", "value"}} {
		if v, ok, _ := unstructured.NestedString(u.Object, path...); ok {
			if u.GetKind() == "Secret" {
				decoded, _ := base64.StdEncoding.DecodeString(v)
				return string(decoded)
			}
			return v
		}
	}
	return ""
}

func eventuallyPresent(t *testing.T, resource schema.GroupVersionResource, namespace, want string) {
	t.Helper()
	suite.EventuallyEqual(t, resource.Resource+" in "+namespace, want, func() string { return present(t, resource, namespace) })
}
