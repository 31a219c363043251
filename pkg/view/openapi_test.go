package view

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/endpoints/openapi"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
)

const (
	ownGroup     = "example.com.acme-12345.views.hnc.x-k8s.io"
	foreignGroup = "example.com.other-54321.views.hnc.x-k8s.io"
	openAPIProto = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
)

// identified are members that have a UID.
type identified struct{ fixed }

func (identified) UID(string) types.UID { return "12345-6" }

// ownerOf returns the handler of a view that may have groups for itself. The cluster has a kind Widget in some groups.
func ownerOf(upstream roundTrip, groups ...string) *Handler {
	known := map[schema.GroupVersionResource]kind{}
	for _, group := range groups {
		for _, resource := range []string{"widgets", "widgets/scale"} {
			known[schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource}] = kind{schema.GroupVersionKind{Group: group, Version: "v1", Kind: "Widget"}, true}
		}
	}
	kinds, members := &Kinds{known: known, refreshed: farFuture, groups: map[string]bool{}}, identified{}
	for _, group := range groups {
		kinds.groups[group] = true
	}
	return New(Config{
		Root: "acme", Server: &url.URL{Scheme: "https", Host: "cluster"}, Members: members, Kinds: kinds,
		Mapper: mapping.New(mapping.NewNames(mapping.Config{Root: "acme", Relative: true, Prefix: "acme-", Member: members.Has}),
			Groups("acme", members, kinds)),
		Caller: func(*http.Request) (*Connection, error) { return &Connection{Transport: upstream}, nil },
	})
}

// swagger returns an OpenAPI v2 document with a kind Widget in some groups, and with kinds that views do not serve.
// Models of other groups are described by filler.
func swagger(filler string, groups ...string) []byte {
	paths, models := map[string]any{}, map[string]any{}
	operation := func(group, model string) any {
		identifier := openapi.ToValidOperationID(group, true)
		return map[string]any{"get": map[string]any{
			"operationId": "read" + identifier + "V1NamespacedWidget", "tags": []any{identifier + "_v1"}, kindsExtension: map[string]any{"group": group, "kind": "Widget", "version": "v1"},
			"responses": map[string]any{"200": map[string]any{"description": "OK", "schema": map[string]any{"$ref": "#/definitions/" + model}}},
		}}
	}
	for _, group := range groups {
		model, base := modelsOf(group)+"v1.Widget", "/apis/"+group+"/v1/"
		for _, path := range []string{"widgets", "namespaces/{namespace}/widgets/{name}"} {
			paths[base+path] = operation(group, model)
		}
		paths[base+"namespaces/{namespace}/widgets/{name}/scale"] = operation("autoscaling", "io.k8s.api.autoscaling.v1.Scale")
		description := filler
		if group == ownGroup {
			description = "Its group is " + ownGroup + " in the cluster."
		}
		models[model] = map[string]any{
			"type": "object", "description": description, "properties": map[string]any{"spec": map[string]any{"type": "object"}},
			kindsExtension: []any{map[string]any{"group": group, "kind": "Widget", "version": "v1"}},
		}
		models[model+"List"] = map[string]any{"properties": map[string]any{"items": map[string]any{"type": "array", "items": map[string]any{"$ref": "#/definitions/" + model}}}}
	}
	for _, path := range []string{"/api/", "/api/v1/namespaces/{namespace}/pods", "/api/v1/persistentvolumes", "/apis/view.hnc.x-k8s.io/v1alpha1/"} {
		paths[path] = operation("", "io.k8s.api.core.v1.Pod")
	}
	models["io.k8s.api.core.v1.Pod"] = map[string]any{"type": "object", kindsExtension: []any{map[string]any{"group": "", "kind": "Pod", "version": "v1"}}}
	models["io.k8s.api.autoscaling.v1.Scale"] = map[string]any{"type": "object"}
	document, err := json.Marshal(map[string]any{
		"swagger": "2.0", "info": map[string]any{"title": "Kubernetes", "version": "v1"}, "paths": paths, "definitions": models,
		"parameters": map[string]any{"pretty": map[string]any{"in": "query", "name": "pretty", "type": "string"}},
	})
	if err != nil {
		panic(err)
	}
	return document
}

