package wire_test

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"math/rand"
	"runtime/metrics"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/wire"
)

// longField is a list that ends after the length of its first field, 63 MiB.
const longField = "k8s\x00\x0a\x80\x80\xc0\x1f"

func TestAListNeedsNoMemoryForBytesThatDoNotArrive(t *testing.T) {
	before := allocated()
	_, err := formats.ReadList(bytes.NewReader([]byte(longField)), serviceKind, func(*wire.Object) {})
	if used := allocated() - before; used > 4<<20 {
		t.Errorf("%d bytes need %d bytes of memory", len(longField), used)
	}
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
}

// FuzzDecode decodes any bytes. Nothing may panic, or need much more memory than the bytes.
func FuzzDecode(f *testing.F) {
	random := rand.New(rand.NewSource(1))
	for _, whole := range [][]byte{
		encode(&testing.T{}, service()), encode(&testing.T{}, &corev1.ServiceList{Items: []corev1.Service{*service(), {}}}),
	} {
		for range 50 {
			data := slices.Clone(whole)
			for range 1 + random.Intn(4) {
				data[4+random.Intn(len(data)-4)] = byte(random.Int())
			}
			f.Add(data)
		}
	}
	f.Add([]byte("k8s\x00\x0a\xff\xff\xff\x1f"))
	f.Add([]byte(longField))
	f.Fuzz(func(t *testing.T, data []byte) {
		before := allocated()
		_, _ = decode(data)
		_, _ = wire.DecodeMetadata(data)
		if used, limit := allocated()-before, uint64(4<<20+1000*len(data)); used > limit {
			t.Fatalf("%d bytes need %d bytes of memory", len(data), used)
		}
		before = allocated()
		_, _ = formats.ReadList(bytes.NewReader(data), serviceKind, func(*wire.Object) {})
		if used, limit := allocated()-before, uint64(4<<20+1000*len(data)); used > limit {
			t.Fatalf("%d bytes need %d bytes of memory as a list", len(data), used)
		}
	})
}

// allocated returns the size of all allocations so far.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// message is an object with a generated encoding.
type message interface {
	runtime.Object
	metav1.Object
	Marshal() ([]byte, error)
	Unmarshal(data []byte) error
}

// kinds are those of FuzzMessage.
var kinds = []struct {
	schema.GroupVersionKind
	empty func() message
	// list encodes items.
	list func(t *testing.T, items ...message) []byte
}{
	{rbacv1.SchemeGroupVersion.WithKind("RoleBinding"), func() message { return &rbacv1.RoleBinding{} }, func(t *testing.T, items ...message) []byte {
		list := &rbacv1.RoleBindingList{}
		for _, item := range items {
			list.Items = append(list.Items, *item.(*rbacv1.RoleBinding))
		}
		return encode(t, list)
	}},
	{corev1.SchemeGroupVersion.WithKind("Secret"), func() message { return &corev1.Secret{} }, func(t *testing.T, items ...message) []byte {
		list := &corev1.SecretList{}
		for _, item := range items {
			list.Items = append(list.Items, *item.(*corev1.Secret))
		}
		return encode(t, list)
	}},
	{corev1.SchemeGroupVersion.WithKind("ConfigMap"), func() message { return &corev1.ConfigMap{} }, func(t *testing.T, items ...message) []byte {
		list := &corev1.ConfigMapList{}
		for _, item := range items {
			list.Items = append(list.Items, *item.(*corev1.ConfigMap))
		}
		return encode(t, list)
	}},
	{serviceKind, func() message { return &corev1.Service{} }, func(t *testing.T, items ...message) []byte {
		list := &corev1.ServiceList{}
		for _, item := range items {
			list.Items = append(list.Items, *item.(*corev1.Service))
		}
		return encode(t, list)
	}},
}

