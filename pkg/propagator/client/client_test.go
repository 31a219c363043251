package client

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
)

// kube-apiserver accepts a time whose year in UTC has five digits, encodes it, and cannot decode it again. It decodes
// fields in protobuf separately, so they may have as many levels as decoders accept.
func TestACopyIsReadWhateverItsManagedFieldsHave(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","uid":"u","resourceVersion":"7",
			"labels":{"hnc.x-k8s.io/inherited-from":"root"},"managedFields":[{"manager":"m","time":"10000-01-01T00:00:00Z","fieldsV1":` + strings.Repeat(`{"f:a":`, 9_999) + "{}" + strings.Repeat("}", 9_999) + `}]}}`))
	}))
	defer server.Close()
	requests, err := rest.UnversionedRESTClientFor(&rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{NegotiatedSerializer: scheme.Codecs.WithoutConversion()}})
	if err != nil {
		t.Fatal(err)
	}
	kind := copies.Kind{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "secrets"}}
	present, inheritedFrom, err := New(requests).Read(t.Context(), kind, "a", "a")
	if want := (copies.Written{UID: "u", ResourceVersion: "7"}); err != nil || present != want || inheritedFrom != "root" {
		t.Errorf("got %v %q %v", present, inheritedFrom, err)
	}
}
