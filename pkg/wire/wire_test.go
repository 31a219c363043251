package wire_test

import (
	"bytes"
	"fmt"
	"testing"
	"testing/iotest"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/wire"
)

var formats = wire.NewFormats(scheme.Scheme)

func decode(data []byte) (runtime.Object, error) {
	s := formats.NegotiatedSerializer(scheme.Codecs)
	info, _ := runtime.SerializerInfoForMediaType(s.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	return runtime.Decode(s.DecoderToVersion(info.Serializer, nil), data)
}

func encode(t *testing.T, object runtime.Object) []byte {
	t.Helper()
	kinds, _, err := scheme.Scheme.ObjectKinds(object)
	if err != nil {
		t.Fatal(err)
	}
	object.GetObjectKind().SetGroupVersionKind(kinds[0])
	var b bytes.Buffer
	if err := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(object, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func service() *corev1.Service {
	deleted := metav1.NewTime(time.Unix(1234, 0))
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Name: "s", Namespace: "n", UID: "u", ResourceVersion: "5", DeletionTimestamp: &deleted, Finalizers: []string{"a/b", "c"},
			OwnerReferences: []metav1.OwnerReference{{UID: "o"}, {UID: "p"}},
			Labels:          map[string]string{"l": "1", "": ""}, Annotations: map[string]string{"a": "2"}, Generation: 3,
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "somebody", FieldsV1: metav1.NewFieldsV1("{}")}},
		},
		Spec:   corev1.ServiceSpec{ClusterIP: "10.0.0.1"},
		Status: corev1.ServiceStatus{LoadBalancer: corev1.LoadBalancerStatus{Ingress: []corev1.LoadBalancerIngress{{IP: "10.0.0.2"}}}},
	}
}

func TestAnObjectHasItsMetadataAndTheRestButItsStatus(t *testing.T) {
	s := service()
	o, err := decode(encode(t, s))
	if err != nil {
		t.Fatal(err)
	}
	got := o.(*wire.Object)
	want := *s.ObjectMeta.DeepCopy()
	want.ManagedFields, want.Generation = nil, 0
	if !metav1Equal(got.ObjectMeta, want) {
		t.Errorf("metadata %+v, want %+v", got.ObjectMeta, want)
	}
	spec, err := s.Spec.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if rest := protowire.AppendBytes([]byte{2<<3 | 2}, spec); !bytes.Equal(got.Rest, rest) {
		t.Errorf("the rest is %q, want %q", got.Rest, rest)
	}
}

func metav1Equal(a, b metav1.ObjectMeta) bool {
	x, _ := a.Marshal()
	y, _ := b.Marshal()
	return bytes.Equal(x, y)
}

func TestUnknownFieldsAreKept(t *testing.T) {
	data := encode(t, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "r"}})
	// An envelope's message may come in its own field again: the last one counts.
	unknown := []byte{0xa2, 0x06, 3, 'n', 'e', 'w', 0xa8, 0x06, 7}
	role := rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "r"}}
	message, err := role.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	data = protowire.AppendBytes(append(data, 2<<3|2), append(message, unknown...))
	o, err := decode(data)
	if err != nil {
		t.Fatal(err)
	}
	got := o.(*wire.Object)
	if got.Name != "r" || !bytes.HasSuffix(got.Rest, unknown) {
		t.Errorf("%q, the rest %q", got.Name, got.Rest)
	}
	body := got.Format.Body(wire.Metadata("r", nil, nil), got.Rest, "", "")
	if !bytes.HasSuffix(body, unknown) {
		t.Errorf("body %q", body)
	}
}

var serviceKind = corev1.SchemeGroupVersion.WithKind("Service")

func TestAListIsReadItemByItem(t *testing.T) {
	items := make([]corev1.Service, 300)
	for i := range items {
		items[i] = *service()
		items[i].Name = fmt.Sprint(i)
	}
	data := encode(t, &corev1.ServiceList{ListMeta: metav1.ListMeta{ResourceVersion: "9", Continue: "more"}, Items: items})
	var got []*wire.Object
	meta, err := formats.ReadList(iotest.OneByteReader(bytes.NewReader(data)), serviceKind, func(o *wire.Object) { got = append(got, o) })
	if err != nil {
		t.Fatal(err)
	}
	if meta.ResourceVersion != "9" || meta.Continue != "more" || len(got) != len(items) {
		t.Errorf("%d items of %+v", len(got), meta)
	}
	for i, o := range got {
		if o.Name != fmt.Sprint(i) || !bytes.Equal(o.Rest, got[0].Rest) {
			t.Errorf("item %d: %+v", i, o)
		}
	}
	if _, err := formats.ReadList(bytes.NewReader(data), corev1.SchemeGroupVersion.WithKind("Secret"), func(*wire.Object) {}); err == nil {
		t.Error("Services were read as Secrets")
	}
}

func TestStatusesAreDecoded(t *testing.T) {
	refused := apierrors.NewConflict(schema.GroupResource{Resource: "roles"}, "r", nil).Status()
	status, err := decode(encode(t, &refused))
	if err != nil {
		t.Fatal(err)
	}
	if !apierrors.IsConflict(apierrors.FromObject(status)) {
		t.Errorf("status %+v", status)
	}
}

func TestOnlyKindsWithAFormatAreRead(t *testing.T) {
	for kind, known := range map[schema.GroupVersionKind]bool{
		rbacv1.SchemeGroupVersion.WithKind("RoleBinding"):             true,
		corev1.SchemeGroupVersion.WithKind("Secret"):                  true,
		corev1.SchemeGroupVersion.WithKind("SecretList"):              false,
		{Group: "example.com", Version: "v1", Kind: "Widget"}:         false,
		rbacv1.SchemeGroupVersion.WithKind("ListOptions"):             false,
		{Group: rbacv1.GroupName, Version: "v9", Kind: "RoleBinding"}: false,
	} {
		if got := formats.Of(kind) != nil; got != known {
			t.Errorf("%s: %v, want %v", kind, got, known)
		}
	}
	if _, err := decode(encode(t, &metav1.ListOptions{})); err == nil {
		t.Error("decoded something of a kind that is not an object")
	}
}

func TestBrokenBytesAreAnError(t *testing.T) {
	whole := encode(t, service())
	for i := range whole {
		// Some beginnings are whole messages themselves; none may panic.
		_, _ = decode(whole[:i])
	}
	list := encode(t, &corev1.ServiceList{Items: []corev1.Service{*service()}})
	// The last four bytes are empty fields of the envelope.
	for i := range list[:len(list)-4] {
		if _, err := formats.ReadList(bytes.NewReader(list[:i]), serviceKind, func(*wire.Object) {}); err == nil {
			t.Errorf("a list that ends after %d of %d bytes was read", i, len(list))
		}
	}
	for _, data := range []string{"", "k8s", "{}", "k8s\x00\xff", "k8s\x00\x0a\x7f", string(whole[:len(whole)-20])} {
		if o, err := decode([]byte(data)); err == nil {
			t.Errorf("%q was decoded to %v", data, o)
		}
	}
}