// FuzzMessage compares what is decoded from a message with what its generated decoder returns. That one accepts some
// messages that no encoder writes, and reads beyond the end of an entry of a map: for what both accept, the metadata
// must agree, and for what the generated encoder writes, everything.
func FuzzMessage(f *testing.F) {
	meta := service().ObjectMeta
	immutable := true
	for i, seed := range []message{
		&rbacv1.RoleBinding{ObjectMeta: meta, Subjects: []rbacv1.Subject{{Kind: "User", Name: "u"}}, RoleRef: rbacv1.RoleRef{Kind: "Role", Name: "r"}},
		&corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{"a": {1, 0}}, Type: corev1.SecretTypeOpaque, Immutable: &immutable},
		&corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"a": "b", "": ""}, BinaryData: map[string][]byte{"c": {255}}},
		service(),
	} {
		data, err := seed.Marshal()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(byte(i), data)
		f.Add(byte(i), append(slices.Clone(data), data...))
		f.Add(byte(i), append(slices.Clone(data), "\xa2\x06\x03new"...))
		f.Add(byte(i), []byte{10, 2, 0x4a, 0}) // deleted at no time
	}
	f.Fuzz(func(t *testing.T, i byte, data []byte) {
		kind := kinds[int(i)%len(kinds)]
		want := kind.empty()
		if want.Unmarshal(data) != nil {
			return
		}
		if got, err := decode(inEnvelope(t, kind.GroupVersionKind, data)); err == nil {
			sameMetadata(t, got.(*wire.Object), want)
		}
		got, err := decode(encode(t, want))
		if err != nil {
			t.Fatalf("what the generated encoder writes is not decoded: %v", err)
		}
		agree(t, got.(*wire.Object), want, kind.empty())
		items := 0
		if _, err := formats.ReadList(bytes.NewReader(kind.list(t, want, want)), kind.GroupVersionKind, func(o *wire.Object) {
			items++
			agree(t, o, want, kind.empty())
		}); err != nil || items != 2 {
			t.Fatalf("%d items: %v", items, err)
		}
	})
}

// inEnvelope returns a message as an object in protobuf.
func inEnvelope(t *testing.T, kind schema.GroupVersionKind, message []byte) []byte {
	t.Helper()
	unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind}, Raw: message}
	data, err := unknown.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte("k8s\x00"), data...)
}

func owners(m metav1.Object) (uids []types.UID) {
	for _, o := range m.GetOwnerReferences() {
		uids = append(uids, o.UID)
	}
	return uids
}

// sameMetadata compares the metadata of an object with that of the generated decoder.
func sameMetadata(t *testing.T, got *wire.Object, want message) {
	t.Helper()
	deleted, wantDeleted := got.DeletionTimestamp, want.GetDeletionTimestamp()
	if got.Name != want.GetName() || got.Namespace != want.GetNamespace() || got.UID != want.GetUID() || got.ResourceVersion != want.GetResourceVersion() ||
		!maps.Equal(got.Labels, want.GetLabels()) || !maps.Equal(got.Annotations, want.GetAnnotations()) ||
		!slices.Equal(got.Finalizers, want.GetFinalizers()) || !slices.Equal(owners(got), owners(want)) || (deleted == nil) != (wantDeleted == nil) || !deleted.Equal(wantDeleted) {
		t.Fatalf("the metadata is %+v, want that of %+v", got.ObjectMeta, want)
	}
	secret, ok := want.(*corev1.Secret)
	if ok && got.Type != string(secret.Type) {
		t.Fatalf("the type is %q, want %q", got.Type, secret.Type)
	}
}

// agree compares an object with that of the generated decoder, and the bodies of its copies. empty is where to decode
// them to.
func agree(t *testing.T, got *wire.Object, want, empty message) {
	t.Helper()
	sameMetadata(t, got, want)
	body := got.Format.Body(wire.Metadata(got.Name, got.Labels, got.Annotations), got.Rest, "u", "1")
	if _, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, empty); err != nil {
		t.Fatalf("the body %q is not decoded: %v", body, err)
	}
	want = want.DeepCopyObject().(message)
	kept := metav1.ObjectMeta{Name: got.Name, Labels: got.Labels, Annotations: got.Annotations, UID: "u", ResourceVersion: "1"}
	switch o := want.(type) {
	case *rbacv1.RoleBinding:
		o.ObjectMeta = kept
	case *corev1.Secret:
		o.ObjectMeta = kept
	case *corev1.ConfigMap:
		o.ObjectMeta = kept
	case *corev1.Service:
		o.ObjectMeta, o.Status = kept, corev1.ServiceStatus{}
	}
	if a, b := marshal(t, want), marshal(t, empty); !bytes.Equal(a, b) {
		t.Fatalf("the body contains %v, want %v", empty, want)
	}
}

func marshal(t *testing.T, m message) []byte {
	t.Helper()
	data, err := m.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return data
}