func toProto(t testing.TB, document []byte) []byte {
	t.Helper()
	parsed, err := openapi_v2.ParseDocument(document)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := proto.Marshal(parsed)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

func fromProto(t testing.TB, document []byte) *openapi_v2.Document {
	t.Helper()
	decoded := &openapi_v2.Document{}
	if err := proto.Unmarshal(document, decoded); err != nil {
		t.Fatal(err)
	}
	return decoded
}

// filterDocument reads and changes an OpenAPI v2 document as a view does.
func filterDocument(h *Handler, contentType string, document []byte) ([]byte, error) {
	whole := &kept{grow: func(int64) error { return nil }}
	if err := h.groupsOf().read(contentType, bytes.NewReader(document), whole); err != nil {
		return nil, err
	}
	if contentType == openAPIProto {
		return h.filterOpenAPIProto(whole.document.Bytes())
	}
	return h.filterOpenAPIJSON(whole.document.Bytes())
}

// decodedAndFiltered filters the entries of a document in protobuf that is decoded, for a view without groups of its
// own.
func decodedAndFiltered(h *Handler, whole *openapi_v2.Document) {
	if whole.Paths != nil {
		whole.Paths.Path = slices.DeleteFunc(whole.Paths.Path, func(p *openapi_v2.NamedPathItem) bool {
			_, ok := h.groupsOf().path(p.GetName())
			return !ok || !h.servesPath(p.GetName())
		})
	}
	if whole.Definitions != nil {
		whole.Definitions.AdditionalProperties = slices.DeleteFunc(whole.Definitions.AdditionalProperties, func(m *openapi_v2.NamedSchema) bool {
			return strings.HasPrefix(m.GetName(), "io.x-k8s.hnc.views.")
		})
	}
}

// namesIn returns the names of the paths and the models of a document.
func namesIn(whole *openapi_v2.Document) (paths, models []string) {
	for _, p := range whole.GetPaths().GetPath() {
		paths = append(paths, p.GetName())
	}
	for _, m := range whole.GetDefinitions().GetAdditionalProperties() {
		models = append(models, m.GetName())
	}
	return paths, models
}

// A view shows its own kinds under their names, in place of those that the cluster has, and none of another view.
func TestOpenAPIShowsTheGroupsOfTheView(t *testing.T) {
	groups := []string{"apps", "example.com", "sub.example.com", ownGroup, foreignGroup}
	h, document := ownerOf(nil, groups...), swagger("", groups...)
	filtered, err := filterDocument(h, "application/json", document)
	if err != nil {
		t.Fatal(err)
	}
	inJSON := fromProto(t, toProto(t, filtered))
	filtered, err = filterDocument(h, openAPIProto, toProto(t, document))
	if err != nil {
		t.Fatal(err)
	}
	inProto := fromProto(t, filtered)
	if !proto.Equal(inJSON, inProto) {
		t.Errorf("the document in JSON is\n%v\nand in protobuf\n%v", inJSON, inProto)
	}
	wantPaths, wantModels := []string{"/api/", "/api/v1/namespaces/{namespace}/pods"}, []string{"io.k8s.api.autoscaling.v1.Scale", "io.k8s.api.core.v1.Pod"}
	for _, group := range []string{"apps", "example.com", "sub.example.com"} {
		for _, path := range []string{"widgets", "namespaces/{namespace}/widgets/{name}", "namespaces/{namespace}/widgets/{name}/scale"} {
			wantPaths = append(wantPaths, "/apis/"+group+"/v1/"+path)
		}
		wantModels = append(wantModels, modelsOf(group)+"v1.Widget", modelsOf(group)+"v1.WidgetList")
	}
	paths, models := namesIn(inProto)
	for name, test := range map[string][2][]string{"paths": {paths, wantPaths}, "models": {models, wantModels}} {
		got, want := test[0], test[1]
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("the %s are %v, want %v", name, got, want)
		}
	}
	text := strings.ReplaceAll(inProto.String(), "Its group is "+ownGroup, "")
	for _, foreign := range []string{"acme-12345", "other-54321", "Acme12345"} {
		if strings.Contains(text, foreign) {
			t.Errorf("%s is in %s", foreign, text)
		}
	}
	for _, p := range inProto.GetPaths().GetPath() {
		if get := p.GetValue().GetGet(); p.GetName() == "/apis/example.com/v1/widgets" && (get.GetOperationId() != "readExampleComV1NamespacedWidget" || get.GetTags()[0] != "ExampleCom_v1") {
			t.Errorf("the operation is %v", get)
		}
	}
	for _, m := range inProto.GetDefinitions().GetAdditionalProperties() {
		if m.GetName() != "com.example.v1.Widget" {
			continue
		}
		if kinds := m.GetValue().GetVendorExtension()[0].GetValue().GetYaml(); kinds != "- group: example.com\n  kind: Widget\n  version: v1\n" {
			t.Errorf("the kinds of the own model are %s", kinds)
		}
		if got := m.GetValue().GetDescription(); got != "Its group is "+ownGroup+" in the cluster." {
			t.Errorf("it is described as %s", got)
		}
	}
}

