package mapping

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// FuzzRequest compares what kube-apiserver decodes from a translated request with the translation of what it decodes
// from the request: no spelling of an object is translated in another way than Kubernetes reads it.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"\u006eamespace":"prod","labels":{"hnc.x-k8s.io/inherited-from":"x"}}}`))
	f.Add([]byte(`{"kind":"RoleBinding","apiVersion":"rbac.authorization.k8s.io/v1","subjects":[{"kind":"User","name":"system:serviceaccount:prod:a"}]}`))
	f.Add([]byte(`{"kind":"NetworkPolicy","apiVersion":"networking.k8s.io/v1","spec":{"ingress":[{"from":[{"namespaceSelector":{"matchExpressions":null}}]}]}}`))
	f.Add([]byte(`{"kind":"Event","apiVersion":"v1","involvedObject":{"kind":"Namespace","name":"prod","apiVersion":"v1"},"related":null}`))
	f.Add([]byte(`{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"prod","managedFields":[{"fieldsV1":{"f:a":{}}}]}}`))
	seeds(f, func(object runtime.Object) []byte {
		text, err := json.Marshal(object)
		if err != nil {
			f.Fatal(err)
		}
		return text
	})
	decoder := kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, builtin().scheme, builtin().scheme, kjson.SerializerOptions{})
	kind := kindOf("v1", "Pod")
	f.Fuzz(func(t *testing.T, body []byte) {
		m := testMapper()
		mapped, _, err := m.Request("application/json", kind, body)
		if err != nil {
			return
		}
		compare(t, m, decoder, kind, body, mapped)
	})
}

// FuzzProtobuf is FuzzRequest for protobuf.
func FuzzProtobuf(f *testing.F) {
	f.Add(wirePod(bytesField(1, stringField(3, "prod")...)))
	f.Add(join([]byte(protobufPrefix), bytesField(1, join(stringField(1, "networking.k8s.io/v1"), stringField(2, "NetworkPolicy"))...),
		bytesField(2, bytesField(2, bytesField(2, bytesField(2, bytesField(2)...)...)...)...)))
	f.Add(join([]byte(protobufPrefix), bytesField(1, join(stringField(1, "rbac.authorization.k8s.io/v1"), stringField(2, "RoleBinding"))...),
		bytesField(2, bytesField(2, join(stringField(1, "User"), stringField(3, "system:serviceaccounts:prod"), stringField(4, "prod"))...)...)))
	decoder := protobuf.NewSerializer(builtin().scheme, builtin().scheme)
	seeds(f, func(object runtime.Object) []byte {
		var b bytes.Buffer
		if err := decoder.Encode(object, &b); err != nil {
			f.Fatal(err)
		}
		return b.Bytes()
	})
	kind := kindOf("v1", "Pod")
	f.Fuzz(func(t *testing.T, body []byte) {
		m := testMapper()
		mapped, err := m.Protobuf(In, kind, body)
		if err != nil {
			return
		}
		compare(t, m, decoder, kind, body, mapped)
	})
}

// seeds adds random objects of the kinds with the most rules.
func seeds(f *testing.F, encode func(runtime.Object) []byte) {
	for _, kind := range []schema.GroupVersionKind{
		kindOf("v1", "Namespace"), kindOf("v1", "Event"), kindOf("rbac.authorization.k8s.io/v1", "RoleBinding"),
		kindOf("networking.k8s.io/v1", "NetworkPolicy"), kindOf("authorization.k8s.io/v1", "SubjectAccessReview"),
		kindOf("v1", "Endpoints"), kindOf("v1", "PersistentVolumeClaim"),
	} {
		for seed := range int64(3) {
			object, err := builtin().scheme.New(kind)
			if err != nil {
				f.Fatal(err)
			}
			random(seed).Fill(object)
			object.GetObjectKind().SetGroupVersionKind(kind)
			f.Add(encode(object))
		}
	}
}

// compare decodes a request and its translation, translates the former as JSON, and compares.
func compare(t *testing.T, m *Mapper, decoder runtime.Decoder, kind schema.GroupVersionKind, body, mapped []byte) {
	t.Helper()
	object, stated, err := decoder.Decode(body, &kind, nil)
	if err != nil {
		return
	}
	// Only what has metadata is a request; lists are not.
	if _, err := meta.Accessor(object); err != nil || meta.IsListType(object) {
		return
	}
	result, _, err := decoder.Decode(mapped, &kind, nil)
	if err != nil {
		t.Fatalf("%q cannot be decoded any more: %v", mapped, err)
	}
	object.GetObjectKind().SetGroupVersionKind(*stated)
	result.GetObjectKind().SetGroupVersionKind(*stated)
	plain, err := json.Marshal(object)
	if err != nil {
		return
	}
	expected, err := m.Object(In, *stated, plain)
	if err != nil {
		return
	}
	got, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	if canonical(t, got) != canonical(t, expected) {
		t.Errorf("%q is decoded as\n%s\nexpected\n%s", body, got, expected)
	}
}

// FuzzResponse checks that streaming changes nothing, and that what is read can be written back.
func FuzzResponse(f *testing.F) {
	f.Add([]byte(`{"kind":"PodList","items":[{"metadata":{"namespace":"acme"}}, {}],"metadata":{}}`), true)
	f.Add([]byte(`{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":[{"name":"Name"}],"rows":[{"cells":["acme"],"object":{}}]}`), true)
	f.Add([]byte(`{"kind":"Namespace","metadata":{"name":"acme"}}`), false)
	f.Fuzz(func(t *testing.T, body []byte, list bool) {
		m := testMapper()
		kind := kindOf("v1", "Namespace")
		var streamed bytes.Buffer
		err := m.Response(kind, list, bytes.NewReader(body), &streamed)
		if err == nil && json.Valid(body) && !json.Valid(streamed.Bytes()) {
			t.Errorf("%q becomes %q", body, streamed.Bytes())
		}
		_ = m.Watch(kind, bytes.NewReader(body), io.Discard)
		_, _ = m.Patch(jsonPatch, kind, body)
		_, _ = m.Patch(mergePatch, kind, body)
		_ = m.Message(string(body))
	})
}

// FuzzSelectorText checks that a selector that is shown can be written back.
func FuzzSelectorText(f *testing.F) {
	f.Add("a=b, acme-prod.tree.hnc.x-k8s.io/depth,kubernetes.io/metadata.name in (acme,x),!c")
	f.Fuzz(func(t *testing.T, stored string) {
		m := testMapper()
		shown := m.translation(Out).selectorText(stored)
		if back := m.translation(In).selectorText(shown); back != stored {
			t.Errorf("%q is shown as %q and written back as %q", stored, shown, back)
		}
		shown = m.translation(Out).listed(stored)
		if back := m.translation(In).listed(shown); back != stored {
			t.Errorf("list %q is shown as %q and written back as %q", stored, shown, back)
		}
	})
}
