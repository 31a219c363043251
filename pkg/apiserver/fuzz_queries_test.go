package apiserver_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// fuzzedPaths are where names are used. Each asterisk is the name.
var fuzzedPaths = []struct{ method, path, body string }{
	{http.MethodGet, "/apis/hnc.x-k8s.io/v1beta1/namespaces/*/hierarchies/hierarchy/tree", ""},
	{http.MethodGet, "/apis/hnc.x-k8s.io/v1alpha3/mynamespaces/*", ""},
	{http.MethodGet, "/apis/hnc.x-k8s.io/v1alpha3/mynamespaces", ""},
	{http.MethodGet, "/apis/hnc.x-k8s.io/v1beta1/hierarchies", ""},
	{http.MethodGet, "/apis/hnc.x-k8s.io/v1alpha2/namespaces/*/subnamespaceanchors", ""},
	{http.MethodGet, "/apis/hnc.x-k8s.io/v1alpha3/namespaces/a/overwrittenobjects", ""},
	{http.MethodGet, "/apis/resources.hnc.x-k8s.io/v1alpha2/namespaces/root/*", ""},
	{http.MethodGet, "/apis/resources.hnc.x-k8s.io/v1alpha2/namespaces/*/secrets", ""},
	{http.MethodPost, "/apis/hnc.x-k8s.io/v1beta1/namespaces/root/subnamespaces", `{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"Subnamespace","metadata":{"name":"*"}}`},
	{http.MethodPost, "/apis/hnc.x-k8s.io/v1alpha2/namespaces/root/subnamespaceanchors/*", `{"apiVersion":"hnc.x-k8s.io/v1alpha2","kind":"SubnamespaceAnchor","metadata":{"name":"*"}}`},
	{http.MethodPost, "/apis/hnc.x-k8s.io/v1beta1/namespaces/*/hierarchicalresourcequotas", `{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"HierarchicalResourceQuota","metadata":{"name":"*"},"spec":{"hard":{"pods":"1"}}}`},
	{http.MethodPost, "/apis/hnc.x-k8s.io/v1beta1/namespaces/c/hierarchies", `{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"Hierarchy","metadata":{"name":"hierarchy"},"spec":{"parent":"*","requiredChildren":["*"]}}`},
	{http.MethodPost, "/apis/hnc.x-k8s.io/v1beta1/namespaces/c/hierarchies", `{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"Hierarchy","metadata":{"name":"hierarchy"},"spec":{"abstractAncestors":["*"],"labels":[{"key":"*","value":"*"}]}}`},
	{http.MethodPost, "/apis/hnc.x-k8s.io/v1beta1/namespaces/a/hierarchies/hierarchy/plan", `{"apiVersion":"hnc.x-k8s.io/v1alpha3","kind":"HierarchyPlan","metadata":{"name":"hierarchy"},"spec":{"change":"Parent","parent":"*"}}`},
	{http.MethodDelete, "/apis/hnc.x-k8s.io/v1beta1/namespaces/*/hierarchies/hierarchy", ""},
}

// FuzzNamesAndQueries uses any name, and any query, in requests to the whole server: selectors, limits, tokens,
// revisions and the rest. Nothing may panic, nor be an internal error.
func FuzzNamesAndQueries(f *testing.F) {
	api := startAPI(f)
	for i := range fuzzedPaths {
		for _, seed := range [][2]string{
			{"a", ""}, {"b", "dryRun=All&fieldManager=f&fieldValidation=Strict"}, {"", "limit=1&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0"},
			{"..", "watch=1&resourceVersion=0&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"},
			{"a.b", "labelSelector=a+in+(b),!c&fieldSelector=metadata.name%3Da,spec.parent!%3Db"}, {"secrets", "resourceVersion=1&resourceVersionMatch=Exact"},
			{"configmaps", "follow=true&limit=-1&timeoutSeconds=1"}, {"A\x00\"", "resourceVersion=x&limit=99999999999999999999&labelSelector=%00"},
			{"hierarchy", "gracePeriodSeconds=-1&propagationPolicy=x&orphanDependents=true&pretty=1&includeObject=None"},
		} {
			f.Add(uint8(i), seed[0], seed[1])
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, name, query string) {
		request := fuzzedPaths[int(which)%len(fuzzedPaths)]
		quoted, _ := json.Marshal(name)
		body := strings.ReplaceAll(request.body, "*", strings.Trim(string(quoted), `"`))
		// As net/http decodes it.
		path, err := url.PathUnescape(strings.ReplaceAll(request.path, "*", name))
		if err != nil {
			return
		}
		requester := "admin"
		if which >= 128 {
			requester = tenant
		}
		response := send(api, request.method, path+"?"+query, "application/json", requester, []byte(body))
		if response.Code == http.StatusInternalServerError && !strings.Contains(response.Body.String(), "context canceled") {
			t.Errorf("%s %s?%s: %d %s", request.method, path, query, response.Code, response.Body)
		}
		if response.Code >= 300 || request.method == http.MethodGet {
			return
		}
		if created := strings.TrimSuffix(path, "/"+name); request.body != "" {
			var object struct {
				Metadata struct{ Name string }
			}
			_ = json.Unmarshal(response.Body.Bytes(), &object)
			send(api, http.MethodDelete, created+"/"+object.Metadata.Name, "", "admin", nil)
		}
	})
}
