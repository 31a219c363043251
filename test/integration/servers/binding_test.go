package servers

import (
	"encoding/json"
	"fmt"
	"path"
	"testing"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// The owner reference to the namespace is what binds a Hierarchy or a Subnamespace. Without it, or with another one,
// the garbage collector deletes the object or the propagator ignores it: the namespace leaves its tree and nobody was
// asked.
func TestOwnerReferencesDoNotUnbind(t *testing.T) {
	const parent, child, holder, sub, other = "bound-parent", "bound-child", "bound-holder", "bound-sub", "bound-other"
	startPropagator(t)
	createNamespaces(t, parent, child, holder, other)
	if err := admin.apply(t, hierarchies, child, parent); err != nil {
		t.Fatal(err)
	}
	createSubnamespaces(t, holder, sub)
	waitForLabel(t, child, hnc.TreeLabel(parent))
	tenant := newAccount(t, "bound-tenant")
	tenant.grant(t, fullAdmin, child, holder)
	elsewhere, err := admin.CoreV1().Namespaces().Get(t.Context(), other, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}

	foreign := map[string][]metav1.OwnerReference{
		"none":                       {},
		"one that does not exist":    {{APIVersion: "v1", Kind: "Namespace", Name: "bound-nowhere", UID: "none"}},
		"another namespace":          {{APIVersion: "v1", Kind: "Namespace", Name: other, UID: elsewhere.UID}},
		"an earlier one of the name": {{APIVersion: "v1", Kind: "Namespace", Name: child, UID: "earlier"}},
	}
	for _, at := range []struct {
		names           []name
		namespace, name string
	}{{bothHierarchies, child, hnc.Singleton}, {bothSubnamespaces, holder, sub}} {
		namespace, err := admin.CoreV1().Namespaces().Get(t.Context(), at.namespace, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		own := metav1.OwnerReference{APIVersion: "v1", Kind: "Namespace", Name: namespace.Name, UID: namespace.UID}
		for _, n := range at.names {
			client := tenant.dynamic.Resource(n.GroupVersionResource).Namespace(at.namespace)
			for what, refs := range foreign {
				for verb, write := range ownerWrites {
					stored, err := write(t, client, n.object(at.namespace, at.name, nil), refs)
					if err != nil {
						t.Errorf("%s of %s with %s: %v", verb, n.Resource, what, err)
						continue
					}
					if got := stored.GetOwnerReferences(); !apiequality.Semantic.DeepEqual(got, []metav1.OwnerReference{own}) {
						t.Errorf("%s of %s with %s: owned by %v", verb, n.Resource, what, got)
					}
				}
			}
		}
	}
	// The garbage collector takes away an owner that does not exist, and leaves the object.
	client := tenant.dynamic.Resource(hierarchies.GroupVersionResource).Namespace(child)
	absent := []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "absent", UID: "absent"}}
	bound, err := ownerWrites["patch"](t, client, hierarchies.object(child, hnc.Singleton, nil), absent)
	if err != nil || len(bound.GetOwnerReferences()) != 2 {
		t.Fatalf("an owner of another kind: %v, %v", bound, err)
	}
	eventually(t, "the garbage collector has looked at it", func() error {
		h, err := client.Get(t.Context(), hnc.Singleton, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if h.GetUID() != bound.GetUID() {
			t.Fatalf("it was deleted")
		}
		if len(h.GetOwnerReferences()) != 1 {
			return fmt.Errorf("owned by %v", h.GetOwnerReferences())
		}
		return nil
	})
	if got := admin.parentOf(t, child); got != parent {
		t.Errorf("the parent is %q", got)
	}
	waitForLabel(t, child, hnc.TreeLabel(parent))
}

// ownerWrites are the ways to write owner references.
var ownerWrites = map[string]func(*testing.T, dynamic.ResourceInterface, *unstructured.Unstructured, []metav1.OwnerReference) (*unstructured.Unstructured, error){
	"patch": func(t *testing.T, client dynamic.ResourceInterface, object *unstructured.Unstructured, refs []metav1.OwnerReference) (*unstructured.Unstructured, error) {
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"ownerReferences": refs}})
		if err != nil {
			return nil, err
		}
		return client.Patch(t.Context(), object.GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
	},
	"update": func(t *testing.T, client dynamic.ResourceInterface, object *unstructured.Unstructured, refs []metav1.OwnerReference) (*unstructured.Unstructured, error) {
		var updated *unstructured.Unstructured
		// The propagator may write the status in between.
		err := retry.RetryOnConflict(suite.Backoff, func() error {
			stored, err := client.Get(t.Context(), object.GetName(), metav1.GetOptions{})
			if err != nil {
				return err
			}
			stored.SetOwnerReferences(refs)
			updated, err = client.Update(t.Context(), stored, metav1.UpdateOptions{})
			return err
		})
		return updated, err
	},
	"apply": func(t *testing.T, client dynamic.ResourceInterface, object *unstructured.Unstructured, refs []metav1.OwnerReference) (*unstructured.Unstructured, error) {
		object = object.DeepCopy()
		unstructured.RemoveNestedField(object.Object, "spec")
		object.SetOwnerReferences(refs)
		return client.Apply(t.Context(), object.GetName(), object, metav1.ApplyOptions{FieldManager: "tenant", Force: true})
	},
}

