package previous

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// world creates, with the plugin of the installed build, a tree with full namespaces, sub-namespaces, sources of
// several kinds and a quota.
func world(t *testing.T, c *cluster) {
	t.Helper()
	ctx := t.Context()
	for _, name := range []string{"acme", "web", "alone"} {
		if _, err := c.admin.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for resource, mode := range map[string]string{"configmaps": "Propagate", "secrets": "AllowPropagate"} {
		// The propagator has the permission for a kind when its role is aggregated.
		suite.Eventually(t, resource+" are configured", func() error {
			_, err := c.hns(t, c.build, "config", "set-resource", resource, "--mode="+mode)
			return err
		})
	}
	meta := func(name string, annotations map[string]string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: name, Annotations: annotations, Labels: map[string]string{"team": "platform"}}
	}
	_, err := c.admin.CoreV1().ConfigMaps("acme").Create(ctx, &corev1.ConfigMap{ObjectMeta: meta("settings", nil), Data: map[string]string{"a": "b"}}, metav1.CreateOptions{})
	if err == nil {
		_, err = c.admin.CoreV1().ConfigMaps("acme").Create(ctx, &corev1.ConfigMap{ObjectMeta: meta("excepted", map[string]string{hnc.AnnotationNone: "true"})}, metav1.CreateOptions{})
	}
	if err == nil {
		_, err = c.admin.CoreV1().Secrets("acme").Create(ctx, &corev1.Secret{ObjectMeta: meta("token", map[string]string{hnc.AnnotationAll: "true"}), StringData: map[string]string{"a": "b"}}, metav1.CreateOptions{})
	}
	if err == nil {
		_, err = c.admin.RbacV1().Roles("acme").Create(ctx, &rbacv1.Role{ObjectMeta: meta("reader", nil), Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}}}}, metav1.CreateOptions{})
	}
	if err == nil {
		_, err = c.admin.RbacV1().RoleBindings("acme").Create(ctx, &rbacv1.RoleBinding{ObjectMeta: meta("readers", nil),
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader"}, Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "readers"}}}, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	c.mustHNS(t, c.build, "set", "web", "--parent=acme")
	c.mustHNS(t, c.build, "set", "acme", "--allowCascadingDeletion")
	for _, name := range []string{"team-a", "team-b"} {
		c.mustHNS(t, c.build, "create", name, "-n", "acme")
		c.mustHNS(t, c.build, "create", name+"-dev", "-n", name)
	}
	quota := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "hnc.x-k8s.io/v1alpha2", "kind": "HierarchicalResourceQuota", "metadata": map[string]any{"name": "budget"},
		"spec": map[string]any{"hard": map[string]any{"configmaps": "50", "pods": "10"}},
	}}
	if _, err := c.admin.Dynamic.Resource(schema.GroupVersionResource{Group: hnc.GroupName, Version: "v1alpha2", Resource: "hierarchicalresourcequotas"}).
		Namespace("acme").Create(ctx, quota, metav1.CreateOptions{}); err == nil {
		c.quotas = true
	} else if !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	for _, name := range []string{"web", "team-a", "team-a-dev", "team-b", "team-b-dev"} {
		complete(t, c, name)
	}
}

// complete waits until a namespace has the copies and the limits of the tree.
func complete(t *testing.T, c *cluster, name string) {
	t.Helper()
	ctx := t.Context()
	suite.Eventually(t, "the copies in "+name+", with "+c.build.name, func() error {
		if _, err := c.admin.CoreV1().ConfigMaps(name).Get(ctx, "settings", metav1.GetOptions{}); err != nil {
			return err
		}
		if _, err := c.admin.CoreV1().Secrets(name).Get(ctx, "token", metav1.GetOptions{}); err != nil {
			return err
		}
		if _, err := c.admin.RbacV1().RoleBindings(name).Get(ctx, "readers", metav1.GetOptions{}); err != nil {
			return err
		}
		if !c.quotas {
			return nil
		}
		limits, err := c.admin.CoreV1().ResourceQuotas(name).List(ctx, metav1.ListOptions{LabelSelector: hnc.LabelQuota})
		if err == nil && len(limits.Items) == 0 {
			err = fmt.Errorf("no ResourceQuota in %s", name)
		}
		return err
	})
	if _, err := c.admin.CoreV1().ConfigMaps(name).Get(ctx, "excepted", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("%s: an exception is not respected: %v", name, err)
	}
}

// state is what must not change, by resource, namespace and name.
type state map[string]string

// resources are what an upgrade must keep: the hierarchies in both API versions, and what was written for them.
var resources = []schema.GroupVersionResource{
	{Group: hnc.GroupName, Version: "v1beta1", Resource: "hierarchies"},
	{Group: hnc.GroupName, Version: "v1beta1", Resource: "subnamespaces"},
	{Group: hnc.GroupName, Version: "v1alpha2", Resource: "hierarchyconfigurations"},
	{Group: hnc.GroupName, Version: "v1alpha2", Resource: "subnamespaceanchors"},
	{Group: hnc.GroupName, Version: "v1alpha2", Resource: "hierarchicalresourcequotas"},
	{Group: hnc.GroupName, Version: "v1alpha2", Resource: "hncconfigurations"},
	{Version: "v1", Resource: "namespaces"},
	{Version: "v1", Resource: "configmaps"},
	{Version: "v1", Resource: "secrets"},
	{Version: "v1", Resource: "resourcequotas"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"},
}

// snapshot reads the state, and the versions of the objects outside our API.
func snapshot(t *testing.T, c *cluster) (state, map[string]string) {
	t.Helper()
	found, versions := state{}, map[string]string{}
	for _, resource := range resources {
		list, err := c.admin.Dynamic.Resource(resource).List(t.Context(), metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			continue // The earlier build does not serve it.
		}
		if err != nil {
			t.Fatalf("%s: %v", resource, err)
		}
		for _, object := range list.Items {
			in := object.GetNamespace()
			if resource.Resource == "namespaces" {
				in = object.GetName()
			}
			if in == "default" || in == hnc.SystemNamespace || strings.HasPrefix(in, "kube-") {
				continue
			}
			key := strings.Join([]string{resource.Version + " " + resource.Resource, object.GetNamespace(), object.GetName()}, "/")
			if resource.Group != hnc.GroupName {
				versions[key] = object.GetResourceVersion()
			}
			// Who has written what, and what is computed, may change.
			for _, field := range [][]string{{"metadata", "managedFields"}, {"metadata", "resourceVersion"}, {"metadata", "generation"}, {"status"}} {
				unstructured.RemoveNestedField(object.Object, field...)
			}
			content, err := json.Marshal(object.Object)
			if err != nil {
				t.Fatal(err)
			}
			found[key] = string(content)
		}
	}
	return found, versions
}

// unchanged compares everything that was there before with what is there now.
func unchanged(t *testing.T, c *cluster, when string, before state) {
	t.Helper()
	after, _ := snapshot(t, c)
	for _, key := range slices.Sorted(maps.Keys(before)) {
		if after[key] != before[key] {
			t.Errorf("%s, %s is\n%s\nand was\n%s", when, key, after[key], before[key])
		}
	}
}

// rewritten returns the objects outside our API that were written.
func rewritten(t *testing.T, c *cluster, before map[string]string) []string {
	t.Helper()
	_, after := snapshot(t, c)
	var keys []string
	for key, version := range before {
		if after[key] != version {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

func labels(t *testing.T, c *cluster, name string) map[string]string {
	t.Helper()
	ns, err := c.admin.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return ns.Labels
}
