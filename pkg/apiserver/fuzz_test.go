package apiserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// fuzzedObject is an object that bodies are written to.
type fuzzedObject struct {
	// collection is the path of its collection below /apis/hnc.x-k8s.io.
	collection, name string
	// base is the object before each request, other is another valid one.
	base, other string
	// stored reports that a create stores it.
	stored bool
}

var fuzzedObjects = []fuzzedObject{
	{"v1beta1/namespaces/a/hierarchies", "hierarchy",
		`{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"Hierarchy","metadata":{"name":"hierarchy"},"spec":{"parent":"root"}}`,
		`{"spec":{"parent":"b","allowCascadingDeletion":true,"labels":[{"key":"k","value":"v"}],"annotations":[{"key":"k","value":"v"}],"requiredChildren":["x"],"abstractAncestors":["y"],"propagation":[{"resource":"secrets","mode":"Remove"}]},"status":{"children":["c"],"conditions":[{"type":"Ready","status":"True","reason":"r","message":"m","lastTransitionTime":"2020-01-01T00:00:00Z"}]}}`, true},
	{"v1alpha2/namespaces/a/hierarchyconfigurations", "hierarchy",
		`{"apiVersion":"hnc.x-k8s.io/v1alpha2","kind":"HierarchyConfiguration","metadata":{"name":"hierarchy"},"spec":{"parent":"root"}}`,
		`{"spec":{"parent":"b","allowCascadingDeletion":true,"labels":[{"key":"k","value":"v"}]},"status":{"children":["c"]}}`, true},
	{"v1beta1/namespaces/b/subnamespaces", "x",
		`{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"Subnamespace","metadata":{"name":"x"}}`,
		`{"spec":{"labels":[{"key":"k","value":"v"}],"annotations":[{"key":"k","value":"v"}]},"status":{"status":"Ok"}}`, true},
	{"v1alpha2/namespaces/b/subnamespaceanchors", "x",
		`{"apiVersion":"hnc.x-k8s.io/v1alpha2","kind":"SubnamespaceAnchor","metadata":{"name":"x"}}`,
		`{"spec":{"labels":[{"key":"k","value":"v"}]},"status":{"status":"Forbidden"}}`, true},
	{"v1beta1/hncconfigurations", "config",
		`{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"HNCConfiguration","metadata":{"name":"config"}}`,
		`{"spec":{"resources":[{"resource":"secrets","mode":"Propagate","onConflict":"Keep"}],"creatorRole":"r","subnamespaceNames":{"pattern":"a.*","prefix":"Parent"},"rules":{"includedNamespaceRegex":"a|b","excludedNamespaceSelector":{"matchLabels":{"a":"b"}},"managedNamespaceLabels":["team"],"droppedAnnotations":["a/b"],"stripTrackingMetadata":true}},"status":{"resources":[{"group":"","version":"v1","resource":"secrets","numPropagatedObjects":1}]}}`, true},
	{"v1alpha2/hncconfigurations", "config",
		`{"apiVersion":"hnc.x-k8s.io/v1alpha2","kind":"HNCConfiguration","metadata":{"name":"config"}}`,
		`{"spec":{"resources":[{"group":"","resource":"configmaps","mode":"Remove"}]}}`, true},
	{"v1beta1/namespaces/a/hierarchicalresourcequotas", "q",
		`{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"HierarchicalResourceQuota","metadata":{"name":"q"},"spec":{"hard":{"pods":"1"}}}`,
		`{"spec":{"hard":{"requests.cpu":"1e3","count/deployments.apps":"2k","limits.memory":"1.5Gi"},"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In","values":["high"]}]},"scopes":["NotTerminating"]},"status":{"hard":{"pods":"1"},"used":{"pods":"-1"}}}`, true},
	{"v1alpha2/namespaces/a/hierarchicalresourcequotas", "q",
		`{"apiVersion":"hnc.x-k8s.io/v1alpha2","kind":"HierarchicalResourceQuota","metadata":{"name":"q"},"spec":{"hard":{"pods":"1"}}}`,
		`{"spec":{"hard":{"secrets":"9223372036854775807"}}}`, true},
	{"v1alpha3/namespaces/a/copyreleases", "r",
		`{"apiVersion":"hnc.x-k8s.io/v1alpha3","kind":"CopyRelease","metadata":{"name":"r"},"spec":{"resource":"configmaps","name":"n","source":"root"}}`,
		`{"spec":{"group":"rbac.authorization.k8s.io","resource":"roles","name":"o","source":"b"}}`, true},
	{"v1alpha3/repositorysyncs", "s",
		`{"apiVersion":"hnc.x-k8s.io/v1alpha3","kind":"RepositorySync","metadata":{"name":"s"},"spec":{"source":{"url":"https://example.com/r.git"},"serviceAccount":{"namespace":"hns-repositories","name":"c"}}}`,
		`{"spec":{"source":{"url":"ssh://git@example.com/r","branch":"b","directory":"d","secretName":"x"},"interval":"1m"}}`, true},
	{"v1alpha3/namespaces/a/overwrittenobjects", "o",
		`{"apiVersion":"hnc.x-k8s.io/v1alpha3","kind":"OverwrittenObject","metadata":{"name":"o"},"spec":{"resource":"secrets","name":"n","source":"root"}}`,
		`{"spec":{"group":"apps","resource":"deployments","object":{"a":[1]},"expirationTime":"2020-01-01T00:00:00Z"}}`, true},
	{"v1beta1/namespaces/a/hierarchies/hierarchy/plan", "hierarchy",
		`{"apiVersion":"hnc.x-k8s.io/v1alpha3","kind":"HierarchyPlan","metadata":{"name":"hierarchy"},"spec":{"change":"Parent","parent":"b","limit":1}}`,
		`{"spec":{"change":"Rules","resources":[{"resource":"roles","mode":"Remove"}],"rules":{"includedNamespaceRegex":"a+"},"abstractAncestors":["z"],"continue":"a"}}`, false},
	{"v1beta1/quotareservations", "",
		`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","name":"hrq.hnc.x-k8s.io","namespace":"a","operation":"UPDATE","subResource":"status","resource":{"group":"","version":"v1","resource":"resourcequotas"},"object":{"metadata":{"name":"hrq.hnc.x-k8s.io","namespace":"a"},"status":{"used":{"pods":"2"}}},"oldObject":{"metadata":{"name":"hrq.hnc.x-k8s.io","namespace":"a"},"status":{"used":{"pods":"1"}}}}}`,
		`{"request":{"oldObject":{"spec":{"hard":{"pods":"1"}},"status":{"used":{"a":"1e9"}}},"dryRun":true}}`, false},
}

