package policy

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// newCopies returns a namespace with one copy of each kind, named "inherited".
func newCopies(t *testing.T) string {
	t.Helper()
	ns := newNamespace(t, label(hnc.TreeLabel("acme"), "1"))
	must(t)(propagator.CoreV1().ConfigMaps(ns).Create(t.Context(), configMap(ns, "inherited", copyOf("acme")), metav1.CreateOptions{}))
	must(t)(propagator.RbacV1().Roles(ns).Create(t.Context(), role(ns, "inherited", copyOf("acme")), metav1.CreateOptions{}))
	must(t)(propagator.dynamic.Resource(widgets).Namespace(ns).Create(t.Context(), widget(ns, "inherited", copyOf("acme")), metav1.CreateOptions{}))
	return ns
}

func TestO16O17O18CopiesAreChangedByThePropagatorOnly(t *testing.T) {
	ns := newCopies(t)
	ctx := t.Context()
	message := ns + "/inherited is inherited from namespace acme: change it there, in namespace acme"
	for name, u := range map[string]user{"a namespace's admin": alice, "a cluster's admin": admin} {
		t.Run(name, func(t *testing.T) {
			_, err := u.CoreV1().ConfigMaps(ns).Patch(ctx, "inherited", types.MergePatchType, []byte(`{"data":{"a":"c"}}`), metav1.PatchOptions{})
			denied(t, err, "ConfigMap "+message)
			_, err = u.CoreV1().ConfigMaps(ns).Patch(ctx, "inherited", types.MergePatchType, merge(t, "labels", map[string]any{"a": "b"}), metav1.PatchOptions{})
			denied(t, err, "ConfigMap "+message)
			_, err = u.RbacV1().Roles(ns).Patch(ctx, "inherited", types.MergePatchType, merge(t, "annotations", map[string]any{"a": "b"}), metav1.PatchOptions{})
			denied(t, err, "Role "+message)
			_, err = u.RbacV1().Roles(ns).Patch(ctx, "inherited", types.MergePatchType, merge(t, "generateName", strings.Repeat("x", 1000)), metav1.PatchOptions{})
			denied(t, err, "Role "+message)
			_, err = u.dynamic.Resource(widgets).Namespace(ns).Patch(ctx, "inherited", types.MergePatchType, []byte(`{"spec":{"teeth":13}}`), metav1.PatchOptions{})
			denied(t, err, "Widget "+message)
			_, err = u.CoreV1().ConfigMaps(ns).Apply(ctx, corev1apply.ConfigMap("inherited", ns).WithData(map[string]string{"x": "y"}), metav1.ApplyOptions{FieldManager: "test"})
			denied(t, err, "ConfigMap "+message)

			stays := "ConfigMap " + ns + "/inherited is inherited from namespace acme, so its label hnc.x-k8s.io/inherited-from stays"
			_, err = u.CoreV1().ConfigMaps(ns).Patch(ctx, "inherited", types.MergePatchType, merge(t, "labels", map[string]any{hnc.LabelInheritedFrom: nil}), metav1.PatchOptions{})
			denied(t, err, stays)
			_, err = u.CoreV1().ConfigMaps(ns).Patch(ctx, "inherited", types.MergePatchType, merge(t, "labels", map[string]any{hnc.LabelInheritedFrom: "x"}), metav1.PatchOptions{})
			denied(t, err, stays)
		})
	}
	must(t)(propagator.CoreV1().ConfigMaps(ns).Patch(ctx, "inherited", types.MergePatchType, []byte(`{"data":{"a":"c"}}`), metav1.PatchOptions{}))
	must(t)(propagator.CoreV1().ConfigMaps(ns).Patch(ctx, "inherited", types.MergePatchType, merge(t, "labels", map[string]any{hnc.LabelInheritedFrom: "x"}), metav1.PatchOptions{}))
}

