package propagation

import (
	"encoding/json"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const mergePatch = types.MergePatchType

var resources = map[string]schema.GroupVersionResource{
	"namespaces":    {Version: "v1", Resource: "namespaces"},
	"secrets":       {Version: "v1", Resource: "secrets"},
	"roles":         {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"},
	"widgets":       {Group: "example.com", Version: "v1", Resource: "widgets"},
	"gadgets":       {Group: "example.com", Version: "v1", Resource: "gadgets"},
	"hierarchies":   {Group: hnc.GroupName, Version: "v1beta1", Resource: "hierarchies"},
	"subnamespaces": {Group: hnc.GroupName, Version: "v1beta1", Resource: "subnamespaces"},

	"hncconfigurations":         {Group: hnc.GroupName, Version: "v1beta1", Resource: "hncconfigurations"},
	"customresourcedefinitions": {Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
}

var kinds = map[string]string{
	"namespaces": "Namespace", "secrets": "Secret", "roles": "Role", "widgets": "Widget", "gadgets": "Gadget",
	"hierarchies": "Hierarchy", "subnamespaces": "Subnamespace", "hncconfigurations": "HNCConfiguration",
}

func lower(kind string) string { return strings.ToLower(kind) }

// object is a JSON object.
type object = map[string]any

// users change the cluster. They have all permissions.
type users struct{ *scope }

func (u *users) client(resource, namespace string) dynamic.ResourceInterface {
	if namespace == "" {
		return admin.Dynamic.Resource(resources[resource])
	}
	return admin.Dynamic.Resource(resources[resource]).Namespace(u.full(namespace))
}

// try creates an object, or merges it into the present one.
func (u *users) try(resource, namespace, name string, fields object) error {
	body := object{"apiVersion": resources[resource].GroupVersion().String(), "kind": kinds[resource]}
	for key, value := range fields {
		body[key] = value
	}
	metadata, _ := body["metadata"].(object)
	if metadata == nil {
		metadata = object{}
	}
	metadata["name"] = name
	body["metadata"] = metadata
	encoded, err := json.Marshal(body)
	if err != nil {
		return err
	}
	_, err = u.client(resource, namespace).Patch(u.t.Context(), name, mergePatch, encoded, metav1.PatchOptions{})
	if !apierrors.IsNotFound(err) {
		return err
	}
	created := &unstructured.Unstructured{}
	if err := created.UnmarshalJSON(encoded); err != nil {
		return err
	}
	_, err = u.client(resource, namespace).Create(u.t.Context(), created, metav1.CreateOptions{})
	return err
}

// apply does the same and fails the test if it is not possible.
func (u *users) apply(resource, namespace, name string, fields object) {
	u.t.Helper()
	again := func(err error) bool {
		return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsInvalid(err) && strings.Contains(err.Error(), "no such resource")
	}
	if err := retry.OnError(suite.Backoff, again, func() error { return u.try(resource, namespace, name, fields) }); err != nil {
		u.t.Fatalf("%s %q in %q: %v", resource, name, namespace, err)
	}
}

// remove deletes an object.
func (u *users) remove(resource, namespace, name string) {
	u.t.Helper()
	if err := u.client(resource, namespace).Delete(u.t.Context(), name, metav1.DeleteOptions{}); err != nil {
		u.t.Fatalf("%s %q in %q: %v", resource, name, namespace, err)
	}
}

// namespaces creates namespaces "name [parent]", of which parents come first.
func (u *users) namespaces(lines ...string) {
	u.t.Helper()
	for _, line := range lines {
		name, parent, _ := strings.Cut(line, " ")
		u.created = append(u.created, u.full(name))
		u.apply("namespaces", "", u.full(name), nil)
		if parent != "" {
			u.parent(name, parent)
		}
	}
}

// parent sets the parent of a namespace.
func (u *users) parent(namespace, parent string) {
	u.t.Helper()
	u.apply("hierarchies", namespace, hnc.Singleton, object{"spec": object{"parent": u.full(parent)}})
}

// propagate sets the propagation of the hierarchy of a namespace. Entries are those of configure.
func (u *users) propagate(namespace string, entries ...string) {
	u.t.Helper()
	u.apply("hierarchies", namespace, hnc.Singleton, object{"spec": object{"propagation": entriesOf(entries)}})
}

// configure sets the entries of the configuration, "resource.group mode [onConflict]".
func (u *users) configure(entries ...string) {
	u.t.Helper()
	u.reconfigured = true
	u.apply("hncconfigurations", "", hnc.ConfigurationName, object{"spec": object{"resources": entriesOf(entries)}})
}

func entriesOf(entries []string) []object {
	resources := []object{}
	for _, entry := range entries {
		words := strings.Fields(entry)
		resource, group, _ := strings.Cut(words[0], ".")
		r := object{"resource": resource, "group": group, "mode": words[1]}
		if len(words) > 2 {
			r["onConflict"] = words[2]
		}
		resources = append(resources, r)
	}
	return resources
}

// subnamespaces creates Subnamespaces in a namespace.
func (u *users) subnamespaces(parent string, names ...string) {
	u.t.Helper()
	for _, name := range names {
		u.created = append(u.created, u.full(name))
		u.apply("subnamespaces", parent, u.full(name), nil)
	}
}

// role creates or changes a Role.
func (u *users) role(namespace, name, verb string) {
	u.t.Helper()
	u.apply("roles", namespace, name, rules(verb))
}

func rules(verb string) object {
	return object{"rules": []object{{"apiGroups": []string{""}, "resources": []string{"pods"}, "verbs": []string{verb}}}}
}

// put creates or changes an object with a value. Annotations are "key=value".
func (u *users) put(resource, namespace, name, value string, annotations ...string) {
	u.t.Helper()
	set := map[string]string{}
	for _, a := range annotations {
		key, v, _ := strings.Cut(a, "=")
		set[key] = v
	}
	field := "data"
	if resource == "secrets" {
		field = "stringData"
	}
	u.apply(resource, namespace, name, object{"metadata": object{"annotations": set}, field: object{"value": value}})
}

// mark sets a label of an object, nil removes it.
func (u *users) mark(resource, namespace, name, key string, value any) {
	u.t.Helper()
	u.apply(resource, namespace, name, object{"metadata": object{"labels": object{key: value}}})
}

// annotate sets an annotation of an object, nil removes it.
func (u *users) annotate(resource, namespace, name, key string, value any) {
	u.t.Helper()
	u.apply(resource, namespace, name, object{"metadata": object{"annotations": object{key: value}}})
}

// finalizers sets the finalizers of an object.
func (u *users) finalizers(resource, namespace, name string, finalizers ...string) {
	u.t.Helper()
	u.apply(resource, namespace, name, object{"metadata": object{"finalizers": finalizers}})
}

// parallel calls f for 0 to n-1.
func parallel(n int, f func(i int)) {
	var running sync.WaitGroup
	slots := make(chan struct{}, 16)
	for i := range n {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			f(i)
		})
	}
	running.Wait()
}