// fuzzedRequest is how a body is sent. The body of a create has the fields of base unless it names its kind itself.
type fuzzedRequest struct{ method, suffix, contentType string }

var fuzzedRequests = []fuzzedRequest{
	{http.MethodPost, "", "application/json"},
	{http.MethodPost, "", "application/yaml"},
	{http.MethodPut, "/", "application/json"},
	{http.MethodPatch, "/", "application/json-patch+json"},
	{http.MethodPatch, "/", "application/merge-patch+json"},
	{http.MethodPatch, "/", "application/strategic-merge-patch+json"},
	{http.MethodPatch, "/?fieldManager=f&force=true", "application/apply-patch+yaml"},
	{http.MethodPut, "/status", "application/json"},
	{http.MethodPatch, "/status", "application/merge-patch+json"},
	{http.MethodPatch, "/status", "application/strategic-merge-patch+json"},
	{http.MethodPatch, "/status?fieldManager=f", "application/apply-patch+yaml"},
	{http.MethodPut, "/?dryRun=All", "application/yaml"},
	{http.MethodPatch, "/?dryRun=All", "application/merge-patch+json"},
	{http.MethodDelete, "/", "application/json"},
	{http.MethodDelete, "/?dryRun=All", "application/yaml"},
	{http.MethodDelete, "", "application/json"},
	{http.MethodPost, "", "application/cbor"},
	{http.MethodPost, "", "application/vnd.kubernetes.protobuf"},
}