func TestO14CopiesAreDeletedByThePropagatorOnly(t *testing.T) {
	ns := newCopies(t)
	ctx := t.Context()
	message := ns + "/inherited is inherited from namespace acme: delete it there, in namespace acme"
	must(t)(alice.CoreV1().ConfigMaps(ns).Create(ctx, configMap(ns, "own"), metav1.CreateOptions{}))
	for name, u := range map[string]user{"a namespace's admin": alice, "a cluster's admin": admin} {
		t.Run(name, func(t *testing.T) {
			denied(t, u.CoreV1().ConfigMaps(ns).Delete(ctx, "inherited", metav1.DeleteOptions{}), "ConfigMap "+message)
			denied(t, u.RbacV1().Roles(ns).Delete(ctx, "inherited", metav1.DeleteOptions{}), "Role "+message)
			denied(t, u.dynamic.Resource(widgets).Namespace(ns).Delete(ctx, "inherited", metav1.DeleteOptions{}), "Widget "+message)
			denied(t, u.CoreV1().ConfigMaps(ns).DeleteCollection(ctx, metav1.DeleteOptions{},
				metav1.ListOptions{LabelSelector: hnc.LabelInheritedFrom}), "ConfigMap "+message)
		})
	}
	if err := alice.CoreV1().ConfigMaps(ns).Delete(ctx, "own", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	if err := propagator.CoreV1().ConfigMaps(ns).Delete(ctx, "inherited", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

func TestO12CopiesAreCreatedByThePropagatorOnly(t *testing.T) {
	ns := newNamespace(t)
	ctx := t.Context()
	for name, u := range map[string]user{"a namespace's admin": alice, "a cluster's admin": admin} {
		t.Run(name, func(t *testing.T) {
			_, err := u.RbacV1().Roles(ns).Create(ctx, role(ns, "forged", copyOf("acme")), metav1.CreateOptions{})
			denied(t, err, "Role "+ns+"/forged would be a copy", "create it in namespace acme")
			generated := configMap(ns, "", copyOf("acme"))
			generated.GenerateName = "forged-"
			_, err = u.CoreV1().ConfigMaps(ns).Create(ctx, generated, metav1.CreateOptions{})
			denied(t, err, "ConfigMap "+ns+"/forged-", "would be a copy")
			_, err = u.CoreV1().ConfigMaps(ns).Apply(ctx, corev1apply.ConfigMap("forged", ns).WithLabels(map[string]string{hnc.LabelInheritedFrom: "acme"}),
				metav1.ApplyOptions{FieldManager: "test"})
			denied(t, err, "ConfigMap "+ns+"/forged would be a copy")
		})
	}
	must(t)(alice.CoreV1().ConfigMaps(ns).Create(ctx, configMap(ns, "own"), metav1.CreateOptions{}))
	_, err := alice.CoreV1().ConfigMaps(ns).Patch(ctx, "own", types.MergePatchType, merge(t, "labels", map[string]any{hnc.LabelInheritedFrom: "acme"}), metav1.PatchOptions{})
	denied(t, err, "ConfigMap "+ns+"/own is not inherited, so it cannot get label hnc.x-k8s.io/inherited-from")
	must(t)(alice.CoreV1().ConfigMaps(ns).Patch(ctx, "own", types.MergePatchType, []byte(`{"data":{"a":"c"}}`), metav1.PatchOptions{}))
}

func TestO19ControllersFieldsOfCopiesAreFree(t *testing.T) {
	ns := newCopies(t)
	ctx := t.Context()
	owners := []any{map[string]any{"apiVersion": "v1", "kind": "Namespace", "name": ns, "uid": "none", "blockOwnerDeletion": false}}
	hold := merge(t, "finalizers", []string{"example.com/hold"})
	for _, change := range [][]byte{hold, merge(t, "finalizers", nil)} {
		must(t)(alice.CoreV1().ConfigMaps(ns).Patch(ctx, "inherited", types.MergePatchType, change, metav1.PatchOptions{}))
		must(t)(alice.dynamic.Resource(widgets).Namespace(ns).Patch(ctx, "inherited", types.MergePatchType, change, metav1.PatchOptions{}))
	}
	// They would keep a grant after its source is gone.
	for _, u := range []user{alice, admin} {
		_, err := u.RbacV1().Roles(ns).Patch(ctx, "inherited", types.MergePatchType, hold, metav1.PatchOptions{})
		denied(t, err, "Role "+ns+"/inherited is inherited from namespace acme, and a finalizer would keep what it grants")
	}
	must(t)(propagator.RbacV1().Roles(ns).Patch(ctx, "inherited", types.MergePatchType, hold, metav1.PatchOptions{}))
	must(t)(alice.RbacV1().Roles(ns).Patch(ctx, "inherited", types.MergePatchType, merge(t, "finalizers", nil), metav1.PatchOptions{}))
	for _, change := range [][]byte{
		merge(t, "ownerReferences", owners), merge(t, "ownerReferences", nil),
		[]byte(`{}`),
	} {
		must(t)(alice.CoreV1().ConfigMaps(ns).Patch(ctx, "inherited", types.MergePatchType, change, metav1.PatchOptions{}))
		must(t)(alice.RbacV1().Roles(ns).Patch(ctx, "inherited", types.MergePatchType, change, metav1.PatchOptions{}))
		must(t)(alice.dynamic.Resource(widgets).Namespace(ns).Patch(ctx, "inherited", types.MergePatchType, change, metav1.PatchOptions{}))
	}
	must(t)(alice.dynamic.Resource(widgets).Namespace(ns).Patch(ctx, "inherited", types.MergePatchType, []byte(`{"status":{"phase":"Turning"}}`), metav1.PatchOptions{}, "status"))
}

// Labels and annotations of many built-in kinds can be changed through their status.
func TestStatusSubresourceDoesNotChangeCopies(t *testing.T) {
	ns := newNamespace(t, label(hnc.TreeLabel("acme"), "1"))
	ctx := t.Context()
	claim := func(name string, options ...option) *corev1.PersistentVolumeClaim {
		claim := &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			},
		}
		for _, o := range options {
			o(claim)
		}
		return claim
	}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "inherited", Labels: map[string]string{hnc.LabelInheritedFrom: "acme"}}}
	must(t)(propagator.CoreV1().PersistentVolumeClaims(ns).Create(ctx, claim("inherited", copyOf("acme")), metav1.CreateOptions{}))
	must(t)(propagator.CoreV1().PersistentVolumeClaims(ns).Create(ctx, claim("own"), metav1.CreateOptions{}))
	must(t)(propagator.CoreV1().ResourceQuotas(ns).Create(ctx, quota, metav1.CreateOptions{}))

	message := ns + "/inherited is inherited from namespace acme"
	changes := map[string][]byte{
		"adds a label":               merge(t, "labels", map[string]any{"a": "b"}),
		"removes the source's label": merge(t, "labels", map[string]any{hnc.LabelInheritedFrom: nil}),
		"names another source":       merge(t, "labels", map[string]any{hnc.LabelInheritedFrom: "x"}),
		"adds an annotation":         merge(t, "annotations", map[string]any{"a": "b"}),
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			_, err := reporter.CoreV1().PersistentVolumeClaims(ns).Patch(ctx, "inherited", types.MergePatchType, change, metav1.PatchOptions{}, "status")
			denied(t, err, "PersistentVolumeClaim "+message)
			_, err = reporter.CoreV1().ResourceQuotas(ns).Patch(ctx, "inherited", types.MergePatchType, change, metav1.PatchOptions{}, "status")
			denied(t, err, "ResourceQuota "+message)
		})
	}
	_, err := reporter.CoreV1().PersistentVolumeClaims(ns).Patch(ctx, "own", types.MergePatchType,
		merge(t, "labels", map[string]any{hnc.LabelInheritedFrom: "acme"}), metav1.PatchOptions{}, "status")
	denied(t, err, "PersistentVolumeClaim "+ns+"/own is not inherited")

	must(t)(reporter.CoreV1().PersistentVolumeClaims(ns).Patch(ctx, "inherited", types.MergePatchType,
		[]byte(`{"status":{"phase":"Lost"}}`), metav1.PatchOptions{}, "status"))
	must(t)(reporter.CoreV1().PersistentVolumeClaims(ns).Patch(ctx, "own", types.MergePatchType,
		merge(t, "labels", map[string]any{"a": "b"}), metav1.PatchOptions{}, "status"))
}

