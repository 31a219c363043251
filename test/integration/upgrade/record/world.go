package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
)

// world is the cluster that is recorded. The first error of an act stops all later ones.
type world struct {
	ctx context.Context
	cp  *controlplane.ControlPlane
	err error
}

// root is the cluster's administrator; all other users have the rights that a state gives them.
const root = "root"

// resources are those that the states are made of.
var resources = map[string]schema.GroupVersionResource{
	"namespaces":          {Version: "v1", Resource: "namespaces"},
	"secrets":             {Version: "v1", Resource: "secrets"},
	"resourcequotas":      {Version: "v1", Resource: "resourcequotas"},
	"roles":               {Group: rbac, Version: "v1", Resource: "roles"},
	"rolebindings":        {Group: rbac, Version: "v1", Resource: "rolebindings"},
	"clusterroles":        {Group: rbac, Version: "v1", Resource: "clusterroles"},
	"clusterrolebindings": {Group: rbac, Version: "v1", Resource: "clusterrolebindings"},
	"networkpolicies":     {Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"},
	"hierarchies":         {Group: hnc, Version: "v1beta1", Resource: "hierarchies"},
	"subnamespaces":       {Group: hnc, Version: "v1beta1", Resource: "subnamespaces"},
	"hncconfigurations":   {Group: hnc, Version: "v1beta1", Resource: "hncconfigurations"},
}

const (
	rbac = "rbac.authorization.k8s.io"
	hnc  = "hnc.x-k8s.io"
)

func (w *world) make(s state) error {
	s.make(w)
	return w.err
}

func (w *world) client(user, resource, namespace string) dynamic.ResourceInterface {
	config := w.cp.RESTConfig()
	if user != root {
		if config, w.err = w.cp.User(user); w.err != nil {
			return nil
		}
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		w.err = err
		return nil
	}
	if namespace == "" {
		return client.Resource(resources[resource])
	}
	return client.Resource(resources[resource]).Namespace(namespace)
}

// try acts until the act is permitted: rights take effect a moment after they are given.
func (w *world) try(what string, act func() error) {
	if w.err != nil {
		return
	}
	var last error
	err := wait.PollUntilContextTimeout(w.ctx, 100*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		last = act()
		if apierrors.IsForbidden(last) || apierrors.IsConflict(last) || apierrors.IsNotFound(last) {
			return false, nil
		}
		return true, last
	})
	if err != nil {
		w.err = fmt.Errorf("%s: %w", what, errors.Join(err, last))
	}
}

// create creates objects that are given as YAML documents.
func (w *world) create(user, documents string) {
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(documents), 4096)
	for w.err == nil {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(&object.Object); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			w.err = err
			return
		}
		resource := strings.ToLower(object.GetKind()) + "s"
		if cut, ok := strings.CutSuffix(resource, "ys"); ok {
			resource = cut + "ies"
		}
		client := w.client(user, resource, object.GetNamespace())
		w.try(fmt.Sprintf("%s creates %s %s/%s", user, resource, object.GetNamespace(), object.GetName()), func() error {
			_, err := client.Create(w.ctx, object, metav1.CreateOptions{})
			return err
		})
	}
}

// patch applies a JSON merge patch.
func (w *world) patch(user, resource, namespace, name, patch string, subresources ...string) {
	client := w.client(user, resource, namespace)
	w.try(fmt.Sprintf("%s patches %s %s/%s", user, resource, namespace, name), func() error {
		_, err := client.Patch(w.ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...)
		return err
	})
}

func (w *world) delete(user, resource, namespace, name string) {
	client := w.client(user, resource, namespace)
	w.try(fmt.Sprintf("%s deletes %s %s/%s", user, resource, namespace, name), func() error {
		return client.Delete(w.ctx, name, metav1.DeleteOptions{})
	})
}

// await waits until an object is as wanted; wanted gets nil if there is none.
func (w *world) await(resource, namespace, name string, wanted func(*unstructured.Unstructured) bool) {
	client := w.client(root, resource, namespace)
	if w.err != nil {
		return
	}
	err := wait.PollUntilContextTimeout(w.ctx, 100*time.Millisecond, 3*time.Minute, true, func(ctx context.Context) (bool, error) {
		object, err := client.Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return wanted(nil), nil
		}
		return err == nil && wanted(object), err
	})
	if err != nil {
		w.err = fmt.Errorf("%s %s/%s: %w", resource, namespace, name, err)
	}
}

// uid returns the UID of a namespace.
func (w *world) uid(namespace string) string {
	client := w.client(root, "namespaces", "")
	if w.err != nil {
		return ""
	}
	object, err := client.Get(w.ctx, namespace, metav1.GetOptions{})
	if err != nil {
		w.err = err
		return ""
	}
	return string(object.GetUID())
}

// namespaces creates namespaces as the administrator.
func (w *world) namespaces(names ...string) {
	for _, name := range names {
		w.create(root, "{apiVersion: v1, kind: Namespace, metadata: {name: "+name+"}}")
	}
}

// bind gives a user a ClusterRole in a namespace.
func (w *world) bind(user, role, namespace string) {
	w.create(root, fmt.Sprintf(`
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {namespace: %s, name: %s-%s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %s}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: %s}]
`, namespace, user, role, role, user))
}

// subnamespace creates a Subnamespace.
func (w *world) subnamespace(user, parent, name string) {
	w.create(user, fmt.Sprintf("{apiVersion: hnc.x-k8s.io/v1beta1, kind: Subnamespace, metadata: {namespace: %s, name: %s}}", parent, name))
	w.await("hierarchies", name, "hierarchy", exists)
}

// hierarchy creates or changes a Hierarchy's spec, given as JSON.
func (w *world) hierarchy(user, namespace, spec string) {
	client := w.client(user, "hierarchies", namespace)
	w.try(fmt.Sprintf("%s changes the hierarchy of %s", user, namespace), func() error {
		_, err := client.Patch(w.ctx, "hierarchy", types.MergePatchType, []byte(`{"spec":`+spec+`}`), metav1.PatchOptions{})
		if !apierrors.IsNotFound(err) {
			return err
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON([]byte(`{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"Hierarchy","metadata":{"name":"hierarchy"},"spec":` + spec + `}`)); err != nil {
			return err
		}
		_, err = client.Create(w.ctx, object, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return apierrors.NewConflict(resources["hierarchies"].GroupResource(), "hierarchy", err)
		}
		return err
	})
}
