package view

import (
	"encoding/json"
	"net/http"
	goruntime "runtime"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/yamlbody"
)

// definitionInProtobuf returns the message of a CustomResourceDefinition in its envelope.
func definitionInProtobuf(t *testing.T, message []byte) []byte {
	t.Helper()
	return inEnvelope(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", message)
}

func inEnvelope(t *testing.T, apiVersion, kind string, message []byte) []byte {
	t.Helper()
	envelope, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: message}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte("k8s\x00"), envelope...)
}

func schemaInProtobuf(t *testing.T, schema apiextensionsv1.JSONSchemaProps) []byte {
	t.Helper()
	crd := apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com"}, Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Group: "example.com", Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &schema}}},
	}}
	message, err := crd.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return definitionInProtobuf(t, message)
}

// Typed clients send protobuf, which hns-apiserver does not know for CustomResourceDefinitions.
func TestDefinitionsInProtobuf(t *testing.T) {
	schema := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"a": {Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{Type: "string"}}, Default: &apiextensionsv1.JSON{Raw: []byte(`["x"]`)}},
		"b": {AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true}},
	}}
	got, err := definitionJSON(schemaInProtobuf(t, schema))
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal(got, &crd); err != nil || crd.Kind != "CustomResourceDefinition" || crd.APIVersion != "apiextensions.k8s.io/v1" || crd.Name != "widgets.example.com" {
		t.Errorf("%v %s", err, got)
	}
	want, err := json.Marshal(schema)
	if err != nil || !strings.Contains(string(got), string(want)) || strings.Contains(string(got), "status") {
		t.Errorf("%v %s", err, got)
	}
}

// A few bytes of protobuf can be many or deep structures.
func TestDefinitionsInProtobufAreBounded(t *testing.T) {
	const maxMessageDepth = 150
	nested := func(levels int) apiextensionsv1.JSONSchemaProps {
		schema := apiextensionsv1.JSONSchemaProps{}
		for range levels {
			inner := schema
			schema = apiextensionsv1.JSONSchemaProps{Not: &inner}
		}
		return schema
	}
	for what, test := range map[string]struct {
		body []byte
		want string
	}{
		"deep":         {schemaInProtobuf(t, nested(maxMessageDepth-10)), ""},
		"too deep":     {schemaInProtobuf(t, nested(maxMessageDepth)), "nested in more than 150"},
		"in a map":     {schemaInProtobuf(t, apiextensionsv1.JSONSchemaProps{Properties: map[string]apiextensionsv1.JSONSchemaProps{"a": nested(maxMessageDepth)}}), "nested in more than 150"},
		"in a list":    {schemaInProtobuf(t, apiextensionsv1.JSONSchemaProps{AllOf: []apiextensionsv1.JSONSchemaProps{nested(maxMessageDepth)}}), "nested in more than 150"},
		"many":         {schemaInProtobuf(t, apiextensionsv1.JSONSchemaProps{AllOf: make([]apiextensionsv1.JSONSchemaProps, 1000)}), ""},
		"too many":     {schemaInProtobuf(t, apiextensionsv1.JSONSchemaProps{AllOf: make([]apiextensionsv1.JSONSchemaProps, yamlbody.MaxValues)}), "at most 32768 fields; send JSON"},
		"no prefix":    {[]byte("{}"), "no prefix"},
		"no envelope":  {[]byte("k8s\x00\xff"), "malformed"},
		"no message":   {definitionInProtobuf(t, []byte{0xff}), "malformed"},
		"not JSON":     {schemaInProtobuf(t, apiextensionsv1.JSONSchemaProps{Default: &apiextensionsv1.JSON{Raw: []byte("{")}}), "malformed"},
		"another type": {definitionInProtobuf(t, protowire.AppendVarint(protowire.AppendTag(nil, 2, protowire.VarintType), 1)), "malformed"},
	} {
		if _, err := definitionJSON(test.body); (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", what, err, test.want)
		}
	}
}

// A body in JSON is not decoded, not even its metadata: an owner reference of three bytes would take a hundred.
func TestDefinitionsInJSONAreNotDecoded(t *testing.T) {
	body := `{"metadata":{"ownerReferences":[` + strings.Repeat("{},", 900_000) + `{}],"name":"widgets.example.com"},"spec":{"group":"example.com"}}`
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	w, sent := sendBody(t, unlimited{}, http.MethodPost, definitionsPath, "application/json", body)
	goruntime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 || sent == 0 {
		t.Errorf("got %d %.300s; it takes %d bytes, and %d requests are sent", w.Code, w.Body, took, sent)
	}
}

// A definition of 100 kB takes many megabytes while it is decoded.
func TestDefinitionsInProtobufAreCounted(t *testing.T) {
	body := string(schemaInProtobuf(t, apiextensionsv1.JSONSchemaProps{Type: "object"}))
	b := &perUser{}
	if w, sent := sendBody(t, b, http.MethodPost, definitionsPath, protobufType, body); sent == 0 || b.most < MaxPart || b.sending != 0 || b.bytes != 0 {
		t.Errorf("got %d %.300s; %d bytes are counted, %d while it is sent, and %d are left", w.Code, w.Body, b.most, b.sending, b.bytes)
	}
	if w, sent := sendBody(t, full{}, http.MethodPost, definitionsPath, protobufType, body); w.Code != http.StatusTooManyRequests || sent > 0 {
		t.Errorf("without memory: got %d %.300s; %d requests are sent", w.Code, w.Body, sent)
	}
	large := string(schemaInProtobuf(t, apiextensionsv1.JSONSchemaProps{Description: strings.Repeat("x", maxDefinition)}))
	if w, sent := sendBody(t, unlimited{}, http.MethodPost, definitionsPath, protobufType, large); w.Code != http.StatusRequestEntityTooLarge || !strings.Contains(w.Body.String(), "at most 524288 bytes; send JSON") || sent > 0 {
		t.Errorf("large: got %d %.300s; %d requests are sent", w.Code, w.Body, sent)
	}
}
