package main

import (
	"bytes"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	propagatortree "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

// rolebindings are the objects of a simulation.
type rolebindings struct {
	objects *copies.Index
	// copies is how many there are.
	copies int
	next   func() string
}

func newRoleBindings(next func() string) rolebindings {
	return rolebindings{objects: copies.NewIndex(copies.Kinds[1]), next: next}
}

// What the API server says of every RoleBinding besides what it contains.
const served = `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"namespace":%q,"uid":"%08x-0000-4000-8000-%012x",` +
	`"resourceVersion":%q,"creationTimestamp":"2030-01-01T00:00:00Z","managedFields":[{"manager":"hnc-propagator","operation":"Update",` +
	`"apiVersion":"rbac.authorization.k8s.io/v1","time":"2030-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{".":{},` +
	`"f:app.kubernetes.io/managed-by":{},"f:hnc.x-k8s.io/inherited-from":{}}},"f:roleRef":{},"f:subjects":{}}}],`

// record makes what the index keeps of what the API server says.
func (r *rolebindings) record(namespace string, metadataAndRest []byte) (*copies.Object, error) {
	version := r.next()
	text := append(fmt.Appendf(nil, served, namespace, len(namespace), len(version), version), metadataAndRest...)
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(text); err != nil {
		return nil, err
	}
	u.SetUID(types.UID(namespace + "/" + u.GetName()))
	return copies.NewObject(u, &copies.Rules{})
}

// source makes a source.
func (r *rolebindings) source(namespace string, i int, value string) (*copies.Object, error) {
	return r.record(namespace, fmt.Appendf(nil, `"name":"%s-source-%d"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"},`+
		`"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"Group","name":%q}]}`, namespace, i, value))
}

// copied makes a source's copy.
func (r *rolebindings) copied(source *copies.Object, namespace string) (*copies.Object, error) {
	return r.record(namespace, bytes.TrimPrefix(source.Copied(), []byte(`{"metadata":{`)))
}

// set enters an object.
func (r *rolebindings) set(o *copies.Object) {
	old, _ := r.objects.Set(o)
	if o.Copy && old == nil {
		r.copies++
	}
}

// wrote enters what a write does.
func (r *rolebindings) wrote(w copies.Write) {
	if w.Verb == copies.Delete {
		r.objects.Delete(w.Namespace, w.Name, w.Present.UID)
		r.copies--
		return
	}
	if w.Present == nil {
		r.copies++
	}
	r.objects.Wrote(w.Source, w.Namespace, copies.Written{UID: types.UID(w.Namespace + "/" + w.Name), ResourceVersion: r.next()}, true)
}

// patched returns what a merge patch makes of a map.
func patched(present map[string]string, patch map[string]*string) map[string]string {
	present = maps.Clone(present)
	if present == nil {
		present = map[string]string{}
	}
	for key, value := range patch {
		if value == nil {
			delete(present, key)
		} else {
			present[key] = *value
		}
	}
	return present
}

// namespaceOf returns the Namespace of which the tree keeps the record.
func namespaceOf(ns *propagatortree.Namespace) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: ns.Name, UID: ns.UID, ResourceVersion: ns.ResourceVersion, Labels: ns.Labels, Annotations: ns.Annotations,
	}}
}
