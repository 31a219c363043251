package view

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// A ResourceQuota of the view counts its custom resources under the name that they have there.
func TestQuotasCountOwnCustomResources(t *testing.T) {
	tn := newOwner(t, "crd-quota", 1)
	tn.run(t, manifest(widgetSpec("v1")), "create", "-f", "-")
	ctx := t.Context()
	binding, err := admin.RbacV1().RoleBindings(tn.root).Get(ctx, "tenant", metav1.GetOptions{})
	must(t, "binding", err)
	bindAdminAs(t, tn.root, "owner", binding.Subjects[0], "cluster-admin") // admin may not write quotas.
	const count = "count/widgets.example.com"
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "widgets"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{count: resource.MustParse("1")}}}
	suite.Must(t, "quota", func() error {
		_, err := tn.view.CoreV1().ResourceQuotas("default").Create(ctx, quota, metav1.CreateOptions{})
		return err
	})
	stored, err := admin.CoreV1().ResourceQuotas(tn.root).Get(ctx, quota.Name, metav1.GetOptions{})
	must(t, "stored", err)
	if _, ok := stored.Spec.Hard[corev1.ResourceName(count+"."+tn.suffix(t))]; !ok || len(stored.Spec.Hard) != 1 {
		t.Errorf("stored %v", stored.Spec.Hard)
	}
	// The use of a kind that is new in the cluster is only known after the next change.
	tries := int64(0)
	suite.Eventually(t, "the kind is known", func() error {
		got, err := tn.view.CoreV1().ResourceQuotas("default").Get(ctx, quota.Name, metav1.GetOptions{})
		if _, ok := got.Status.Used[count]; err != nil || ok {
			return err
		}
		tries++
		got.Spec.Hard[corev1.ResourcePods] = *resource.NewQuantity(tries, resource.DecimalSI)
		if _, err = tn.view.CoreV1().ResourceQuotas("default").Update(ctx, got, metav1.UpdateOptions{}); err != nil {
			return err
		}
		return fmt.Errorf("status: %+v", got.Status)
	})
	// Admission may know the status later.
	suite.Must(t, "one", func() error {
		_, err := tn.dynamic(t).Resource(widgetsV1).Namespace("default").Create(ctx, widget("one"), metav1.CreateOptions{})
		return err
	})
	suite.Eventually(t, "it is counted", func() error {
		got, err := tn.view.CoreV1().ResourceQuotas("default").Get(ctx, quota.Name, metav1.GetOptions{})
		if used := got.Status.Used[count]; err == nil && used.Value() != 1 {
			err = fmt.Errorf("status: %+v", got.Status)
		}
		return err
	})
	_, err = tn.dynamic(t).Resource(widgetsV1).Namespace("default").Create(ctx, widget("two"), metav1.CreateOptions{})
	if err == nil || !strings.Contains(err.Error(), "exceeded quota: widgets, requested: "+count+"=1, used: "+count+"=1, limited: "+count+"=1") {
		t.Errorf("one more: %v", err)
	}
	if out := tn.run(t, "", "get", "quota", "widgets"); !strings.Contains(out, count+": 1/1") {
		t.Errorf("a table: %s", out)
	}
	hierarchical := &v1beta1.HierarchicalResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "widgets"}, Spec: v1beta1.HierarchicalResourceQuotaSpec{Hard: hnc.ResourceList{count: resource.MustParse("2")}}}
	created, err := tn.view.HNC.HncV1beta1().HierarchicalResourceQuotas("default").Create(ctx, hierarchical, metav1.CreateOptions{})
	must(t, "hierarchical quota", err)
	if _, ok := created.Spec.Hard[count]; !ok || len(created.Spec.Hard) != 1 {
		t.Errorf("the hierarchical quota is %v", created.Spec.Hard)
	}
}