// What earlier versions have stored is bound again, and not ignored until then.
func TestStoredForeignOwnersAreHealed(t *testing.T) {
	const parent, child, holder, sub, other = "healed-parent", "healed-child", "healed-holder", "healed-sub", "healed-other"
	startPropagator(t)
	createNamespaces(t, parent, child, holder)
	elsewhere := createNamespace(t, other)
	if err := admin.apply(t, hierarchies, child, parent); err != nil {
		t.Fatal(err)
	}
	createSubnamespaces(t, holder, sub)
	waitForLabel(t, child, hnc.TreeLabel(parent))
	etcd := etcdClient(t)
	for key, client := range map[string]dynamic.ResourceInterface{
		path.Join("hierarchies", child, hnc.Singleton): admin.dynamic.Resource(hierarchies.GroupVersionResource).Namespace(child),
		path.Join("subnamespaces", holder, sub):        admin.dynamic.Resource(subnamespaces.GroupVersionResource).Namespace(holder),
	} {
		key = path.Join(controlplane.EtcdPrefix, hnc.GroupName, key)
		read, err := etcd.Get(t.Context(), key)
		if err != nil || read.Count != 1 {
			t.Fatalf("%s: %v, %v", key, read, err)
		}
		var object unstructured.Unstructured
		if err := json.Unmarshal(read.Kvs[0].Value, &object); err != nil {
			t.Fatal(err)
		}
		own := object.GetOwnerReferences()
		object.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Namespace", Name: other, UID: elsewhere.UID}})
		value, err := json.Marshal(&object)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := etcd.Put(t.Context(), key, string(value)); err != nil {
			t.Fatal(err)
		}
		eventually(t, key+" is bound again", func() error {
			healed, err := client.Get(t.Context(), path.Base(key), metav1.GetOptions{})
			if err == nil && !apiequality.Semantic.DeepEqual(healed.GetOwnerReferences(), own) {
				err = fmt.Errorf("owned by %v", healed.GetOwnerReferences())
			}
			return err
		})
	}
	for child, parent := range map[string]string{child: parent, sub: holder} {
		namespace, err := admin.CoreV1().Namespaces().Get(t.Context(), child, metav1.GetOptions{})
		if err != nil || namespace.DeletionTimestamp != nil || namespace.Labels[hnc.TreeLabel(parent)] != "1" {
			t.Errorf("namespace %s is %v, %v", child, namespace, err)
		}
	}
	deleteNamespaces(t, other)
	if got := admin.parentOf(t, child); got != parent {
		t.Errorf("the parent of %s is %q", child, got)
	}
}
