package migrate

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// member is a namespace as HNC would have left it.
type member struct {
	name, parent string
	// sub is the value of its annotation; anchored reports that there is an anchor for it.
	sub      string
	anchored bool
	// frozen namespaces have no limits, and no tree labels above the namespace at which HNC has halted them.
	frozen bool
	// copies are in it, of objects of the root.
	copies bool
}

const root = "acme"

// halted are the namespaces at which HNC has halted activities.
var halted = map[string]bool{"orphan": true, "cycle-a": true, "cycle-b": true}

// forest returns a tree of so many namespaces, alternately full ones and sub-namespaces, and the special cases.
func forest(size int) []member {
	members := []member{{name: root}}
	for i := 1; i < size; i++ {
		m := member{name: fmt.Sprintf("team-%03d", i), parent: root, copies: true}
		if i > 4 {
			m.parent = fmt.Sprintf("team-%03d", (i-1)/4)
		}
		if i%2 == 0 {
			m.sub, m.anchored = m.parent, true
		}
		members = append(members, m)
	}
	return append(members,
		member{name: "lonely", parent: root, sub: root, copies: true},
		member{name: "orphan", parent: "vanished", frozen: true, copies: true},
		member{name: "below-orphan", parent: "orphan", frozen: true, copies: true},
		member{name: "cycle-a", parent: "cycle-b", frozen: true, copies: true},
		member{name: "cycle-b", parent: "cycle-a", frozen: true},
		member{name: "alone"},
	)
}

