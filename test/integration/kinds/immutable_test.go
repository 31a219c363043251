package kinds

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// immutable makes a ConfigMap or a Secret immutable.
func immutable(u *unstructured.Unstructured) *unstructured.Unstructured {
	u.Object["immutable"] = true
	return u
}

// ofType sets the type of a Secret, which is always immutable.
func ofType(u *unstructured.Unstructured, secretType corev1.SecretType) *unstructured.Unstructured {
	u.Object["type"] = string(secretType)
	return u
}

// Otherwise users could keep the policies above them out.
func TestImmutableObjectsAreOverwrittenAndSoAreTheirCopies(t *testing.T) {
	configure(t, "configmaps Propagate", "secrets Propagate")
	root, mid, leaf := tree(t, "immutable")
	put(t, configMaps, immutable(object("ConfigMap", mid, "settings", "local")))
	put(t, secrets, immutable(object("Secret", mid, "immutable", "local")))
	put(t, secrets, ofType(object("Secret", mid, "typed", "local"), "example.com/local"))
	eventuallyPresent(t, configMaps, leaf, "settings=local<"+mid)
	eventuallyPresent(t, secrets, leaf, "immutable=local<"+mid+" typed=local<"+mid)
	put(t, configMaps, immutable(object("ConfigMap", root, "settings", "above")))
	put(t, secrets, object("Secret", root, "immutable", "above"))
	put(t, secrets, ofType(object("Secret", root, "typed", "above"), "example.com/above"))
	for _, below := range []string{mid, leaf} {
		eventuallyPresent(t, configMaps, below, "settings=above<"+root)
		eventuallyPresent(t, secrets, below, "immutable=above<"+root+" typed=above<"+root)
	}
	typed, err := alice.CoreV1().Secrets(leaf).Get(t.Context(), "typed", metav1.GetOptions{})
	if err != nil || typed.Type != "example.com/above" {
		t.Errorf("the copy has the type %q, %v", typed.Type, err)
	}
	for name, says := range map[string]string{
		"configmaps:settings": `"value":"local"`, "secrets:immutable": `"immutable":true`, "secrets:typed": `"type":"example.com/local"`,
	} {
		var record *v1alpha3.OverwrittenObject
		suite.Must(t, "the record "+name, func() (err error) {
			record, err = admin.HNC.HncV1alpha3().OverwrittenObjects(mid).Get(t.Context(), name, metav1.GetOptions{})
			return err
		})
		if !strings.Contains(record.Spec.Manifest, says) {
			t.Errorf("the record %s lacks %s: %s", name, says, record.Spec.Manifest)
		}
	}
	if got := admin.overwritten(t, leaf); got != "" {
		t.Errorf("the copies that were replaced are recorded: %s", got)
	}
}

func TestCopiesOfAnImmutableSourceFollowTheOneThatReplacesIt(t *testing.T) {
	configure(t, "configmaps Propagate", "secrets Propagate")
	root, mid, leaf := tree(t, "renewed")
	for _, value := range []string{"first", "second"} {
		put(t, configMaps, immutable(object("ConfigMap", root, "settings", value)))
		put(t, secrets, ofType(object("Secret", root, "token", value), corev1.SecretType("example.com/"+value)))
		for _, below := range []string{mid, leaf} {
			eventuallyPresent(t, configMaps, below, "settings="+value+"<"+root)
			eventuallyPresent(t, secrets, below, "token="+value+"<"+root)
		}
		remove(t, configMaps, root, "settings")
		remove(t, secrets, root, "token")
	}
}

// The place that the object leaves is enough for its copy.
func TestAnImmutableObjectIsOverwrittenAlthoughAQuotaIsFull(t *testing.T) {
	configure(t, "configmaps Propagate")
	root, _, leaf := tree(t, "full")
	put(t, configMaps, immutable(object("ConfigMap", leaf, "settings", "local")))
	suite.EventuallyEqual(t, "the ConfigMaps in "+leaf, "2", func() string { return count(t, leaf) })
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "full"},
		Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/configmaps": resource.MustParse("2")}}}
	if _, err := alice.CoreV1().ResourceQuotas(leaf).Create(t.Context(), quota, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	suite.EventuallyEqual(t, "ConfigMaps are rejected in "+leaf, "true", func() string {
		_, err := alice.CoreV1().ConfigMaps(leaf).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "probe"}},
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return boolean(err != nil && strings.Contains(err.Error(), "exceeded quota: full"))
	})
	put(t, configMaps, object("ConfigMap", root, "settings", "above"))
	eventuallyPresent(t, configMaps, leaf, "settings=above<"+root)
	if got := admin.overwritten(t, leaf); got != "configmaps:settings" {
		t.Errorf("recorded: %q", got)
	}
}

// count returns the number of ConfigMaps in a namespace, with the one that Kubernetes creates.
func count(t *testing.T, namespace string) string {
	t.Helper()
	list, err := alice.CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(len(list.Items))
}

// In protobuf, managed fields are a text that kube-apiserver decodes separately, so an object can have more levels of JSON
// than Go's decoders accept.
func TestObjectsOfAnyDepthAreOverwritten(t *testing.T) {
	configure(t, "configmaps Propagate")
	root, _, leaf := tree(t, "deepest")
	deep := func(name, version string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: name, ManagedFields: []metav1.ManagedFieldsEntry{{
			Manager: "tenant", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: version, FieldsType: "FieldsV1",
			FieldsV1: metav1.NewFieldsV1(strings.Repeat(`{"f:a":`, 9_998) + "{}" + strings.Repeat("}", 9_998)),
		}}}
	}
	maps, roles := alice.CoreV1().ConfigMaps(leaf), alice.RbacV1().Roles(leaf)
	if _, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: deep("settings", "v1"), Data: map[string]string{"value": "local"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := alice.Dynamic.Resource(configMaps).Namespace(leaf).Get(t.Context(), "settings", metav1.GetOptions{}); err == nil || !strings.Contains(err.Error(), "depth") {
		t.Fatalf("the object is not deep: %v", err)
	}
	const group, version = rbacv1.GroupName, rbacv1.GroupName + "/v1"
	if _, err := alice.RbacV1().RoleBindings(leaf).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: deep("people", version), RoleRef: rbacv1.RoleRef{APIGroup: group, Kind: "Role", Name: "readers"},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := roles.Create(t.Context(), &rbacv1.Role{ObjectMeta: deep("readers", version)}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	put(t, configMaps, object("ConfigMap", root, "settings", "above"))
	if _, err := alice.RbacV1().Roles(root).Create(t.Context(), &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "readers"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	suite.EventuallyEqual(t, "the ConfigMap", "above", func() string {
		m, err := maps.Get(t.Context(), "settings", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		return m.Data["value"]
	})
	suite.EventuallyEqual(t, "the Role is from", root, func() string {
		r, err := roles.Get(t.Context(), "readers", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		return r.Labels[hnc.LabelInheritedFrom]
	})
	if got := admin.overwritten(t, leaf); !strings.Contains(got, "configmaps:settings") {
		t.Errorf("records: %q", got)
	}
}