// FuzzDocuments checks that entries are left out as from a document that is decoded.
func FuzzDocuments(f *testing.F) {
	document := swagger("x", "apps", "example.com", foreignGroup)
	f.Add(document, false)
	f.Add(toProto(f, document), true)
	f.Add([]byte(`{"kind":"APIGroupList","groups":[{"name":"apps"},{"name":"`+foreignGroup+`"}]}`), false)
	f.Add([]byte(`{"paths":null,"items":[],"components":{"schemas":{"io.x-k8s.hnc.views.a":1}},"definitions":2.5}`), false)
	h := ownerOf(nil, "apps", "example.com", foreignGroup)
	f.Fuzz(func(t *testing.T, document []byte, inProto bool) {
		if inProto {
			whole := &openapi_v2.Document{}
			if proto.Unmarshal(document, whole) != nil {
				return
			}
			filtered, err := filterDocument(h, openAPIProto, document)
			if err != nil || strings.Contains(string(document), "acme-12345") {
				return
			}
			decodedAndFiltered(h, whole)
			got := fromProto(t, filtered)
			paths, models := namesIn(got)
			wantPaths, wantModels := namesIn(whole)
			if !slices.Equal(paths, wantPaths) || !slices.Equal(models, wantModels) ||
				!proto.Equal(&openapi_v2.Paths{Path: got.GetPaths().GetPath()}, &openapi_v2.Paths{Path: whole.GetPaths().GetPath()}) ||
				!proto.Equal(&openapi_v2.Definitions{AdditionalProperties: got.GetDefinitions().GetAdditionalProperties()}, &openapi_v2.Definitions{AdditionalProperties: whole.GetDefinitions().GetAdditionalProperties()}) {
				t.Errorf("%q becomes\n%v, want\n%v", document, got, whole)
			}
			return
		}
		var want, got any
		if json.Unmarshal(document, &want) != nil {
			return
		}
		var copied bytes.Buffer
		if err := copyJSON(bytes.NewReader(document), &copied, func(_, name string, entry []byte) (string, []byte, error) { return name, entry, nil }); err != nil {
			t.Fatalf("%q: %v", document, err)
		}
		if err := json.Unmarshal(copied.Bytes(), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is copied as %q: %v", document, copied.Bytes(), err)
		}
		filtered, err := filterDocument(h, "application/json", document)
		if err == nil && !json.Valid(filtered) {
			t.Errorf("%q becomes %q", document, filtered)
		}
	})
}