// buildForest creates the namespaces and all objects of HNC.
func buildForest(t *testing.T, members []member) {
	t.Helper()
	parents := map[string]string{}
	anchors := map[string][]string{}
	for _, m := range members {
		parents[m.name] = m.parent
		if m.anchored {
			anchors[m.parent] = append(anchors[m.parent], m.name)
		}
	}
	objects, err := manifests("testdata/hnc.yaml", func(kind string) bool {
		return kind == "Deployment" || kind == "Service" || kind == "ClusterRole" || kind == "ClusterRoleBinding"
	})
	if err == nil {
		err = cp.Apply(t.Context(), objects)
	}
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	errs := make([]error, len(members))
	limit := make(chan struct{}, 16)
	for i, m := range members {
		group.Go(func() {
			limit <- struct{}{}
			errs[i] = build(t, m, parents, anchors[m.name])
			<-limit
		})
	}
	group.Wait()
	create := func(object map[string]any, resource, namespace string) {
		u := &unstructured.Unstructured{Object: object}
		_, err := admin.Dynamic.Resource(schema.GroupVersionResource{Group: hnc.GroupName, Version: "v1alpha2", Resource: resource}).Namespace(namespace).
			Create(t.Context(), u, metav1.CreateOptions{})
		errs = append(errs, err)
	}
	create(hncObject("HNCConfiguration", "", "config", map[string]any{"resources": []any{
		map[string]any{"resource": "configmaps", "mode": "Propagate"},
		map[string]any{"resource": "secrets", "mode": "AllowPropagate"},
		map[string]any{"resource": "resourcequotas", "mode": "Ignore"},
		map[string]any{"group": "networking.k8s.io", "resource": "networkpolicies", "mode": "Propagate"},
		map[string]any{"resource": "serviceaccounts", "mode": "AllowPropagate"},
		map[string]any{"resource": "persistentvolumeclaims", "mode": "AllowPropagate"},
		map[string]any{"resource": "services", "mode": "Remove"},
		map[string]any{"resource": "podtemplates", "mode": "Ignore"},
		map[string]any{"group": "example.com", "resource": "widgets", "mode": "Propagate"},
	}}), "hncconfigurations", "")
	// HNC does not set its finalizers on quotas; users may.
	create(hncObject("HierarchicalResourceQuota", root, "budget", map[string]any{"hard": map[string]any{"configmaps": "5000", "pods": int64(100)}}, "hnc.x-k8s.io"), "hierarchicalresourcequotas", root)
	// Anchors that claim what is not theirs: one whose namespace is elsewhere, and one whose namespace is missing.
	create(hncObject("SubnamespaceAnchor", root, "alone", nil), "subnamespaceanchors", root)
	create(hncObject("SubnamespaceAnchor", root, "vanished", nil), "subnamespaceanchors", root)
	_, err = admin.CoreV1().Namespaces().Patch(t.Context(), "default", types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"hnc.x-k8s.io/included-namespace":"true","default.tree.hnc.x-k8s.io/depth":"0"}}}`), metav1.PatchOptions{})
	if err := errors.Join(append(errs, err)...); err != nil {
		t.Fatal(err)
	}
}

// installWebhooks installs HNC's webhooks. From then on they reject writes, because there is no server.
func installWebhooks(t *testing.T) {
	t.Helper()
	objects, err := manifests("testdata/hnc.yaml", func(kind string) bool {
		return kind == "ValidatingWebhookConfiguration" || kind == "MutatingWebhookConfiguration"
	})
	if err == nil {
		err = cp.Apply(t.Context(), objects)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func hncObject(kind, namespace, name string, spec map[string]any, finalizers ...string) map[string]any {
	metadata := map[string]any{"name": name}
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	for _, f := range finalizers {
		list, _ := metadata["finalizers"].([]any)
		metadata["finalizers"] = append(list, f)
	}
	object := map[string]any{"apiVersion": "hnc.x-k8s.io/v1alpha2", "kind": kind, "metadata": metadata}
	if spec != nil {
		object["spec"] = spec
	}
	return object
}

// build creates a namespace with its objects.
func build(t *testing.T, m member, parents map[string]string, anchors []string) error {
	ctx := t.Context()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: m.name, Labels: map[string]string{hnc.LabelIncludedNamespace: "true"}}}
	for at, depth := m.name, 0; at != ""; at, depth = parents[at], depth+1 {
		ns.Labels[hnc.TreeLabel(at)] = strconv.Itoa(depth)
		if at == root {
			ns.Labels["example.com/cost-center"] = "7"
		}
		if halted[at] {
			break
		}
	}
	if m.name == root {
		ns.Labels["pod-security.kubernetes.io/enforce"] = "baseline"
	}
	if m.sub != "" {
		ns.Annotations = map[string]string{hnc.AnnotationSubnamespaceOf: m.sub}
	}
	if _, err := admin.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil {
		return err
	}
	dynamic := func(resource string) schema.GroupVersionResource {
		return schema.GroupVersionResource{Group: hnc.GroupName, Version: "v1alpha2", Resource: resource}
	}
	spec := map[string]any{}
	if m.parent != "" {
		spec["parent"] = m.parent
	}
	if m.name == root {
		spec["labels"] = []any{map[string]any{"key": "example.com/cost-center", "value": "7"}, map[string]any{"key": "example.com/never-applied", "value": "x"}}
	}
	var finalizers []string
	if len(anchors) > 0 {
		finalizers = []string{"hnc.x-k8s.io/hasSubnamespace"}
	}
	if m.parent != "" || m.name == root {
		object := &unstructured.Unstructured{Object: hncObject("HierarchyConfiguration", m.name, "hierarchy", spec, finalizers...)}
		if _, err := admin.Dynamic.Resource(dynamic("hierarchyconfigurations")).Namespace(m.name).Create(ctx, object, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	for _, anchor := range anchors {
		object := &unstructured.Unstructured{Object: hncObject("SubnamespaceAnchor", m.name, anchor, nil, "hnc.x-k8s.io")}
		object.Object["status"] = map[string]any{"status": "Ok"}
		if _, err := admin.Dynamic.Resource(dynamic("subnamespaceanchors")).Namespace(m.name).Create(ctx, object, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	if m.name != root && !m.copies {
		return nil
	}
	return errors.Join(createPolicy(t, m))
}

// createPolicy creates the sources in the root, or copies of them as HNC writes them.
func createPolicy(t *testing.T, m member) error {
	ctx := t.Context()
	meta := func(name string) metav1.ObjectMeta {
		o := metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": "platform"}}
		if m.name != root {
			o.Labels[hnc.LabelInheritedFrom], o.Labels[hnc.LabelManagedBy] = root, hnc.GroupName
		}
		return o
	}
	if _, err := admin.CoreV1().ConfigMaps(m.name).Create(ctx, &corev1.ConfigMap{ObjectMeta: meta("settings"), Data: map[string]string{"a": "b"}}, metav1.CreateOptions{}); err != nil {
		return err
	}
	applied := &corev1.ConfigMap{ObjectMeta: meta("applied")}
	delete(applied.Labels, "team")
	applied.Annotations = map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "{}"}
	if _, err := admin.CoreV1().ConfigMaps(m.name).Create(ctx, applied, metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := createExceptions(t, m, meta); err != nil {
		return err
	}
	role := &rbacv1.Role{ObjectMeta: meta("reader"), Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}}}}
	if _, err := admin.RbacV1().Roles(m.name).Create(ctx, role, metav1.CreateOptions{}); err != nil {
		return err
	}
	binding := &rbacv1.RoleBinding{ObjectMeta: meta("readers"), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "readers"}}}
	if _, err := admin.RbacV1().RoleBindings(m.name).Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return err
	}
	if m.frozen {
		return nil
	}
	limits := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "hrq.hnc.x-k8s.io", Labels: map[string]string{"hnc.x-k8s.io/hrq": "true"}, Annotations: map[string]string{hnc.AnnotationNone: "true"}},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourceConfigMaps: resource.MustParse("5000"), corev1.ResourcePods: resource.MustParse("100")}},
	}
	_, err := admin.CoreV1().ResourceQuotas(m.name).Create(ctx, limits, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
