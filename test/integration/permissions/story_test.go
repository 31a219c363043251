package permissions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

func ours(resource string) schema.GroupVersionResource {
	version := "v1alpha3"
	switch resource {
	case "hierarchies", "subnamespaces", "hncconfigurations", "hierarchicalresourcequotas":
		version = "v1beta1"
	}
	return schema.GroupVersionResource{Group: "hnc.x-k8s.io", Version: version, Resource: resource}
}

// apply applies an object of ours, which is given as its spec.
func apply(t *testing.T, resource, kind, namespace, name, spec string) {
	t.Helper()
	body := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q},"spec":%s}`, ours(resource).GroupVersion(), kind, name, spec)
	force := true
	eventually(t, kind+" "+name, func(ctx context.Context) error {
		_, err := objects.Resource(ours(resource)).Namespace(namespace).Patch(ctx, name, types.ApplyPatchType, []byte(body),
			metav1.PatchOptions{FieldManager: "test", Force: &force})
		return err
	})
}

// story has both servers do all that they do.
func story(t *testing.T) {
	ctx := t.Context()
	apply(t, "hncconfigurations", "HNCConfiguration", "", "config", `{"creatorRole":"view","resources":[{"resource":"configmaps"},{"resource":"secrets"}]}`)
	for _, name := range []string{"root", "other"} {
		if _, err := kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "role"}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}}}}
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "binding"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "role"}}
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"a": "b"}}
	for _, err := range []error{
		second(kube.RbacV1().Roles("root").Create(ctx, role, metav1.CreateOptions{})),
		second(kube.RbacV1().RoleBindings("root").Create(ctx, binding, metav1.CreateOptions{})),
		second(kube.CoreV1().ConfigMaps("root").Create(ctx, settings, metav1.CreateOptions{})),
		second(kube.CoreV1().ConfigMaps("other").Create(ctx, settings, metav1.CreateOptions{})),
		second(kube.CoreV1().ResourceQuotas("other").Create(ctx, &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "quota"}}, metav1.CreateOptions{})),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	apply(t, "subnamespaces", "Subnamespace", "root", "sub", `{}`)
	apply(t, "hierarchies", "Hierarchy", "root", "hierarchy", `{"allowCascadingDeletion":true,"requiredChildren":["needed"]}`)
	copied(t, "needed", "get", "pods")
	quotas(t, "root")
	definitions(t)

	plan := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "hnc.x-k8s.io/v1alpha3", "kind": "HierarchyPlan", "metadata": map[string]any{"name": "hierarchy"},
		"spec": map[string]any{"change": "Parent", "parent": "root"},
	}}
	if _, err := objects.Resource(ours("hierarchies")).Namespace("other").Create(ctx, plan, metav1.CreateOptions{}, "plan"); err != nil {
		t.Errorf("plan: %v", err)
	}
	if _, err := objects.Resource(ours("mynamespaces")).List(ctx, metav1.ListOptions{}); err != nil {
		t.Errorf("mynamespaces: %v", err)
	}
	subtree := schema.GroupVersionResource{Group: "resources.hnc.x-k8s.io", Version: "v1alpha2", Resource: "secrets"}
	if _, err := objects.Resource(subtree).Namespace("root").List(ctx, metav1.ListOptions{}); err != nil {
		t.Errorf("subtree: %v", err)
	}

	// A copy overwrites an object, which is reported by an event; sources are changed and removed.
	if err := kube.CoreV1().ConfigMaps("other").Delete(ctx, "settings", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	apply(t, "hierarchies", "Hierarchy", "other", "hierarchy", `{"parent":"root"}`)
	if _, err := kube.RbacV1().Roles("other").Create(ctx, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "late"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"late"} {
		if _, err := kube.RbacV1().Roles("root").Create(ctx, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	role.Rules[0].Verbs = []string{"list"}
	if err := second(kube.RbacV1().Roles("root").Update(ctx, role, metav1.UpdateOptions{})); err != nil {
		t.Fatal(err)
	}
	binding.Subjects = []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "jane"}}
	if err := second(kube.RbacV1().RoleBindings("root").Update(ctx, binding, metav1.UpdateOptions{})); err != nil {
		t.Fatal(err)
	}
	copied(t, "other", "list", "pods")
	eventually(t, "an event about what is overwritten", func(ctx context.Context) error {
		events, err := kube.CoreV1().Events("other").List(ctx, metav1.ListOptions{FieldSelector: "reason=ObjectOverwritten"})
		if err == nil && len(events.Items) == 0 {
			err = errors.New("none")
		}
		return err
	})
	for _, delete := range []error{
		kube.RbacV1().RoleBindings("root").Delete(ctx, "binding", metav1.DeleteOptions{}),
		kube.RbacV1().Roles("root").Delete(ctx, "role", metav1.DeleteOptions{}),
	} {
		if delete != nil {
			t.Fatal(delete)
		}
	}
	eventually(t, "copies go with their source", func(ctx context.Context) error {
		for _, err := range []error{
			second(kube.RbacV1().Roles("other").Get(ctx, "role", metav1.GetOptions{})),
			second(kube.RbacV1().RoleBindings("other").Get(ctx, "binding", metav1.GetOptions{})),
		} {
			if !apierrors.IsNotFound(err) {
				return fmt.Errorf("still there: %w", err)
			}
		}
		return nil
	})
	if err := objects.Resource(ours("subnamespaces")).Namespace("root").Delete(ctx, "sub", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the sub-namespace goes", func(ctx context.Context) error {
		err := second(kube.CoreV1().Namespaces().Get(ctx, "sub", metav1.GetOptions{}))
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("still there: %w", err)
	})
}

// copied waits until the copy of the Role allows a verb.
func copied(t *testing.T, namespace, verb, resource string) {
	t.Helper()
	eventually(t, "the Role in "+namespace, func(ctx context.Context) error {
		role, err := kube.RbacV1().Roles(namespace).Get(ctx, "role", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if role.Rules[0].Verbs[0] != verb || role.Rules[0].Resources[0] != resource {
			rules, err := json.Marshal(role.Rules)
			return errors.Join(err, errors.New(string(rules)))
		}
		return nil
	})
}

func second(_ any, err error) error { return err }