const apiPath = "/apis/hnc.x-k8s.io/"

// FuzzBodies sends any body to each resource of the whole server, in each way that a body can be sent, as a user with
// all permissions and as one without. Nothing may panic, nor be an internal error.
func FuzzBodies(f *testing.F) {
	api := sharedAPI(f)
	for _, object := range fuzzedObjects {
		if object.stored {
			restore(f, api, object)
		}
	}
	for i, object := range fuzzedObjects {
		for j, request := range fuzzedRequests {
			for _, body := range []string{object.base, object.other} {
				if request.contentType == "application/json-patch+json" {
					body = fmt.Sprintf(`[{"op":"replace","path":"/spec","value":%s},{"op":"test","path":"/metadata/name","value":"x"},{"op":"add","path":"/metadata/labels/a~1b","value":"c"},{"op":"move","from":"/spec","path":"/status/-"}]`, body)
				}
				f.Add(uint8(i), uint8(j), []byte(body))
			}
		}
	}
	f.Add(uint8(0), uint8(13), []byte(`{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"u","resourceVersion":"1"},"propagationPolicy":"Foreground","gracePeriodSeconds":-1,"dryRun":["All"]}`))
	f.Add(uint8(0), uint8(5), []byte(`{"metadata":{"finalizers":["a/b"],"$deleteFromPrimitiveList/finalizers":["a"]},"spec":{"$patch":"replace","labels":[{"$patch":"delete","key":"k"}]}}`))
	f.Fuzz(func(t *testing.T, which, how uint8, body []byte) {
		object, request := fuzzedObjects[int(which)%len(fuzzedObjects)], fuzzedRequests[int(how)%len(fuzzedRequests)]
		name := "admin"
		if which >= 128 {
			name = tenant
		}
		suffix := request.suffix
		if rest, ok := strings.CutPrefix(suffix, "/"); ok {
			if rest == "" || rest[0] == '?' {
				suffix = "/" + object.name + rest
			} else {
				suffix = "/" + object.name + "/" + rest
			}
		}
		response := send(api, request.method, apiPath+object.collection+suffix, request.contentType, name, body)
		if response.Code == http.StatusInternalServerError {
			t.Errorf("%s %s as %s: %d %s", request.method, object.collection+suffix, request.contentType, response.Code, response.Body)
		}
		if response.Code < 300 && object.stored {
			restore(t, api, object)
		}
	})
}

// restore makes the objects of a collection those of fuzzedObjects again, as far as earlier requests let it: their
// rules may be in force.
func restore(t testing.TB, api http.Handler, object fuzzedObject) {
	t.Helper()
	collection := apiPath + object.collection
	if strings.HasSuffix(collection, "/hncconfigurations") {
		// It cannot be deleted.
		send(api, http.MethodPatch, collection+"/"+object.name, "application/merge-patch+json", "admin",
			[]byte(`{"metadata":{"labels":null,"annotations":null,"finalizers":null},"spec":null}`))
		return
	}
	var list unstructured.UnstructuredList
	if response := send(api, http.MethodGet, collection, "", "admin", nil); json.Unmarshal(response.Body.Bytes(), &list) != nil {
		t.Fatalf("%s: %s", collection, response.Body)
	}
	for _, item := range list.Items {
		at := collection + "/" + item.GetName()
		if len(item.GetFinalizers()) > 0 {
			send(api, http.MethodPatch, at, "application/merge-patch+json", "admin", []byte(`{"metadata":{"finalizers":null}}`))
		}
		send(api, http.MethodDelete, at, "", "admin", nil)
	}
	send(api, http.MethodPost, collection, "application/json", "admin", []byte(object.base))
}
