package mapping

import (
	"bytes"
	"encoding/json"
	"math/rand"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/resource"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"sigs.k8s.io/randfill"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

var corpus = []string{"acme", "acme-prod", "acme-later", "service-1", "x", "acme-x", "argocd", "kube-system", "default", "acme-default", "prod"}

func testMapper() *Mapper {
	return New(relative("acme-prod", "service-1", "acme-x", "x"), testGroups)
}

const ownSuffix = "acme-12345.views.hnc.x-k8s.io"

// testGroups has example.com for itself, and so has the cluster. The cluster has another one, and those of other views.
var testGroups = &Groups{
	Suffix: func() string { return ownSuffix },
	Known: func(group string) bool {
		return group == "example.com."+ownSuffix || group == "example.com" || group == "cert-manager.io" || group == "example.com.other-12345.views.hnc.x-k8s.io"
	},
}

// groups are those of the cluster in objects.
var groups = []string{
	"example.com." + ownSuffix, "gone.example.com." + ownSuffix, "example.com", "cert-manager.io", "example.com.external", "example.com.other-12345.views.hnc.x-k8s.io", "apps", "a.b",
}

// random returns a source of objects in which all strings that matter are names of namespaces.
func random(seed int64) *randfill.Filler {
	name := func(c randfill.Continue) string { return corpus[c.Intn(len(corpus))] }
	return fuzzer.FuzzerFor(fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, func(serializer.CodecFactory) []any {
		return []any{
			func(s *string, c randfill.Continue) {
				switch n := name(c); c.Intn(8) {
				case 6:
					*s = groups[c.Intn(len(groups))]
				case 7:
					*s = groups[c.Intn(len(groups))] + "/v1"
				case 0:
					*s = "system:serviceaccount:" + n + ":bot"
				case 1:
					*s = "system:serviceaccounts:" + n
				case 2:
					*s = "Namespace"
				case 3:
					*s = "v1"
				default:
					*s = n
				}
			},
			func(m *metav1.ObjectMeta, c randfill.Continue) {
				c.FillNoCustom(m)
				m.Labels = map[string]string{hnc.LabelInheritedFrom: name(c), hnc.TreeLabel("acme"): "1", labelName: name(c), "other": name(c)}
				m.Annotations = map[string]string{hnc.AnnotationSubnamespaceOf: name(c), hnc.AnnotationTreeSelect: name(c) + ", !" + name(c),
					hnc.AnnotationSelect: name(c) + ".tree.hnc.x-k8s.io/depth, kubernetes.io/metadata.name in (" + name(c) + ",b)"}
				m.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m", APIVersion: groups[c.Intn(len(groups))] + "/v1", FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{".":{},"f:acme.tree.hnc.x-k8s.io/depth":{}}},"f:spec":{"f:unknown":{}}}`)}}
			},
			func(s *metav1.LabelSelector, c randfill.Continue) {
				*s = metav1.LabelSelector{}
				if c.Bool() {
					s.MatchLabels = map[string]string{name(c): name(c)}
				}
				if c.Intn(4) == 0 {
					s.MatchLabels = map[string]string{labelName: name(c)}
				}
				for range c.Intn(4) {
					s.MatchExpressions = append(s.MatchExpressions, []metav1.LabelSelectorRequirement{
						{Key: hnc.TreeLabel("acme"), Operator: "Exists"}, {Key: hnc.TreeLabel(name(c)), Operator: "Exists"},
						{Key: labelName, Operator: "In", Values: []string{name(c), name(c)}}, {Key: labelName, Operator: "NotIn", Values: []string{name(c)}},
						{Key: LabelUnconfined, Operator: "DoesNotExist"}, {Key: name(c), Operator: "Exists"},
					}[c.Intn(6)])
				}
			},
			func(q *resource.Quantity, c randfill.Continue) { *q = resource.MustParse("1") },
			func(r *runtime.RawExtension, c randfill.Continue) {
				*r = runtime.RawExtension{Raw: []byte(`{"namespace":"acme"}`)}
			},
		}
	}), rand.NewSource(seed), serializer.NewCodecFactory(builtin().scheme))
}

