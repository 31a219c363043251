package copies

import (
	"encoding/json"
	"fmt"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/wire"
)

func copied() *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{
			Name: "developers", Namespace: "team", UID: "a3b0e7d2-3c2f-4a0c-9d3e-0a6b5c4d3e2f", ResourceVersion: "123456",
			Labels: map[string]string{hnc.LabelInheritedFrom: "root", hnc.LabelManagedBy: hnc.GroupName, "team": "a"},
			ManagedFields: []metav1.ManagedFieldsEntry{{
				Manager: "hns-propagator", Operation: "Update", APIVersion: rbacv1.SchemeGroupVersion.String(), FieldsType: "FieldsV1",
				FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{".":{},"f:hnc.x-k8s.io/inherited-from":{}}},"f:roleRef":{},"f:subjects":{}}`),
			}},
		},
		Subjects: []rbacv1.Subject{{Kind: "User", Name: "somebody", APIGroup: rbacv1.GroupName}},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "developer"},
	}
}

// BenchmarkRead measures what it costs to learn of one copy from what the API server sends.
func BenchmarkRead(b *testing.B) {
	t := &testing.T{}
	o := copied()
	kindOf(t, o)
	inJSON, err := json.Marshal(o)
	if err != nil {
		b.Fatal(err)
	}
	inProtobuf := encoded(t, o)
	info, _ := runtime.SerializerInfoForMediaType(decoder.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	b.Run("protobuf", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			w, err := runtime.Decode(info.Serializer, inProtobuf)
			if err != nil {
				b.Fatal(err)
			}
			NewWireObject(w.(*wire.Object), RoleBindings, &Rules{})
		}
	})
	b.Run("JSON", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			u, err := runtime.Decode(unstructured.UnstructuredJSONScheme, inJSON)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := NewObject(u.(*unstructured.Unstructured), &Rules{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkDecideRoleBindings decides the copies of 100 Roles and as many RoleBindings to them in a namespace five
// levels below, which has them already.
func BenchmarkDecideRoleBindings(b *testing.B) {
	ancestors := []string{"root", "a", "b", "c", "d"}
	for _, kind := range []string{"Role", "ClusterRole"} {
		b.Run(kind, func(b *testing.B) {
			roles, bindings := NewIndex(Roles), NewIndex(RoleBindings)
			bindings.Roles = roles
			for i := range 100 {
				meta := metav1.ObjectMeta{Namespace: "root", Name: fmt.Sprintf("object-%d", i), UID: "u", ResourceVersion: "1"}
				roles.Set(NewSource(&metav1.PartialObjectMetadata{ObjectMeta: meta}, Roles, &Rules{}))
				bindings.Set(NewRoleBinding(&rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: rbacv1.RoleRef{Kind: kind, Name: meta.Name}}, &Rules{}))
				for _, index := range []*Index{roles, bindings} {
					index.Wrote(index.Get("root", meta.Name), "leaf", Written{UID: "c", ResourceVersion: "2"}, true)
				}
			}
			d := Destination{Namespace: "leaf", Ancestors: ancestors}
			b.ReportAllocs()
			for b.Loop() {
				if !bindings.Right(d) {
					b.Fatal("something is to be done")
				}
			}
		})
	}
}