func TestControllersWorkOnCopies(t *testing.T) {
	t.Parallel()
	ns := newCopies(t)
	ctx := t.Context()
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "inherited", Labels: map[string]string{hnc.LabelInheritedFrom: "acme"}},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourceConfigMaps: resource.MustParse("10")}},
	}
	must(t)(propagator.CoreV1().ResourceQuotas(ns).Create(ctx, quota, metav1.CreateOptions{}))
	eventually(t, "the quota controller writes the status", func(ctx context.Context) (bool, error) {
		quota, err := admin.CoreV1().ResourceQuotas(ns).Get(ctx, "inherited", metav1.GetOptions{})
		return err == nil && len(quota.Status.Used) == 1, err
	})

	// Deleting an owner without its dependents makes the garbage collector clear ownerReferences. One that has not
	// observed the references yet never clears them, so each try has another owner.
	for try := range 5 {
		if orphaned(t, ns, fmt.Sprintf("owner-%d", try)) {
			return
		}
	}
	t.Error("the garbage collector does not clear ownerReferences")
}

// orphaned gives two copies an owner, deletes it without its dependents, and reports whether the garbage collector
// clears the references soon.
func orphaned(t *testing.T, ns, name string) bool {
	t.Helper()
	ctx := t.Context()
	owner, err := alice.CoreV1().ConfigMaps(ns).Create(ctx, configMap(ns, name), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	owned := merge(t, "ownerReferences", []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}})
	must(t)(propagator.RbacV1().Roles(ns).Patch(ctx, "inherited", types.MergePatchType, owned, metav1.PatchOptions{}))
	must(t)(propagator.dynamic.Resource(widgets).Namespace(ns).Patch(ctx, "inherited", types.MergePatchType, owned, metav1.PatchOptions{}))
	orphan := metav1.DeletePropagationOrphan
	if err := alice.CoreV1().ConfigMaps(ns).Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: &orphan}); err != nil {
		t.Fatal(err)
	}
	return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, 20*time.Second, true, func(ctx context.Context) (bool, error) {
		role, err := admin.RbacV1().Roles(ns).Get(ctx, "inherited", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		widget, err := admin.dynamic.Resource(widgets).Namespace(ns).Get(ctx, "inherited", metav1.GetOptions{})
		return err == nil && len(role.OwnerReferences) == 0 && len(widget.GetOwnerReferences()) == 0, err
	}) == nil
}

func TestO13CopiesGoWithTheirNamespace(t *testing.T) {
	t.Parallel()
	ns := newCopies(t)
	if err := alice.CoreV1().Namespaces().Delete(t.Context(), ns, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	gone(t, ns)
}

func TestO1ExcludedNamespacesHaveNoCopies(t *testing.T) {
	ctx := t.Context()
	for _, ns := range []string{"kube-system", hnc.SystemNamespace} {
		must(t)(alice.CoreV1().ConfigMaps(ns).Create(ctx, configMap(ns, "labelled", copyOf("acme")), metav1.CreateOptions{}))
		must(t)(alice.CoreV1().ConfigMaps(ns).Patch(ctx, "labelled", types.MergePatchType, []byte(`{"data":{"a":"c"}}`), metav1.PatchOptions{}))
		if err := alice.CoreV1().ConfigMaps(ns).Delete(ctx, "labelled", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	}
}
