package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// counted is the resource that quotas limit: more of it than there ever is. It is not a number of copies, whose limits
// depend on the modes of their kind.
const counted = "count/jobs.batch"

var (
	resources = map[string]schema.GroupVersionResource{
		configMaps:   {Version: "v1", Resource: configMaps},
		roles:        {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: roles},
		roleBindings: {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: roleBindings},
	}
	quotas = v1beta1.SchemeGroupVersion.WithResource("hierarchicalresourcequotas")
	kinds  = map[schema.GroupVersionResource]string{
		resources[configMaps]: "ConfigMap", resources[roles]: "Role", resources[roleBindings]: "RoleBinding", quotas: "HierarchicalResourceQuota",
	}
)

// content returns the annotations and the content of an object. A RoleBinding refers to the Role of its own name.
func content(kind, name string, s source, prefix string) map[string]any {
	annotations := map[string]any{}
	switch s.exception {
	case hnc.AnnotationNone, hnc.AnnotationAll:
		annotations[s.exception] = "true"
	case hnc.AnnotationSelect:
		annotations[s.exception] = "env=" + s.argument
	case hnc.AnnotationTreeSelect:
		name, excluded := strings.CutPrefix(s.argument, "!")
		annotations[s.exception] = prefix + name
		if excluded {
			annotations[s.exception] = "!" + prefix + name
		}
	}
	if s.allows {
		annotations[hnc.AnnotationAllowOverride] = "true"
	}
	if s.overrides {
		annotations[hnc.AnnotationOverride] = "true"
	}
	object := map[string]any{"metadata": map[string]any{"annotations": annotations}}
	switch kind {
	case roles:
		object["rules"] = []any{map[string]any{"apiGroups": []any{""}, "resources": []any{s.value}, "verbs": []any{"get"}}}
	case roleBindings:
		object["roleRef"] = map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name}
		object["subjects"] = []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": s.value}}
	default:
		object["data"] = map[string]any{"value": s.value}
	}
	return object
}

// value returns what distinguishes versions of an object.
func value(u *unstructured.Unstructured) string {
	if rules, ok, _ := unstructured.NestedSlice(u.Object, "rules"); ok && len(rules) == 1 {
		names, _, _ := unstructured.NestedStringSlice(rules[0].(map[string]any), "resources")
		return strings.Join(names, ",")
	}
	if subjects, ok, _ := unstructured.NestedSlice(u.Object, "subjects"); ok && len(subjects) == 1 {
		name, _, _ := unstructured.NestedString(subjects[0].(map[string]any), "name")
		return name
	}
	v, _, _ := unstructured.NestedString(u.Object, "data", "value")
	return v
}

// applyObject applies an object on the server.
func (c *client) applyObject(ctx context.Context, resource schema.GroupVersionResource, namespace, name string, object map[string]any) error {
	u := &unstructured.Unstructured{Object: object}
	u.SetAPIVersion(resource.GroupVersion().String())
	u.SetKind(kinds[resource])
	u.SetNamespace(namespace)
	u.SetName(name)
	return c.try(ctx, "applying "+name, func() error {
		_, err := c.Dynamic.Resource(resource).Namespace(namespace).Apply(ctx, name, u, metav1.ApplyOptions{FieldManager: "model", Force: true})
		return err
	}, nil)
}

func (c *client) remove(ctx context.Context, resource schema.GroupVersionResource, namespace, name string) error {
	objects := c.Dynamic.Resource(resource).Namespace(namespace)
	return c.try(ctx, "deleting "+name, func() error { return objects.Delete(ctx, name, metav1.DeleteOptions{}) }, apierrors.IsNotFound)
}

// hierarchy sets a field of a hierarchy, as a field manager of its own.
func (c *client) hierarchy(ctx context.Context, o operation, field string, value any) error {
	body, err := json.Marshal(map[string]any{
		"apiVersion": v1beta1.SchemeGroupVersion.String(), "kind": "Hierarchy",
		"metadata": map[string]any{"name": hnc.Singleton}, "spec": map[string]any{field: value},
	})
	if err != nil {
		return err
	}
	force := true
	return c.try(ctx, o.String(), func() error {
		_, err := c.HNC.HncV1beta1().Hierarchies(c.full(o.space)).
			Patch(ctx, hnc.Singleton, types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: "model-" + strings.ToLower(field), Force: &force})
		return err
	}, nil)
}

func (c *client) configure(ctx context.Context, kind string, m mode) error {
	entry := map[string]any{"resource": kind, "mode": m.name}
	if m.keep {
		entry["onConflict"] = "Keep"
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"resources": []any{entry}}})
	if err != nil {
		return err
	}
	return c.try(ctx, "configuring", func() error {
		_, err := c.HNC.HncV1beta1().HNCConfigurations().Patch(ctx, hnc.ConfigurationName, types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	}, nil)
}

// exists reports whether there is a namespace.
func (c *client) exists(ctx context.Context, name string) bool {
	ns, err := c.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
	return err == nil && ns.DeletionTimestamp == nil
}

// requested reports whether there is a Subnamespace that is not being deleted.
func (c *client) requested(ctx context.Context, parent, name string) (exists bool) {
	_ = c.try(ctx, "reading", func() error {
		s, err := c.HNC.HncV1beta1().Subnamespaces(parent).Get(ctx, name, metav1.GetOptions{})
		exists = err == nil && s.DeletionTimestamp == nil
		return err
	}, nil)
	return exists
}

// deleteNamespace deletes a namespace when the labels by which kube-apiserver protects it have followed the tree.
func (c *client) deleteNamespace(ctx context.Context, w *world, o operation) error {
	name := c.full(o.space)
	if w.hasSubs(o.space) && !w.cascades(o.space) {
		if err := poll(ctx, func() error {
			ns, err := c.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
			if err == nil && (ns.Labels[hnc.LabelHasSubnamespaces] == "" || ns.Labels[hnc.LabelCascadingDeletion] != "") {
				err = fmt.Errorf("%s has the labels %v", name, ns.Labels)
			}
			return err
		}); err != nil {
			return err
		}
	}
	return c.try(ctx, o.String(), func() error { return c.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{}) },
		func(error) bool { return !c.exists(ctx, name) })
}

// gone returns when namespaces are.
func (c *client) gone(ctx context.Context, names ...string) error {
	return pollFor(ctx, deletionPatience, func() error { return c.still(ctx, names...) })
}

// still returns an error if one of the namespaces is there.
func (c *client) still(ctx context.Context, names ...string) error {
	for _, name := range names {
		_, err := c.CoreV1().Namespaces().Get(ctx, c.full(name), metav1.GetOptions{})
		if err == nil {
			return fmt.Errorf("namespace %s is still there", name)
		}
		if !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// poll repeats check until it returns no error, or returns its last one.
func poll(ctx context.Context, check func() error) error { return pollFor(ctx, patience, check) }

func pollFor(ctx context.Context, limit time.Duration, check func() error) error {
	end := time.Now().Add(limit)
	for pause := interval; ; pause = min(pause*3/2, 10*interval) {
		err := check()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil || time.Now().After(end) {
			return errors.Join(ctx.Err(), err)
		}
		time.Sleep(pause)
	}
}
