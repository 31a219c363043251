package main

import (
	"bytes"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	propagatortree "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/wire"
)

// rolebindings are the objects of a simulation.
type rolebindings struct {
	objects *copies.Index
	// copies is how many there are.
	copies int
	next   func() string
}

func newRoleBindings(next func() string) rolebindings {
	return rolebindings{objects: copies.NewIndex(copies.RoleBindings), next: next}
}

var (
	formats = wire.NewFormats(scheme.Scheme)
	encoder = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	// fields are as a server returns them of a copy.
	fields = metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{".":{},"f:app.kubernetes.io/managed-by":{},"f:hnc.x-k8s.io/inherited-from":{}}},"f:roleRef":{},"f:subjects":{}}`)
)

// records returns what the index keeps of objects, in their order, as it comes of a list that the API server sends: in
// protobuf.
func (r *rolebindings) records(objects []rbacv1.RoleBinding) ([]*copies.Object, error) {
	var sent bytes.Buffer
	list := &rbacv1.RoleBindingList{TypeMeta: metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "RoleBindingList"}, Items: objects}
	if err := encoder.Encode(list, &sent); err != nil {
		return nil, err
	}
	records := make([]*copies.Object, 0, len(objects))
	kind := copies.RoleBindings
	_, err := formats.ReadList(&sent, kind.GroupVersion().WithKind(kind.Kind), func(o *wire.Object) {
		records = append(records, copies.NewWireObject(o, kind, &copies.Rules{}))
	})
	return records, err
}

// binding returns an object as the API server has it, a copy if it is from somewhere.
func (r *rolebindings) binding(namespace, name, from, value string) rbacv1.RoleBinding {
	o := rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, UID: types.UID(namespace + "/" + name), ResourceVersion: r.next(),
			ManagedFields: []metav1.ManagedFieldsEntry{{
				Manager: "hns-propagator", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: rbacv1.SchemeGroupVersion.String(), FieldsType: "FieldsV1", FieldsV1: fields,
			}},
		},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: value}},
	}
	if from != "" {
		o.Labels = map[string]string{hnc.LabelInheritedFrom: from, hnc.LabelManagedBy: hnc.GroupName}
	}
	return o
}

// source makes a source.
func (r *rolebindings) source(namespace string, i int, value string) (*copies.Object, error) {
	records, err := r.records([]rbacv1.RoleBinding{r.binding(namespace, sourceName(namespace, i), "", value)})
	if err != nil {
		return nil, err
	}
	return records[0], nil
}

func sourceName(namespace string, i int) string { return fmt.Sprintf("%s-source-%d", namespace, i) }

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
