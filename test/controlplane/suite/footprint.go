package suite

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// footprints are the resources that show what is propagated: namespaces by their labels, the kinds of copies, and the
// quotas.
var footprints = []schema.GroupVersionResource{
	{Version: "v1", Resource: "namespaces"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"},
	{Version: "v1", Resource: "resourcequotas"},
}

// Footprint returns the UIDs and versions of namespaces, and of the Roles, RoleBindings and ResourceQuotas in them: of
// the named ones, or of all. Whatever is written changes it, except the status of a ResourceQuota, which
// kube-controller-manager counts.
func Footprint(t *testing.T, u User, namespaces ...string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, resource := range footprints {
		list, err := u.Dynamic.Resource(resource).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			object := &list.Items[i]
			namespace := object.GetNamespace()
			if namespace == "" {
				namespace = object.GetName()
			}
			if len(namespaces) > 0 && !slices.Contains(namespaces, namespace) {
				continue
			}
			version := object.GetResourceVersion()
			if resource.Resource == "resourcequotas" {
				version = withoutStatus(t, object)
			}
			found[resource.Resource+" "+namespace+"/"+object.GetName()] = fmt.Sprint(object.GetUID(), " ", version, " ", object.GetLabels())
		}
	}
	return found
}

// withoutStatus returns what of an object is not written with its status.
func withoutStatus(t *testing.T, object *unstructured.Unstructured) string {
	t.Helper()
	object = object.DeepCopy()
	object.SetResourceVersion("")
	object.SetManagedFields(slices.DeleteFunc(object.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool { return entry.Subresource == "status" }))
	unstructured.RemoveNestedField(object.Object, "status")
	content, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// Written returns how a footprint differs from an earlier one.
func Written(before, after map[string]string) []string {
	var written []string
	for name, now := range after {
		switch was, existed := before[name]; {
		case !existed:
			written = append(written, fmt.Sprintf("created %s: %s", name, now))
		case was != now:
			written = append(written, fmt.Sprintf("changed %s: %s\nwas %s", name, now, was))
		}
	}
	for name, was := range before {
		if _, exists := after[name]; !exists {
			written = append(written, fmt.Sprintf("deleted %s: %s", name, was))
		}
	}
	slices.Sort(written)
	return written
}
