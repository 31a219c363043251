package apiserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// plannedObjects are the objects of the cluster that plans are about: sources with exceptions and overrides, copies of
// some, local objects of the same names beside them, and a binding.
var plannedObjects = map[string][]map[string]any{
	"configmaps": {
		planned("root", "settings", map[string]any{"propagate.hnc.x-k8s.io/select": "team=x"}, nil),
		planned("root", "shared", nil, nil), planned("a", "shared", nil, map[string]any{"hnc.x-k8s.io/inherited-from": "root"}),
		planned("a", "local", map[string]any{"propagate.hnc.x-k8s.io/treeSelect": "!b"}, nil), planned("b", "shared", nil, map[string]any{"hnc.x-k8s.io/inherited-from": "root"}),
		planned("c", "shared", nil, nil),
	},
	"secrets": {planned("root", "key", map[string]any{"propagate.hnc.x-k8s.io/all": "true"}, nil), planned("c", "key", nil, nil)},
	"roles":   {planned("root", "reader", nil, nil), planned("c", "reader", nil, nil)},
	"rolebindings": {with(planned("root", "readers", nil, nil), map[string]any{
		"subjects": []any{map[string]any{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "u"}},
		"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
	})},
	"resourcequotas": {with(planned("b", "few", nil, nil), map[string]any{
		"spec": map[string]any{"hard": map[string]any{"count/configmaps": "1"}}, "status": map[string]any{"hard": map[string]any{"count/configmaps": "1"}},
	})},
}

func planned(namespace, name string, annotations, labels map[string]any) map[string]any {
	return map[string]any{"metadata": map[string]any{
		"namespace": namespace, "name": name, "uid": namespace + "-" + name, "resourceVersion": "1", "annotations": annotations, "labels": labels,
	}}
}

func with(object, fields map[string]any) map[string]any {
	for field, value := range fields {
		object[field] = value
	}
	return object
}

// servePlannedCluster is serveCluster with plannedObjects.
func servePlannedCluster(w http.ResponseWriter, r *http.Request) {
	path := strings.Split(r.URL.Path, "/")
	objects, known := plannedObjects[path[len(path)-1]]
	if !known || r.Method != http.MethodGet || r.URL.Query().Get("watch") != "" {
		serveCluster(w, r)
		return
	}
	list := map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{"resourceVersion": "1"}}
	if strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata") {
		list["apiVersion"], list["kind"] = "meta.k8s.io/v1", "PartialObjectMetadataList"
	}
	items := []any{}
	for _, o := range objects {
		if len(path) < 3 || path[len(path)-3] != "namespaces" || path[len(path)-2] == o["metadata"].(map[string]any)["namespace"] {
			items = append(items, o)
		}
	}
	list["items"] = items
	respond(w, http.StatusOK, list)
}

// plannedForest is root > a > b with c beside it, and a configuration.
var plannedForest = []struct{ method, path, body string }{
	{http.MethodPatch, "hncconfigurations/config", `{"spec":{"resources":[{"resource":"configmaps","mode":"Propagate"},{"resource":"secrets","mode":"AllowPropagate","onConflict":"Keep"}],"rules":{"managedNamespaceLabels":["team"]}}}`},
	{http.MethodPost, "namespaces/root/hierarchies", `{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"Hierarchy","metadata":{"name":"hierarchy"},"spec":{"labels":[{"key":"team","value":"x"}],"allowCascadingDeletion":true}}`},
	{http.MethodPost, "namespaces/a/hierarchies", `{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"Hierarchy","metadata":{"name":"hierarchy"},"spec":{"parent":"root","propagation":[{"resource":"secrets","mode":"Ignore"}]}}`},
	{http.MethodPost, "namespaces/b/hierarchies", `{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"Hierarchy","metadata":{"name":"hierarchy"},"spec":{"parent":"a"}}`},
	{http.MethodPost, "namespaces/c/hierarchies", `{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"Hierarchy","metadata":{"name":"hierarchy"},"spec":{"abstractAncestors":["x","y"]}}`},
	{http.MethodPost, "namespaces/root/hierarchicalresourcequotas", `{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"HierarchicalResourceQuota","metadata":{"name":"q"},"spec":{"hard":{"count/configmaps":"1"}}}`},
}

// writtenAt is the time of a request in the managed fields of its answer.
var writtenAt = regexp.MustCompile(`"time":"[^"]*"`)

func timeless(answer string) string { return writtenAt.ReplaceAllString(answer, "") }

