package quota

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// tree creates namespaces, from "child" or "child<parent", whose names begin with prefix.
func tree(t *testing.T, prefix string, namespaces ...string) {
	t.Helper()
	for _, entry := range namespaces {
		name, parent, _ := strings.Cut(entry, "<")
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: prefix + name}}
		if _, err := admin.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if parent != "" {
			setParent(t, prefix+name, prefix+parent)
		}
	}
}

// setParent moves a namespace.
func setParent(t *testing.T, namespace, parent string) {
	t.Helper()
	client := admin.HNC.HncV1beta1().Hierarchies(namespace)
	suite.Eventually(t, "moving "+namespace, func() error {
		h, err := client.Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			_, err = client.Create(t.Context(), &v1beta1.Hierarchy{
				ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton}, Spec: v1beta1.HierarchySpec{Parent: parent},
			}, metav1.CreateOptions{})
			return err
		}
		if err != nil {
			return err
		}
		h.Spec.Parent = parent
		_, err = client.Update(t.Context(), h, metav1.UpdateOptions{})
		return err
	})
}

// limits returns a list of resources from "pods=3 secrets=6".
func limits(text string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for _, field := range strings.Fields(text) {
		name, quantity, _ := strings.Cut(field, "=")
		list[corev1.ResourceName(name)] = resource.MustParse(quantity)
	}
	return list
}

// text is the reverse of limits, in the order of names.
func text(list map[corev1.ResourceName]resource.Quantity) string {
	var fields []string
	for _, name := range slices.Sorted(maps.Keys(list)) {
		quantity := list[name]
		fields = append(fields, fmt.Sprintf("%s=%s", name, quantity.String()))
	}
	return strings.Join(fields, " ")
}

// limit creates a quota, or changes its limits.
func limit(t *testing.T, namespace, name, hard string) {
	t.Helper()
	client := admin.HNC.HncV1beta1().HierarchicalResourceQuotas(namespace)
	q := &v1beta1.HierarchicalResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1beta1.HierarchicalResourceQuotaSpec{Hard: hnc.ResourceList(limits(hard))},
	}
	_, err := client.Create(t.Context(), q, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		patch, _ := json.Marshal([]map[string]any{{"op": "replace", "path": "/spec/hard", "value": limits(hard)}})
		_, err = client.Patch(t.Context(), name, types.JSONPatchType, patch, metav1.PatchOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// unlimit deletes a quota.
func unlimit(t *testing.T, namespace, name string) {
	t.Helper()
	if err := admin.HNC.HncV1beta1().HierarchicalResourceQuotas(namespace).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// wantHard polls until the ResourceQuota of ours in a namespace has exactly the limits, and is in force; "" means that
// there is none.
func wantHard(t *testing.T, namespace, want string) {
	t.Helper()
	suite.EventuallyEqual(t, "limits in "+namespace, want, func() string {
		rq, err := admin.CoreV1().ResourceQuotas(namespace).Get(t.Context(), hnc.ResourceQuotaName, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return ""
		}
		if err != nil {
			return err.Error()
		}
		if spec, status := text(rq.Spec.Hard), text(rq.Status.Hard); spec != status {
			return spec + " but in force " + status
		}
		return text(rq.Spec.Hard)
	})
}

// wantStatus polls until a quota reports the use, as a list of resources, and the conditions, as "Ready=Reason
// Exceeded=Reason".
func wantStatus(t *testing.T, namespace, name, used, conditions string) {
	t.Helper()
	suite.EventuallyEqual(t, "status of "+namespace+"/"+name, used+"; "+conditions, func() string {
		q := get(t, namespace, name)
		var found []string
		for _, kind := range []string{hnc.ConditionReady, hnc.ConditionQuotaExceeded} {
			condition := meta.FindStatusCondition(q.Status.Conditions, kind)
			switch {
			case condition == nil:
				found = append(found, "no "+kind)
			case condition.ObservedGeneration != q.Generation:
				found = append(found, kind+" of an earlier generation")
			default:
				found = append(found, kind+"="+condition.Reason)
			}
		}
		return text(q.Status.Used) + "; " + strings.Join(found, " ")
	})
}

// wantNamespaces polls until a quota reports the use of exactly these namespaces, as "namespace: resources" in lines.
func wantNamespaces(t *testing.T, namespace, name string, want ...string) {
	t.Helper()
	suite.EventuallyEqual(t, "namespaces of "+namespace+"/"+name, strings.Join(want, "\n"), func() string {
		var lines []string
		for _, n := range get(t, namespace, name).Status.Namespaces {
			lines = append(lines, n.Namespace+": "+text(n.Used))
		}
		return strings.Join(lines, "\n")
	})
}

func get(t *testing.T, namespace, name string) *v1beta1.HierarchicalResourceQuota {
	t.Helper()
	q, err := admin.HNC.HncV1beta1().HierarchicalResourceQuotas(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// createSecrets creates Secrets, of which there are none in a new namespace.
func createSecrets(t *testing.T, namespace string, names ...string) {
	t.Helper()
	for _, name := range names {
		suite.Must(t, "creating secret "+namespace+"/"+name, func() error { return createSecret(t, namespace, name) })
	}
}

func createSecret(t *testing.T, namespace, name string) error {
	t.Helper()
	_, err := admin.CoreV1().Secrets(namespace).Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	return err
}
