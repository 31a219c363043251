package copies

import (
	"bytes"
	"math/rand"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/equality"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/wire"
)

var propagated = []runtime.Object{
	&rbacv1.Role{}, &rbacv1.RoleBinding{}, &networkingv1.NetworkPolicy{}, &corev1.Secret{}, &corev1.ConfigMap{}, &corev1.LimitRange{},
	&corev1.ResourceQuota{}, &corev1.ServiceAccount{}, &corev1.Service{}, &corev1.PersistentVolumeClaim{},
}

var inEnvelopes = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)

// read returns what the propagator knows of an object that it reads in JSON and in protobuf.
func read(t *testing.T, object runtime.Object, rules *Rules) (byJSON, byProtobuf *Object) {
	t.Helper()
	gvk := kindOf(t, object)
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		t.Fatal(err)
	}
	if byJSON, err = NewObject(&unstructured.Unstructured{Object: content}, rules); err != nil {
		t.Fatal(err)
	}
	kind := Kind{GroupVersionResource: gvk.GroupVersion().WithResource("any"), Kind: gvk.Kind}
	return byJSON, NewWireObject(onWire(t, object), kind, rules)
}

func kindOf(t *testing.T, object runtime.Object) schema.GroupVersionKind {
	t.Helper()
	kinds, _, err := scheme.Scheme.ObjectKinds(object)
	if err != nil {
		t.Fatal(err)
	}
	object.GetObjectKind().SetGroupVersionKind(kinds[0])
	return kinds[0]
}

var decoder = wire.NewFormats(scheme.Scheme).NegotiatedSerializer(scheme.Codecs)

func onWire(t *testing.T, object runtime.Object) *wire.Object {
	t.Helper()
	info, _ := runtime.SerializerInfoForMediaType(decoder.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	o, err := runtime.Decode(decoder.DecoderToVersion(info.Serializer, nil), encoded(t, object))
	if err != nil {
		t.Fatal(err)
	}
	return o.(*wire.Object)
}

func encoded(t *testing.T, object runtime.Object) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := inEnvelopes.Encode(object, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func decoded(t *testing.T, body []byte, into runtime.Object) runtime.Object {
	t.Helper()
	gvk := kindOf(t, into)
	o, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, &gvk, nil)
	if err != nil {
		t.Fatalf("%v: %q", err, body)
	}
	return o
}

func TestWhatIsWrittenIsTheSameInBothEncodings(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	fill := fuzzer.FuzzerFor(metafuzzer.Funcs, random, scheme.Codecs)
	rules := &Rules{Labels: sets.New("dropped"), Annotations: sets.New("dropped")}
	for _, kind := range propagated {
		t.Run(kindOf(t, kind).Kind, func(t *testing.T) {
			for i := range 200 {
				object := kind.DeepCopyObject()
				fill.Fill(object)
				m := object.(metav1.Object)
				m.SetFinalizers(nil)
				m.SetLabels(map[string]string{"b": "2", "a": "1", "": "", "dropped": "x"})
				m.SetAnnotations(map[string]string{"b": "2", "a": "ä", "dropped": "x"})
				if i%2 == 0 {
					m.SetLabels(map[string]string{hnc.LabelInheritedFrom: "root", "a": "1"})
				}
				if i%3 == 0 {
					m.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "u"}})
				}
				if i%7 == 0 {
					m.SetFinalizers([]string{"example.com/f"})
				}
				byJSON, byProtobuf := read(t, object, rules)
				equal(t, byJSON, byProtobuf, kind)
			}
		})
	}
}