// FuzzPlan plans any change in a fixed forest, as a user with all permissions and as one without. No plan may panic,
// nor be an internal error, and two equal requests get equal plans, page by page.
func FuzzPlan(f *testing.F) {
	api := startAPIOn(f, servePlannedCluster)
	send(api, http.MethodPost, apiPath+"v1beta1/hncconfigurations", "application/json", "admin",
		[]byte(`{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"HNCConfiguration","metadata":{"name":"config"}}`))
	for _, step := range plannedForest {
		contentType := "application/json"
		if step.method == http.MethodPatch {
			contentType = "application/merge-patch+json"
		}
		// The rules of the configuration come into force after the answer.
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			response := send(api, step.method, apiPath+"v1beta1/"+step.path, contentType, "admin", []byte(step.body))
			if response.Code < 300 {
				break
			}
			if time.Now().After(deadline) {
				f.Fatalf("%s %s: %d %s", step.method, step.path, response.Code, response.Body)
			}
		}
	}
	for i := range fuzzNamespaces {
		for _, spec := range []string{
			`{"change":"Parent","parent":"root"}`, `{"change":"Parent"}`, `{"change":"Parent","parent":"c","limit":1}`, `{"change":"Parent","parent":"none"}`,
			`{"change":"Parent","parent":"a.b\u0000","limit":-1}`, `{"change":"Delete"}`, `{"change":"Delete","parent":"a","limit":5001}`,
			`{"change":"Propagation","resources":[{"resource":"secrets","mode":"Propagate"},{"group":"","resource":"configmaps","mode":"Remove","onConflict":"Keep"}],"limit":1}`,
			`{"change":"Propagation"}`,
			`{"change":"Configuration","resources":[{"resource":"secrets","mode":"Propagate"}]}`,
			`{"change":"Rules","rules":{"excludedNamespaces":["a"],"includedNamespaceRegex":"[abc]|root","excludedNamespaceSelector":{"matchExpressions":[{"key":"team","operator":"In","values":["x"]}]},"managedNamespaceLabels":["t.*"],"managedNamespaceAnnotations":["a/b"],"skippedObjects":[{"matchLabels":{"a":"b"}}],"droppedLabels":["a"],"droppedAnnotations":["a/b"],"stripTrackingMetadata":true}}`,
			`{"change":"Rules","rules":{"includedNamespaceRegex":"(a*)*$","managedNamespaceLabels":[".*",""]}}`, `{"change":"Rules","rules":{}}`, `{"change":"Rules"}`,
			`{"change":"AbstractAncestors","abstractAncestors":["x","root"],"limit":5000}`, `{"change":"AbstractAncestors","abstractAncestors":["","x","x","A"]}`,
			`{"change":"Parent","parent":"root","continue":"eyJuIjoiYSIsInciOjF9"}`, `{"change":"Parent","parent":"root","continue":"eyJuIjoieiIsInciOjk5OTk5OTl9"}`,
			`{"change":""}`, `{"change":"x","rules":{"stripTrackingMetadata":"x"}}`, `{"change":"Delete","limit":1e3}`, `null`, `[]`, `{}`,
		} {
			f.Add(uint8(i), []byte(spec))
		}
	}
	// Each looks a second for kinds that do not exist.
	f.Add(uint8(0), []byte(`{"change":"Propagation","resources":[{"resource":"nothing"},{"resource":"nothing"},{"group":"a/b","resource":"roles"}]}`))
	f.Add(uint8(3), []byte(`{"change":"Configuration","resources":[{"resource":"hierarchies","group":"hnc.x-k8s.io"}]}`))
	f.Fuzz(func(t *testing.T, which uint8, spec []byte) {
		path := apiPath + "v1beta1/namespaces/" + fuzzNamespaces[int(which)%len(fuzzNamespaces)] + "/hierarchies/hierarchy/plan"
		name := "admin"
		if which >= 128 {
			name = tenant
		}
		for range 20 {
			body := fmt.Appendf(nil, `{"apiVersion":"hnc.x-k8s.io/v1alpha3","kind":"HierarchyPlan","metadata":{"name":"hierarchy"},"spec":%s}`, spec)
			first := send(api, http.MethodPost, path, "application/json", name, body)
			if first.Code == http.StatusInternalServerError {
				t.Fatalf("%s: %d %s", body, first.Code, first.Body)
			}
			second := send(api, http.MethodPost, path, "application/json", name, body)
			if first.Code != second.Code || timeless(first.Body.String()) != timeless(second.Body.String()) {
				t.Fatalf("%s: %d %s, then %d %s", body, first.Code, first.Body, second.Code, second.Body)
			}
			var plan struct {
				Spec   map[string]any
				Status struct{ Continue string }
			}
			if first.Code >= 300 {
				return
			}
			if err := json.Unmarshal(first.Body.Bytes(), &plan); err != nil {
				t.Fatal(err)
			}
			if plan.Status.Continue == "" {
				return
			}
			plan.Spec["continue"] = plan.Status.Continue
			spec, _ = json.Marshal(plan.Spec)
		}
		t.Fatalf("more than 20 pages: %s", spec)
	})
}
