package migration

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"sort"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/pager"
	"sigs.k8s.io/yaml"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/privatefile"
)

// export is what HNC has in a cluster. As a file it is a list that kubectl can read, and the identities of the
// namespaces.
type export struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Items are HNC's definitions, objects, webhook configurations, and the APIService of its lists.
	Items      []*unstructured.Unstructured `json:"items"`
	Namespaces []namespace                  `json:"namespaces,omitempty"`
	// Replicas are those of HNC's Deployments.
	Replicas map[string]int64 `json:"replicas,omitempty"`
	// Rules are those that the configuration of hns-apiserver had before the migration.
	Rules *v1beta1.Rules `json:"rules,omitempty"`

	digest string
}

// namespace is what the migration must not change of a namespace, and what it needs to know about it.
type namespace struct {
	Name        string            `json:"name"`
	UID         types.UID         `json:"uid"`
	Terminating bool              `json:"terminating,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// read returns what HNC has in the cluster.
func (c *clients) read(ctx context.Context) (*export, error) {
	e := &export{APIVersion: "v1", Kind: "List"}
	for _, resource := range hncResources {
		definition, err := c.dynamic.Resource(hnc.CRDResource).Get(ctx, resource+"."+hncResource(resource).Group, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue // The variant of HNC without quotas.
		}
		if err != nil {
			return nil, err
		}
		definition = withoutServerFields(definition)
		unstructured.RemoveNestedField(definition.Object, "status")
		e.Items = append(e.Items, definition)
		objects, err := c.list(ctx, hncResource(resource))
		if err != nil {
			return nil, err
		}
		e.Items = append(e.Items, objects...)
	}
	err := c.eachNamespace(ctx, func(ns *metav1.ObjectMeta) {
		delete(ns.Annotations, corev1.LastAppliedConfigAnnotation)
		e.Namespaces = append(e.Namespaces, namespace{ns.Name, ns.UID, ns.DeletionTimestamp != nil, ns.Labels, ns.Annotations})
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// eachNamespace calls f for each namespace of the cluster.
func (c *clients) eachNamespace(ctx context.Context, f func(*metav1.ObjectMeta)) error {
	return eachObject(ctx, c.kube.CoreV1().Namespaces().List, func(ns *corev1.Namespace) { f(&ns.ObjectMeta) })
}

// eachObject calls f for each object of a list, which is read in pages. A list that expires meanwhile is an error.
func eachObject[L, T runtime.Object](ctx context.Context, list func(context.Context, metav1.ListOptions) (L, error), f func(T)) error {
	p := pager.New(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return list(ctx, o) })
	return p.EachListItem(ctx, metav1.ListOptions{}, func(o runtime.Object) error {
		f(o.(T))
		return nil
	})
}

// list returns all objects of a resource, by namespace and name.
func (c *clients) list(ctx context.Context, resource schema.GroupVersionResource) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	err := eachObject(ctx, c.dynamic.Resource(resource).List, func(o *unstructured.Unstructured) {
		unstructured.RemoveNestedField(o.Object, "metadata", "managedFields")
		unstructured.RemoveNestedField(o.Object, "status") // Users can write it, and make it what no file can hold.
		objects = append(objects, o)
	})
	sort.Slice(objects, func(i, j int) bool {
		return objects[i].GetNamespace()+"/"+objects[i].GetName() < objects[j].GetNamespace()+"/"+objects[j].GetName()
	})
	return objects, err
}

// writeExport writes the export, now that nothing changes it any more, and records its digest. Until the freeze, users
// may have set finalizers.
func (m *Migration) writeExport(ctx context.Context) error {
	e, err := m.read(ctx)
	if err != nil {
		return err
	}
	if err := checkFinalizers(e); err != nil {
		return err
	}
	e.Items = append(append(e.Items, m.state.backup.Webhooks...), m.state.backup.APIServices...)
	e.Replicas, e.Rules = m.state.backup.Replicas, m.state.backup.Rules
	content, err := yaml.Marshal(e)
	if err != nil {
		return err
	}
	e.digest = digestOf(content)
	// An interrupted step may have written it without recording it.
	if existing, err := os.ReadFile(m.File); err == nil && !slices.Contains([]string{e.digest, m.state.stored.Data[keyDigest]}, digestOf(existing)) {
		return fmt.Errorf("%s exists, and is not the export of this migration; choose another file by --export, or remove it", m.File)
	} else if err != nil && !os.IsNotExist(err) {
		return err
	}
	// Another process may have written its export there since.
	if err := m.state.hold(ctx); err != nil {
		return err
	}
	if err := writeFile(m.File, content); err != nil {
		return err
	}
	m.export = e
	return m.state.record(ctx, keyDigest, e.digest)
}

// exported returns the export, from the file if another process has written it. It must be that of this migration, if
// one is under way, and of this cluster.
func (m *Migration) exported(ctx context.Context) (*export, error) {
	if m.export != nil {
		return m.export, nil
	}
	content, err := os.ReadFile(m.File)
	if err != nil {
		return nil, fmt.Errorf("the export of this migration cannot be read; name its file by --export: %w", err)
	}
	e := &export{digest: digestOf(content)}
	if m.state != nil && m.state.stored.Data[keyDigest] != "" && e.digest != m.state.stored.Data[keyDigest] {
		return nil, fmt.Errorf("%s is not the export of this migration, whose digest is %s; name its file by --export", m.File, m.state.stored.Data[keyDigest])
	}
	if err := yaml.Unmarshal(content, e); err != nil {
		return nil, err
	}
	system, err := m.kube.CoreV1().Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(e.Namespaces, func(ns namespace) bool { return ns.Name == system.Name && ns.UID == system.UID }) {
		return nil, fmt.Errorf("%s is not an export of this cluster, whose namespace kube-system has the UID %s; name its file by --export", m.File, system.UID)
	}
	m.export = e
	return e, nil
}

// writeFile writes an export. The file is complete or missing, also after a crash. Other users cannot read it:
// annotations may contain anything.
func writeFile(path string, content []byte) error {
	if err := privatefile.Write(path, content); err != nil {
		return fmt.Errorf("the export cannot be written: %w; make room, or choose another file by --export", err)
	}
	return nil
}

func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// of returns the exported objects of a resource of HNC, by their kind.
func (e *export) of(kind string) []*unstructured.Unstructured {
	var found []*unstructured.Unstructured
	for _, object := range e.Items {
		if object.GetKind() == kind {
			found = append(found, object)
		}
	}
	return found
}