// What tenants add to the documents of the cluster is not kept for a view of another one.
func TestOtherViewsNeedNoMemoryInDocuments(t *testing.T) {
	const others = 300
	groups := []string{"apps", ownGroup}
	for i := range others {
		groups = append(groups, fmt.Sprintf("g%d.%s", i, foreignGroup))
	}
	document := swagger(strings.Repeat("x", 100<<10), groups...)
	aggregated := `{"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"apps"},"versions":[{"version":"v1","resources":[{"resource":"widgets","scope":"Namespaced","verbs":["get"]}]}]}`
	for _, group := range groups[2:] {
		aggregated += `,{"metadata":{"name":"` + group + `"},"versions":[{"version":"` + strings.Repeat("x", 100<<10) + `"}]}`
	}
	for name, test := range map[string]struct {
		path, contentType string
		document          []byte
	}{
		"OpenAPI in JSON":     {"/openapi/v2", "application/json", document},
		"OpenAPI in protobuf": {"/openapi/v2", openAPIProto, toProto(t, document)},
		"discovery":           {"/apis", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", []byte(aggregated + "]}")},
	} {
		t.Run(name, func(t *testing.T) {
			h := ownerOf(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {test.contentType}}, Body: io.NopCloser(bytes.NewReader(test.document))}, nil
			}, groups...)
			b := &counted{release: func() {}}
			h.Budget = b
			r := httptest.NewRequest(http.MethodGet, test.path, nil)
			r.Header.Set("Accept", test.contentType)
			w := httptest.NewRecorder()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			h.ServeHTTP(w, r)
			runtime.ReadMemStats(&after)
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "apps") || strings.Contains(w.Body.String(), "other-54321") {
				t.Errorf("got %d %.1000s", w.Code, w.Body)
			}
			if allocated := after.TotalAlloc - before.TotalAlloc; len(test.document) < others*100<<10 || allocated > 4<<20 || b.documents > 1<<20 {
				t.Errorf("a document of %d bytes needs %d, of which %d are counted", len(test.document), allocated, b.documents)
			}
		})
	}
}

func TestDocumentsOfOtherViewsAreNotRead(t *testing.T) {
	h := ownerOf(func(r *http.Request) (*http.Response, error) {
		t.Errorf("requested %s", r.URL)
		return nil, io.EOF
	}, ownGroup, foreignGroup)
	for _, path := range []string{"/openapi/v3/apis/" + foreignGroup + "/v1", "/openapi/v3/apis/" + ownGroup + "/v1", "/apis/" + foreignGroup, "/apis/" + foreignGroup + "/v1",
		"/openapi/v3/apis/" + foreignGroup + mapping.ExternalSuffix + "/v1", "/apis/" + foreignGroup + mapping.ExternalSuffix, "/apis/" + ownGroup + mapping.ExternalSuffix + "/v1"} {
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil)); w.Code != http.StatusNotFound {
			t.Errorf("%s: got %d %s", path, w.Code, w.Body)
		}
	}
}

// The suffix of what is outside of the view does not lead to a group of another view, or to an own one.
func TestGroupsOfViewsHaveNoOtherName(t *testing.T) {
	h := ownerOf(func(r *http.Request) (*http.Response, error) {
		t.Errorf("requested %s", r.URL)
		return nil, io.EOF
	}, ownGroup, foreignGroup)
	for _, group := range []string{foreignGroup, ownGroup, foreignGroup + mapping.ExternalSuffix, ownGroup + mapping.ExternalSuffix} {
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/apis/"+group+"/v1/widgets", nil)); w.Code != http.StatusNotFound {
			t.Errorf("%s: got %d %s", group, w.Code, w.Body)
		}
		asked := authorizationv1.ResourceAttributes{Group: group, Version: "v1", Resource: "widgets", Verb: "get"}
		if why, err := h.mapAttributes(&call{}, &asked); err != nil || why == "" || asked.Group != group {
			t.Errorf("%s: the answer is no because of %q %v; asked for %s", group, why, err, asked.Group)
		}
	}
	for shown, want := range map[string]string{"example.com": ownGroup, "cert-manager.io": "cert-manager.io", "cert-manager.io.external": "cert-manager.io", "": ""} {
		if realGroup, ok := h.realGroup(shown); !ok || realGroup != want {
			t.Errorf("%s means %s, %t", shown, realGroup, ok)
		}
	}
}

