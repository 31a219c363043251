package wire

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// quotaNames are resources with and without a meaning to ResourceQuotas. Only quotas reject numbers of ResourceQuotas,
// which are not among them.
var quotaNames = []string{
	"cpu", "memory", "storage", "ephemeral-storage", "pods", "services", "services.nodeports", "services.loadbalancers", "secrets", "configmaps",
	"replicationcontrollers", "persistentvolumeclaims", "requests.cpu", "requests.memory", "requests.storage",
	"requests.ephemeral-storage", "limits.cpu", "limits.memory", "limits.ephemeral-storage", "limits.storage", "requests.pods",
	"hugepages-2Mi", "requests.hugepages-2Mi", "limits.hugepages-2Mi", "hugepages-", "hugepages-x", "hugepages-2Mi/a",
	"nvidia.com/gpu", "requests.nvidia.com/gpu", "limits.nvidia.com/gpu", "kubernetes.io/batch", "requests.kubernetes.io/batch",
	"gold.storageclass.storage.k8s.io/requests.storage", "gold.storageclass.storage.k8s.io/persistentvolumeclaims",
	"gpus.deviceclass.resource.k8s.io/devices", "requests.deviceclass.resource.kubernetes.io/gpu",
	"count/pods", "count/deployments.apps", "count/widgets.example.com", "count/", "count/Pods", "count/a/b", "count",
	"nonsense", "Pods", "pods ", " ", "", "a b", "a/b", "a/", "/b", "a//b", "ä", "-pods", "pods.", "example.com/" + strings.Repeat("x", 63),
	"example.com/" + strings.Repeat("x", 64), strings.Repeat("x", 63), strings.Repeat("x", 300) + "/y",
	strings.Repeat("a.", 120) + "com/y", strings.Repeat("a.", 124) + "com/y",
}

// quotaQuantities are within what Kubernetes counts. kube-apiserver accepts limits beyond that.
var quotaQuantities = []string{
	"0", "1", "1k", "1Ki", "100m", "1500m", "2000m", "1.5", "1.0", "1n", "-1", "-1m", "-0", "1E", "9E", "1e3", "0.1Gi", "9223372036854775807",
	"9223372036854775", "9223372036854776", "9999999999999999", "9223372036854774807", "10P",
}

func quotaSpecs() []string {
	var specs []string
	add := func(format string, args ...any) { specs = append(specs, fmt.Sprintf(format, args...)) }
	add(`{}`)
	add(`{"hard":{}}`)
	for _, name := range quotaNames {
		for _, quantity := range []string{"1", "1500m"} {
			add(`{"hard":{%q:%q}}`, name, quantity)
		}
	}
	for _, quantity := range quotaQuantities {
		for _, name := range []string{"pods", "cpu", "requests.storage", "count/pods", "nvidia.com/gpu", "requests.nvidia.com/gpu", "hugepages-2Mi"} {
			add(`{"hard":{%q:%q}}`, name, quantity)
		}
	}
	add(`{"hard":{"pods":1,"cpu":2}}`)
	add(`{"hard":{"pods":"1","nonsense":"2","secrets":"-1"}}`)
	scopes := []string{"Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity", "VolumeAttributesClass",
		"terminating", "Nonsense", ""}
	for i, scope := range scopes {
		add(`{"scopes":[%q]}`, scope)
		for _, name := range append(quotaNames[:24:24], "count/pods", "nvidia.com/gpu", "nonsense") {
			add(`{"hard":{%q:"1"},"scopes":[%q]}`, name, scope)
			add(`{"hard":{%q:"1"},"scopeSelector":{"matchExpressions":[{"scopeName":%q,"operator":"Exists"}]}}`, name, scope)
		}
		for _, other := range scopes[i:] {
			add(`{"hard":{"pods":"1"},"scopes":[%q,%q]}`, scope, other)
			add(`{"hard":{"pods":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":%q,"operator":"Exists"},{"scopeName":%q,"operator":"Exists"}]}}`, scope, other)
		}
		for _, operator := range []string{"In", "NotIn", "Exists", "DoesNotExist", "in", "Nonsense", ""} {
			for _, values := range []string{`[]`, `["high"]`, `["high","low"]`, `["high","high"]`, `[""]`, `["no name"]`} {
				add(`{"hard":{"pods":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":%q,"operator":%q,"values":%s}]}}`, scope, operator, values)
			}
		}
	}
	add(`{"hard":{"pods":"1"},"scopes":["Terminating"],"scopeSelector":{"matchExpressions":[{"scopeName":"NotTerminating","operator":"Exists"}]}}`)
	add(`{"hard":{"pods":"1"},"scopes":[],"scopeSelector":{}}`)
	add(`{"hard":{"pods":"1"},"scopeSelector":{"matchExpressions":[]}}`)
	return specs
}

// The propagator writes the limits of quotas into ResourceQuotas. One that kube-apiserver rejects would limit nothing.
func TestQuotasAreValidAsResourceQuotasAre(t *testing.T) {
	create(t, "quota-validation")
	client, err := dynamic.NewForConfig(cp.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	verdict := func(resource dynamic.ResourceInterface, apiVersion, kind, spec string) error {
		object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": "q"}}}
		var content map[string]any
		if err := json.Unmarshal([]byte(spec), &content); err != nil {
			t.Fatal(err)
		}
		object.Object["spec"] = content
		_, err := resource.Create(t.Context(), object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil && !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
			t.Fatalf("%s: %v", spec, err)
		}
		return err
	}
	ours := client.Resource(v1beta1.SchemeGroupVersion.WithResource("hierarchicalresourcequotas")).Namespace("quota-validation")
	core := client.Resource(corev1.SchemeGroupVersion.WithResource("resourcequotas")).Namespace("quota-validation")
	valid, invalid := 0, 0
	for _, spec := range quotaSpecs() {
		want, got := verdict(core, "v1", "ResourceQuota", spec), verdict(ours, v1beta1.SchemeGroupVersion.String(), "HierarchicalResourceQuota", spec)
		// A value that is no label is stored by kube-apiserver, and counted by nobody.
		stricter := strings.Contains(spec, "no name") && want == nil && apierrors.IsInvalid(got)
		if !stricter && (want == nil) != (got == nil) {
			t.Errorf("%s:\n kube-apiserver: %v\n ours: %v", spec, want, got)
		}
		if want == nil {
			valid++
		} else {
			invalid++
		}
	}
	// kube-apiserver judges a number as it is written, and another server stores what it decodes.
	const written, stored = `{"hard":{"count/pods":"123456789012345678e1"}}`, `{"hard":{"count/pods":"1234567890123456780"}}`
	if !apierrors.IsInvalid(verdict(core, "v1", "ResourceQuota", stored)) || !apierrors.IsInvalid(verdict(ours, v1beta1.SchemeGroupVersion.String(), "HierarchicalResourceQuota", written)) {
		t.Errorf("%s: kube-apiserver accepts it, or hns-apiserver accepts %s", stored, written)
	}
	t.Logf("%d valid, %d invalid", valid, invalid)
	if valid < 100 || invalid < 100 {
		t.Errorf("%d valid and %d invalid specs are too few", valid, invalid)
	}
}
