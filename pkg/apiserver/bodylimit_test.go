package apiserver

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Handlers compare the items of these lists with each other, or convert the stored object for each, before any other
// limit applies.
func TestListsOfABodyAreCountedBeforeTheyAreDecoded(t *testing.T) {
	const objects, mergePatch, apply, yaml, jsonPatch = "application/json", "application/merge-patch+json", "application/apply-patch+yaml", "application/yaml", "application/json-patch+json"
	list := func(n int, item string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
	}
	for name, row := range map[string]struct {
		contentType, body, message string
	}{
		"owner references":              {objects, `{"metadata":{"ownerReferences":` + list(257, "{}") + `}}`, "metadata.ownerReferences: Too many: 257: must have at most 256 items"},
		"as many as possible":           {objects, `{"metadata":{"ownerReferences":` + list(256, "{}") + `}}`, ""},
		"finalizers in a merge patch":   {mergePatch, `{"metadata":{"finalizers":` + list(300, `"a/b"`) + `}}`, "metadata.finalizers: "},
		"an order in a strategic patch": {"application/strategic-merge-patch+json", `{"metadata":{"finalizers":["a/b"],"$setElementOrder/finalizers":` + list(300, `"a/b"`) + `}}`, "metadata.finalizers: "},
		"managed fields":                {mergePatch, `{"metadata":{"managedFields":` + list(300, `{"manager":"a"}`) + `}}`, "metadata.managedFields: "},
		"required children":             {objects, `{"spec":{"requiredChildren":` + list(300, `"a"`) + `}}`, "spec.requiredChildren: "},
		"the second metadata":           {objects, `{"metadata":{"finalizers":` + list(300, `""`) + `},"metadata":{"finalizers":[]}}`, "metadata.finalizers: "},
		"fields that are repeated":      {objects, `{"metadata":{"finalizers":` + list(200, `""`) + `,"finalizers":` + list(200, `""`) + `}}`, "metadata.finalizers: "},
		"another case":                  {objects, `{"metadata":{"finalizers":` + list(300, `""`) + `,"Finalizers":[]},"METADATA":{}}`, "metadata.finalizers: "},
		"an escaped name":               {objects, `{"metadata":{"\u0066inalizers":` + list(300, `""`) + `}}`, "metadata.finalizers: "},
		"behind a value of wrong type":  {objects, `{"metadata":0,"spec":[],"metadata":{"labels":0,"finalizers":` + list(300, `""`) + `}}`, "metadata.finalizers: "},
		"another list":                  {objects, `{"spec":{"resources":` + list(1000, `{}`) + `},"status":{"children":` + list(9000, `"a"`) + `}}`, ""},
		"applied YAML":                  {apply, "metadata:\n  finalizers:\n" + strings.Repeat("  - a\n", 300), "metadata.finalizers: "},
		"merged YAML":                   {yaml, "metadata:\n  <<:\n    finalizers:\n" + strings.Repeat("    - a\n", 300), "metadata.finalizers: "},
		"applied JSON":                  {apply, `{"metadata":{"finalizers":` + list(300, `"a"`) + `}}`, "metadata.finalizers: "},
		"malformed YAML":                {yaml, "a: [", "malformed YAML: "},
		"a JSON patch":                  {jsonPatch, list(1000, `{"op":"add","path":"/metadata/finalizers/-","value":"a"}`), ""},
		"a long JSON patch":             {jsonPatch, list(1500, `{"op":"add","path":"/metadata/finalizers/-","value":"a"}`), "a JSON patch may have at most 8192 values; send a merge patch"},
		"a JSON patch of a long list":   {jsonPatch, `[{"op":"add","path":"/metadata/managedFields","value":` + list(5000, `{}`) + `}]`, "a JSON patch may have at most 8192 values"},
	} {
		t.Run(name, func(t *testing.T) {
			request := func(name string) *http.Request {
				r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(row.body))
				r.Header.Set("Content-Type", row.contentType)
				ctx := genericapirequest.WithRequestInfo(r.Context(), &genericapirequest.RequestInfo{APIGroup: hnc.GroupName, Verb: "create", Namespace: "a", Resource: "subnamespaces"})
				return r.WithContext(genericapirequest.WithUser(ctx, &user.DefaultInfo{Name: name}))
			}
			err := checkBody(request("ann"))
			if (err == nil) != (row.message == "") || err != nil && !strings.Contains(err.Error(), row.message) {
				t.Errorf("got %v, want %q", err, row.message)
			}
			if err != nil && !apierrors.IsInvalid(err) && !apierrors.IsRequestEntityTooLargeError(err) && !apierrors.IsBadRequest(err) {
				t.Errorf("got %v", err)
			}
			if err := checkBody(request(hnc.PropagatorUser)); err != nil {
				t.Errorf("the propagator: %v", err)
			}
		})
	}
}