func TestDocumentsThatAreCutOffAreUnavailable(t *testing.T) {
	whole := swagger("", "apps", ownGroup)
	inProto := toProto(t, whole)
	for name, test := range map[string]struct {
		contentType string
		document    []byte
	}{
		"JSON in an entry":      {"application/json", []byte(`{"paths":{"/api/":{"get"`)},
		"JSON between entries":  {"application/json", []byte(`{"paths":{"/api/":{}`)},
		"JSON before its end":   {"application/json", whole[:len(whole)-1]},
		"nothing":               {"application/json", nil},
		"protobuf in a field":   {openAPIProto, inProto[:len(inProto)-1]},
		"protobuf in a section": {openAPIProto, inProto[:len(inProto)/2]},
	} {
		h := ownerOf(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {test.contentType}}, Body: io.NopCloser(bytes.NewReader(test.document))}, nil
		}, "apps", ownGroup)
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/openapi/v2", nil)); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" {
			t.Errorf("%s: got %d %.300s", name, w.Code, w.Body)
		}
	}
}

func TestDocumentsThatAreTooLargeAreUnavailable(t *testing.T) {
	h := ownerOf(func(*http.Request) (*http.Response, error) {
		entries := io.MultiReader(strings.NewReader(`{"definitions":{"a":"`), io.LimitReader(spaces{}, maxDocument), strings.NewReader(`"}}`))
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(entries)}, nil
	})
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/openapi/v2", nil)); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" {
		t.Errorf("got %d %.300s", w.Code, w.Body)
	}
}

// spaces are without end.
type spaces struct{}

func (spaces) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}

// An entry takes memory before it is known whether it is kept.
func TestEntriesCountWhileTheyAreRead(t *testing.T) {
	const most, size = 1 << 20, 16 << 20
	model := "io.x-k8s.hnc.views." + strings.Repeat("x", size)
	inJSON := []byte(`{"swagger":"2.0","paths":{},"definitions":{"io.x-k8s.hnc.views.a":{"description":"` + model + `"}}}`)
	entry := protowire.AppendString(protowire.AppendTag(nil, entryName, protowire.BytesType), model)
	inProto := appendField(nil, documentDefinitions, appendField(nil, 1, entry))
	for contentType, document := range map[string][]byte{"application/json": inJSON, openAPIProto: inProto} {
		exceeded, counted, from := errors.New("exceeded"), int64(0), bytes.NewReader(document)
		whole := &kept{grow: func(bytes int64) error {
			if bytes > most {
				return exceeded
			}
			counted = bytes
			return nil
		}}
		err := ownerOf(nil, "apps").groupsOf().read(contentType, from, whole)
		if read := len(document) - from.Len(); !errors.Is(err, exceeded) || read > 2*most {
			t.Errorf("%s: got %v after %d bytes", contentType, err, read)
		}
		if counted == 0 {
			t.Errorf("%s: nothing was counted before", contentType)
		}
	}
	// What is kept beside the largest entry counts as well.
	var counted int64
	whole := &kept{grow: func(bytes int64) error { counted = bytes; return nil }}
	if err := whole.hold(10); err != nil {
		t.Fatal(err)
	}
	if _, err := whole.Write(make([]byte, 5)); err != nil || counted != 15 {
		t.Errorf("got %d, %v", counted, err)
	}
}
