package hierarchyplan

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	restclient "k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/yamlbody"
)

// Empty values need 20 times the memory of their text. Those of others are not in the way.
func TestObjectsOfVeryManyValuesAreNotDecoded(t *testing.T) {
	large := `{"metadata":{"namespace":"large","name":"a"},"spec":[` + strings.Repeat("{},", yamlbody.MaxValues) + `{}]}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{},"items":[%s,{"metadata":{"namespace":"small","name":"b"}}]}`, large)
	}))
	defer server.Close()
	lister, err := NewObjectLister(&restclient.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	for namespace, want := range map[string]bool{"small": true, "large": false} {
		var found []string
		err := lister.forEach(t.Context(), configMaps.GroupVersionResource, "", nil, 0, func(of string) bool { return of == namespace }, func(u *unstructured.Unstructured) error {
			found = append(found, u.GetKind()+" "+u.GetName())
			return nil
		})
		if (err == nil) != want || want && (len(found) != 1 || found[0] != "ConfigMap b") || !want && (!strings.Contains(err.Error(), "one of the objects: ") || strings.Contains(err.Error(), "namespace")) {
			t.Errorf("%s: got %v, %v", namespace, found, err)
		}
	}
}