// eachKind calls f with each kind that has metadata.
func eachKind(t *testing.T, f func(kind schema.GroupVersionKind, object runtime.Object)) {
	t.Helper()
	for kind := range builtin().scheme.AllKnownTypes() {
		object, err := builtin().scheme.New(kind)
		if err != nil || kind.Version == runtime.APIVersionInternal {
			continue
		}
		if _, ok := object.(metav1.Object); ok && !strings.HasSuffix(kind.Kind, "List") {
			f(kind, object)
		}
	}
}

// writable clears texts that the view translates but clients do not write, and what it hides.
func writable(object runtime.Object) {
	clearMessages(reflect.ValueOf(object))
}

func clearMessages(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			clearMessages(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			clearMessages(v.Index(i))
		}
	case reflect.Struct:
		for name, n := range referencesOf(v.Type()) {
			if n == messageNode {
				for i := range v.NumField() {
					if tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ","); tag == name {
						v.Field(i).SetString("")
					}
				}
			}
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				clearMessages(v.Field(i))
			}
		}
	}
}

func TestWhatIsReadCanBeWrittenBack(t *testing.T) {
	m := testMapper()
	eachKind(t, func(kind schema.GroupVersionKind, object runtime.Object) {
		for seed := range int64(20) {
			random(seed).Fill(object)
			writable(object)
			stored, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			shown, err := m.Object(Out, kind, stored)
			if err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			back, err := m.Object(In, kind, shown)
			if err != nil {
				t.Fatalf("%s: %v\n%s", kind, err, shown)
			}
			if !bytes.Equal(stored, back) {
				t.Fatalf("%s changes:\nstored %s\nshown  %s\nback   %s", kind, stored, shown, back)
			}
		}
	})
}

func TestProtobufIsTranslatedAsJSONIs(t *testing.T) {
	m := testMapper()
	encoder := protobuf.NewSerializer(builtin().scheme, builtin().scheme)
	count := 0
	eachKind(t, func(kind schema.GroupVersionKind, object runtime.Object) {
		if !m.kinds.of(kind).wire {
			return
		}
		count++
		for seed := range int64(20) {
			random(seed).Fill(object)
			writable(object)
			object.GetObjectKind().SetGroupVersionKind(kind)
			encode := func(o runtime.Object) []byte {
				var b bytes.Buffer
				if err := encoder.Encode(o, &b); err != nil {
					t.Fatalf("%s: %v", kind, err)
				}
				return b.Bytes()
			}
			decode := func(wire []byte) runtime.Object {
				o, _, err := encoder.Decode(wire, nil, nil)
				if err != nil {
					t.Fatalf("%s: %v", kind, err)
				}
				o.GetObjectKind().SetGroupVersionKind(kind)
				return o
			}
			stored := encode(object)
			shown, err := m.Protobuf(Out, schema.GroupVersionKind{}, stored)
			if err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			back, err := m.Protobuf(In, schema.GroupVersionKind{}, shown)
			if err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			if !bytes.Equal(stored, back) {
				t.Fatalf("%s changes in protobuf", kind)
			}
			for to, wire := range map[Direction][2][]byte{Out: {stored, shown}, In: {stored, nil}} {
				source := decode(wire[0])
				if wire[1] == nil {
					if wire[1], err = m.Protobuf(to, schema.GroupVersionKind{}, wire[0]); err != nil {
						t.Fatal(err)
					}
				}
				plain, err := json.Marshal(source)
				if err != nil {
					t.Fatal(err)
				}
				expected, err := m.Object(to, kind, plain)
				if err != nil {
					t.Fatal(err)
				}
				got, err := json.Marshal(decode(wire[1]))
				if err != nil {
					t.Fatal(err)
				}
				if canonical(t, got) != canonical(t, expected) {
					t.Fatalf("%s, direction %v:\nprotobuf %s\nJSON     %s", kind, to, got, expected)
				}
			}
		}
	})
	if count < 60 {
		t.Errorf("only %d kinds have an encoding", count)
	}
}

// canonical returns JSON with sorted keys.
func canonical(t *testing.T, text []byte) string {
	t.Helper()
	var v any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&v); err != nil {
		t.Fatal(err)
	}
	sorted, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(sorted)
}