// equal fails unless both are the same but for their encoding.
func equal(t *testing.T, byJSON, byProtobuf *Object, kind runtime.Object) {
	t.Helper()
	if (byJSON.content == nil) != (byProtobuf.content == nil) {
		t.Fatalf("contents %v, %v", byJSON.content, byProtobuf.content)
	}
	if byJSON.content != nil {
		for _, id := range []struct {
			uid     types.UID
			version string
		}{{}, {"the-uid", "12345"}} {
			want := decoded(t, byJSON.content.body(id.uid, id.version), kind)
			got := decoded(t, byProtobuf.content.body(id.uid, id.version), kind)
			if !equality.Semantic.DeepEqual(got, want) {
				t.Fatalf("not what is written in JSON: %s", cmp.Diff(want, got))
			}
		}
	}
	if byJSON.Digest != (Digest{}) && byJSON.Digest == byProtobuf.Digest {
		t.Error("digests of different encodings are equal")
	}
	if !reflect.DeepEqual(byJSON.fitness, byProtobuf.fitness) {
		t.Errorf("in JSON %+v, in protobuf %+v", *byJSON.fitness, *byProtobuf.fitness)
	}
	a, b := *byJSON, *byProtobuf
	a.fitness, b.fitness = nil, nil
	a.content, b.content, a.Digest, b.Digest = nil, nil, Digest{}, Digest{}
	if a != b {
		t.Errorf("in JSON %+v, in protobuf %+v", a, b)
	}
}

func TestACopyThatWasReadInProtobufHoldsWhatItsSourceHas(t *testing.T) {
	random := rand.New(rand.NewSource(2))
	fill := fuzzer.FuzzerFor(metafuzzer.Funcs, random, scheme.Codecs)
	for _, kind := range propagated {
		t.Run(kindOf(t, kind).Kind, func(t *testing.T) {
			for range 50 {
				object := kind.DeepCopyObject()
				fill.Fill(object)
				m := object.(metav1.Object)
				m.SetFinalizers(nil)
				m.SetAnnotations(map[string]string{"d": "", "c": "3"})
				// What is read has been stored, by which nil becomes empty or the other way round.
				object = decoded(t, encoded(t, object), kind)
				_, source := read(t, object, &Rules{})
				if !source.Fit() {
					continue // such as a Secret of a type that is left out
				}
				stored := decoded(t, source.content.body("", ""), kind)
				m = stored.(metav1.Object)
				m.SetNamespace("leaf")
				m.SetUID("new")
				m.SetResourceVersion("7")
				m.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "us"}})
				_, copied := read(t, stored, &Rules{})
				if !copied.Copy || !copied.holds(source.Digest) {
					t.Fatalf("the copy does not hold what its source has: %s", cmp.Diff(object, stored))
				}
				m.SetAnnotations(map[string]string{"d": "", "c": "4"})
				if _, changed := read(t, stored, &Rules{}); changed.holds(source.Digest) {
					t.Fatal("a changed annotation is not seen")
				}
			}
		})
	}
}

func TestASecretsTypeIsReadInProtobuf(t *testing.T) {
	for kind, fit := range map[corev1.SecretType]bool{corev1.SecretTypeOpaque: true, corev1.SecretTypeServiceAccountToken: false, "helm.sh/release.v1": false} {
		_, o := read(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: "n"}, Type: kind}, &Rules{})
		if o.Fit() != fit {
			t.Errorf("%s: fit %v, want %v", kind, o.Fit(), fit)
		}
	}
}

func TestTheStatusIsLeftOutInProtobuf(t *testing.T) {
	quota := func(used string) *corev1.ResourceQuota {
		return &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Name: "q", Namespace: "n"},
			Spec:       corev1.ResourceQuotaSpec{Scopes: []corev1.ResourceQuotaScope{"BestEffort"}},
			Status:     corev1.ResourceQuotaStatus{Used: corev1.ResourceList{"pods": quantity.MustParse(used)}},
		}
	}
	_, a := read(t, quota("1"), &Rules{})
	_, b := read(t, quota("2"), &Rules{})
	if a.Digest != b.Digest {
		t.Error("the status counts")
	}
	if got := decoded(t, a.content.body("", ""), &corev1.ResourceQuota{}).(*corev1.ResourceQuota); got.Status.Used != nil || len(got.Spec.Scopes) != 1 {
		t.Errorf("written: %+v", got)
	}
}
