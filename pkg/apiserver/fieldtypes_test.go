package apiserver_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Values of other types, of which one is wrong for any field.
var wrongValues = []any{"x", 1.5, true, nil, []any{}, []any{map[string]any{"x": "y"}}, map[string]any{"x": []any{"y"}}}

// What has a value of the wrong type is a mistake of the client in every way in which an object can be sent, and the
// answer says so.
func TestValuesOfWrongTypesAreNoInternalErrors(t *testing.T) {
	api := sharedAPI(t)
	for _, object := range fuzzedObjects {
		if object.stored {
			restore(t, api, object)
		}
	}
	for i, object := range fuzzedObjects {
		sent := sets.New[string]()
	requests:
		for j, request := range fuzzedRequests {
			if request.method == http.MethodDelete || strings.HasSuffix(request.contentType, "cbor") || strings.HasSuffix(request.contentType, "protobuf") {
				continue
			}
			path, query, _ := strings.Cut(request.suffix, "?")
			path = strings.TrimSuffix(strings.Replace(path, "/", "/"+object.name+"/", 1), "/")
			if !strings.Contains(query, "dryRun=All") {
				query = "dryRun=All&" + query
			}
			path += "?" + query
			key := strings.Join([]string{request.method, path, request.contentType}, " ")
			if sent.Has(key) {
				continue
			}
			sent.Insert(key)
			for k, at := range fields(t, object) {
				for l, value := range wrongValues {
					// All kinds decode metadata in the same way.
					if at[0] == "metadata" && i > 0 && l != (i+j+k)%len(wrongValues) {
						continue
					}
					body := wrong(t, object, at, value, request.contentType)
					response := send(api, request.method, apiPath+object.collection+path, request.contentType, "admin", body)
					if response.Code >= http.StatusInternalServerError {
						t.Errorf("%s %s as %s with %s: %d %s", request.method, object.collection+path, request.contentType, body, response.Code, response.Body)
					}
					if response.Code == http.StatusMethodNotAllowed {
						continue requests
					}
				}
			}
		}
	}
}

// fields returns the paths of all fields of the examples of an object, and some of the metadata.
func fields(t *testing.T, object fuzzedObject) [][]string {
	t.Helper()
	found := map[string][]string{}
	var visit func(at []string, value any)
	visit = func(at []string, value any) {
		if len(at) > 0 {
			found[strings.Join(at, "\x00")] = slices.Clone(at)
		}
		if m, ok := value.(map[string]any); ok {
			for name, child := range m {
				visit(append(slices.Clone(at), name), child)
			}
		}
	}
	for _, text := range []string{object.base, object.other, `{"metadata":{"creationTimestamp":"","deletionTimestamp":"","generation":1,"finalizers":[],` +
		`"labels":{"a":"b"},"annotations":{"a":"b"},"ownerReferences":[],"managedFields":[],"uid":"x","generateName":"x","namespace":"a"}}`} {
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		visit(nil, value)
	}
	var paths [][]string
	for _, key := range slices.Sorted(maps.Keys(found)) {
		paths = append(paths, found[key])
	}
	return paths
}

// wrong returns a body that sets a field of the object to a value.
func wrong(t *testing.T, object fuzzedObject, at []string, value any, contentType string) []byte {
	t.Helper()
	var content map[string]any
	if err := json.Unmarshal([]byte(object.base), &content); err != nil {
		t.Fatal(err)
	}
	var body any = content
	if contentType == "application/json-patch+json" {
		body = []any{map[string]any{"op": "add", "path": "/" + strings.Join(at, "/"), "value": value}}
	} else if err := unstructured.SetNestedField(content, value, at...); err != nil {
		content[at[0]] = value
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

func TestValuesOfWrongTypesAreNamed(t *testing.T) {
	api := sharedAPI(t)
	sync, quota := fuzzedObjects[9], fuzzedObjects[6]
	restore(t, api, sync)
	restore(t, api, quota)
	for _, test := range []struct {
		object fuzzedObject
		at     []string
		values []any
		want   string
	}{
		{sync, []string{"spec", "interval"}, []any{"soon", "", 15.0, "1w"}, "spec.interval"},
		{sync, []string{"spec", "interval"}, []any{[]any{"15s"}, map[string]any{"seconds": "15"}}, "spec.interval"},
		{quota, []string{"spec", "hard", "pods"}, []any{[]any{"1"}, map[string]any{"a": "1"}, "many"}, "pods"},
	} {
		for _, request := range fuzzedRequests[:7] {
			for _, value := range test.values {
				suffix := strings.Replace(request.suffix, "/", "/"+test.object.name, 1)
				body := wrong(t, test.object, test.at, value, request.contentType)
				if request.method == http.MethodPut {
					got := send(api, http.MethodGet, apiPath+test.object.collection+"/"+test.object.name, "", "admin", nil)
					var stored unstructured.Unstructured
					if err := stored.UnmarshalJSON(got.Body.Bytes()); err != nil {
						t.Fatal(err)
					}
					body = []byte(strings.Replace(string(body), `"metadata":{`, fmt.Sprintf(`"metadata":{"resourceVersion":%q,`, stored.GetResourceVersion()), 1))
				}
				response := send(api, request.method, apiPath+test.object.collection+suffix, request.contentType, "admin", body)
				if code := response.Code; code != http.StatusUnprocessableEntity && code != http.StatusBadRequest || !strings.Contains(response.Body.String(), test.want) {
					t.Errorf("%s %s as %s with %s: %d %.500s", request.method, suffix, request.contentType, body, code, response.Body)
				}
			}
		}
	}
}