// Events about custom resources are found by them, and typed clients send options of deletions with their group.
func TestEventsAndDeletionsOfOwnCustomResources(t *testing.T) {
	tn := newOwner(t, "crd-events", 1)
	tn.run(t, manifest(widgetSpec("v1")), "create", "-f", "-")
	ctx := t.Context()
	_, err := tn.dynamic(t).Resource(widgetsV1).Namespace("default").Create(ctx, widget("one"), metav1.CreateOptions{})
	must(t, "create", err)
	event := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: "one.1"}, Reason: "Polished", Message: "it shines", Type: corev1.EventTypeNormal,
		InvolvedObject: corev1.ObjectReference{APIVersion: "example.com/v1", Kind: "Widget", Namespace: "default", Name: "one"},
	}
	binding, err := admin.RbacV1().RoleBindings(tn.root).Get(ctx, "tenant", metav1.GetOptions{})
	must(t, "binding", err)
	bindAdminAs(t, tn.root, "owner", binding.Subjects[0], "cluster-admin") // admin may not write events.
	suite.Must(t, "event", func() error {
		_, err := tn.view.CoreV1().Events("default").Create(ctx, event, metav1.CreateOptions{})
		return err
	})
	if out := tn.run(t, "", "events", "--for=widget.example.com/one"); !strings.Contains(out, "it shines") {
		t.Errorf("events: %s", out)
	}
	body := `{"apiVersion":"example.com/v1","kind":"DeleteOptions","propagationPolicy":"Background"}`
	if code, answer := tn.raw(t, http.MethodDelete, "/apis/example.com/v1/namespaces/default/widgets/one", body, "Content-Type", "application/json"); code != http.StatusOK {
		t.Errorf("deletion: %d %s", code, answer)
	}
}

// The cluster's status of a definition is that in the view, which cannot be written there.
func TestStoredVersionsOfADefinition(t *testing.T) {
	tn := newOwner(t, "crd-stored", 1)
	two := func(first string) string {
		var spec apiextensionsv1.CustomResourceDefinitionSpec
		must(t, "spec", json.Unmarshal([]byte(widgetSpec("v2")), &spec))
		if first != "" {
			version := spec.Versions[0]
			version.Name, version.Storage = first, false
			spec.Versions = append(spec.Versions, version)
		}
		encoded, err := json.Marshal(spec)
		must(t, "spec", err)
		return manifest(string(encoded))
	}
	stored := func(want ...string) {
		t.Helper()
		suite.Eventually(t, "the stored versions", func() error {
			o, err := tn.dynamic(t).Resource(crds).Get(t.Context(), "widgets.example.com", metav1.GetOptions{})
			if err != nil {
				return err
			}
			got, _, err := unstructured.NestedStringSlice(o.Object, "status", "storedVersions")
			if err == nil && !slices.Equal(got, want) {
				err = fmt.Errorf("got %v", got)
			}
			return err
		})
	}
	tn.run(t, manifest(widgetSpec("v1")), "apply", "-f", "-")
	stored("v1")
	tn.run(t, two("v1"), "apply", "-f", "-")
	stored("v1", "v2")
	if out, err := tn.output(t, two(""), "apply", "-f", "-"); err == nil || !strings.Contains(out, "status.storedVersions") {
		t.Errorf("a stored version is removed: %v %s", err, out)
	}
	for _, method := range []string{http.MethodPut, http.MethodPatch} {
		code, answer := tn.raw(t, method, definitionsPath+"/widgets.example.com/status", `{"status":{"storedVersions":["v2"]}}`, "Content-Type", "application/merge-patch+json")
		if want := "StorageVersionMigration of widgets.example.com." + tn.suffix(t); code != http.StatusMethodNotAllowed || !strings.Contains(answer, want) {
			t.Errorf("%s: %d %s", method, code, answer)
		}
	}
	// As a StorageVersionMigration does.
	realOne, err := administrator(t).Resource(crds).Get(t.Context(), "widgets.example.com."+tn.suffix(t), metav1.GetOptions{})
	must(t, "the real one", err)
	must(t, "stored versions", unstructured.SetNestedStringSlice(realOne.Object, []string{"v2"}, "status", "storedVersions"))
	_, err = administrator(t).Resource(crds).UpdateStatus(t.Context(), realOne, metav1.UpdateOptions{})
	must(t, "the real status", err)
	stored("v2")
	tn.run(t, two(""), "apply", "-f", "-")
}

func TestDefinitionsInProtobufAreAccepted(t *testing.T) {
	tn := newOwner(t, "crd-proto", 1)
	var crd apiextensionsv1.CustomResourceDefinition
	must(t, "definition", json.Unmarshal([]byte(manifest(widgetSpec("v1"))), &crd))
	message, err := crd.Marshal()
	must(t, "message", err)
	envelope, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: crd.APIVersion, Kind: crd.Kind}, Raw: message}).Marshal()
	must(t, "envelope", err)
	const protobuf = "application/vnd.kubernetes.protobuf"
	code, answer := tn.raw(t, http.MethodPost, definitionsPath, "k8s\x00"+string(envelope), "Content-Type", protobuf, "Accept", protobuf+",application/json")
	if code != http.StatusCreated || !strings.Contains(answer, `"kind":"CustomResourceDefinition"`) {
		t.Errorf("%d %s", code, answer)
	}
	tn.run(t, "", "get", "widgets")
}
