package view

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/rbac"
)

const (
	yamlType, protobufType, jsonPatchType = "application/yaml", "application/vnd.kubernetes.protobuf", "application/json-patch+json"
	strategicType, applyType              = "application/strategic-merge-patch+json", "application/apply-patch+yaml"

	rolesPath       = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
	bindingsPath    = "/apis/rbac.authorization.k8s.io/v1/namespaces/x/rolebindings"
	reviewsPath     = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
	podsPath        = "/api/v1/namespaces/x/pods"
	definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
)

// sendBody sends a body to a view that has the sub-namespace x, and returns how many requests the view has sent.
//
// A Budget that is an *encoded also gets the largest body of a request of the view.
func sendBody(t *testing.T, b Budget, method, path, contentType, body string) (w *httptest.ResponseRecorder, sent int) {
	h := relative(t, func(r *http.Request) (*http.Response, error) {
		sent++
		if b, ok := b.(*encoded); ok && r.Body != nil {
			body, _ := io.ReadAll(r.Body)
			b.largest = max(b.largest, len(body))
		}
		if user, ok := b.(*perUser); ok && r.Method != http.MethodGet {
			user.sending = max(user.sending, user.bytes)
		}
		switch {
		case strings.Contains(r.URL.Path, "/subnamespaces"):
			return answer(subnamespace), nil
		case strings.HasSuffix(r.URL.Path, "/namespaces/acme-x"):
			return answer(annotated(0)), nil
		}
		return answer(`{"kind":"Role","metadata":{"name":"view:acme:x","resourceVersion":"1"}}`), nil
	})
	known := maps.Clone(someKinds)
	known[definitions.WithVersion("v1")] = kind{mapping.Definition, false}
	h.Budget, h.Kinds, h.Members = b, &Kinds{known: known, refreshed: farFuture}, fixed{"acme-x": {Present: t.Context(), Parent: "acme", Subnamespace: true}}
	r := httptest.NewRequest(method, path+"?dryRun=All", strings.NewReader(body)) // which awaits nothing
	r.Header.Set("Content-Type", contentType)
	w = httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w, sent
}

// What is decoded and encoded again takes many times the size of the text that the client sends.
func TestDecodedBodiesAreCounted(t *testing.T) {
	const n = 4000
	rules := `{"metadata":{"name":"x"},"rules":[` + strings.Repeat(`{"verbs":["get"]},`, n) + `{}]}`
	subjects := `"subjects":[` + strings.Repeat(`{"kind":"User","name":"u"},`, n) + `{}]`
	unknown := `{"metadata":{"name":"x","labels":{"l":"v"}},"x":[` + strings.Repeat(`0,`, n) + `0]}`
	inYAML := "metadata: {name: x, labels: {l: v}}\nx:\n" + strings.Repeat("- 0\n", n)
	inProtobuf := "k8s\x00" + strings.Repeat("\x00", 2*n)
	role := rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "x"}, Rules: make([]rbacv1.PolicyRule, n)}
	message, err := role.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	roleInProtobuf := string(inEnvelope(t, "rbac.authorization.k8s.io/v1", "ClusterRole", message))
	for _, test := range []struct{ method, path, contentType, body string }{
		{http.MethodPost, rolesPath, "application/json", rules},
		{http.MethodPost, rolesPath, yamlType, inYAML},
		{http.MethodPost, rolesPath, protobufType, roleInProtobuf},
		{http.MethodPut, rolesPath + "/x", "application/json", rules},
		{http.MethodPatch, rolesPath + "/x", applyType, rules},
		{http.MethodPatch, rolesPath + "/x", mergePatch, rules},
		{http.MethodPost, bindingsPath, "application/json", `{"metadata":{"name":"x"},"roleRef":{"kind":"ClusterRole","name":"x"},` + subjects + "}"},
		{http.MethodPatch, bindingsPath + "/x", mergePatch, "{" + subjects + "}"},
		{http.MethodPatch, bindingsPath + "/x", jsonPatchType, "[" + strings.Repeat(`{"op":"remove","path":"/a"},`, n) + `{"op":"remove","path":"/a"}]`},
		{http.MethodPost, "/api/v1/namespaces", "application/json", unknown},
		{http.MethodPost, "/api/v1/namespaces", protobufType, inProtobuf},
		{http.MethodPut, "/api/v1/namespaces/x", yamlType, inYAML},
		{http.MethodPatch, "/api/v1/namespaces/x", mergePatch, unknown},
		{http.MethodPatch, "/api/v1/namespaces/x", strategicType, unknown},
		{http.MethodPatch, "/api/v1/namespaces/x", applyType, inYAML},
		{http.MethodDelete, "/api/v1/namespaces/x", "application/json", unknown},
		{http.MethodPost, reviewsPath, "application/json", unknown},
		{http.MethodPost, reviewsPath, yamlType, inYAML},
		{http.MethodPost, reviewsPath, protobufType, inProtobuf},
		{http.MethodPost, podsPath, yamlType, inYAML},
		{http.MethodPatch, podsPath + "/x", applyType, inYAML},
		{http.MethodPatch, podsPath + "/x", applyType, unknown},
		{http.MethodPost, definitionsPath, yamlType, inYAML},
	} {
		b := &perUser{}
		w, _ := sendBody(t, b, test.method, test.path, test.contentType, test.body)
		if b.most < n*rbac.ValueSize || b.bytes != 0 {
			t.Errorf("%s %s as %s: got %d %.300s; %d bytes are counted, and %d are left", test.method, test.path, test.contentType, w.Code, w.Body, b.most, b.bytes)
		}
		// Others are decoded to be translated only, and then sent as text.
		asText := strings.HasPrefix(test.path, podsPath) || test.path == reviewsPath || test.path == definitionsPath
		if w.Code < http.StatusMultipleChoices && (b.sending < n*rbac.ValueSize) != asText {
			t.Errorf("%s %s as %s: got %d %.300s; %d bytes are counted while it is sent", test.method, test.path, test.contentType, w.Code, w.Body, b.sending)
		}
		if w, sent := sendBody(t, full{}, test.method, test.path, test.contentType, test.body); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "1" || sent > 0 {
			t.Errorf("%s %s as %s without memory: got %d %.300s; %d requests are sent", test.method, test.path, test.contentType, w.Code, w.Body, sent)
		}
	}
	if w, sent := sendBody(t, full{}, http.MethodPost, podsPath, "application/json", unknown); sent != 1 {
		t.Errorf("JSON that is not decoded: got %d %.300s", w.Code, w.Body)
	}
}

// What is written may take all that its user can have of the memory, and kube-apiserver may take its time.
func TestBodiesThatAreSentAreNotCounted(t *testing.T) {
	const n = 30_000
	body := `{"metadata":{"name":"y"},"x":[` + strings.Repeat(`0,`, n) + `0]}`
	role := `{"kind":"Role","metadata":{"name":"view:acme:y"},"rules":[{"verbs":["` + strings.Repeat("x", 8<<20) + `"]}]}`
	for _, test := range []struct{ method, path, written, read string }{
		{http.MethodPut, rolesPath + "/y", role, ""},
		{http.MethodPost, "/api/v1/namespaces", `{"kind":"Subnamespace"}`, `{"kind":"Namespace"}`},
	} {
		b := &perUser{}
		h := relative(t, func(r *http.Request) (*http.Response, error) {
			if r.Method != http.MethodGet {
				return answer(test.written), nil
			}
			if b.bytes >= n*rbac.ValueSize {
				t.Errorf("%s %s: %d bytes are counted after it is sent", test.method, test.path, b.bytes)
			}
			return answer(test.read), nil
		})
		h.Budget = b
		r := httptest.NewRequest(test.method, test.path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code >= http.StatusMultipleChoices || b.most < n*rbac.ValueSize || b.bytes != 0 {
			t.Errorf("%s %s: got %d %.300s; %d bytes are counted, and %d are left", test.method, test.path, w.Code, w.Body, b.most, b.bytes)
		}
	}
}

// Short names of namespaces in a body become long ones, and what decodes it after that counts these.
func TestRolesAreCountedAsTheyAreSent(t *testing.T) {
	b := &perUser{}
	body := `{"metadata":{"name":"x","annotations":{"hnc.x-k8s.io/ancestry":"` + strings.Repeat("a.", 1<<18) + `a"}}}`
	if w, _ := sendBody(t, b, http.MethodPost, rolesPath, "application/json", body); b.sending < int64(3*copiesOfBody*len(body)) || b.bytes != 0 {
		t.Errorf("got %d %.300s; of %d bytes, %d are counted, and %d are left", w.Code, w.Body, len(body), b.sending, b.bytes)
	}
}

// encoded is a budget that remembers the size of the largest body that is sent.
type encoded struct {
	unlimited
	largest int
}

// json.Marshal makes six bytes of some characters, which nothing counts, and a text within a text has seven.
func TestTextsDoNotGrowWhenTheyAreEncoded(t *testing.T) {
	const n = 100 << 10
	long := strings.Repeat("<", n)
	rule := func(verb string) string {
		return `{"metadata":{"name":"x"},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["` + verb + `"]},{"nonResourceURLs":["/x"],"verbs":["get"]}]}`
	}
	namespace := func(field, text string) string {
		return `{"metadata":{"name":"x","` + field + `":{"a":"` + text + `"}}}`
	}
	for _, test := range []struct{ method, path, body string }{
		{http.MethodPost, rolesPath, rule(long)},
		{http.MethodPost, bindingsPath, `{"metadata":{"name":"x"},"roleRef":{"kind":"ClusterRole","name":"x"},"subjects":[{"kind":"User","name":"` + long + `"}]}`},
		{http.MethodPatch, bindingsPath + "/x", `{"subjects":[{"kind":"User","name":"` + long + `"}]}`},
		{http.MethodPost, reviewsPath, `{"spec":{"resourceAttributes":{"namespace":"x","verb":"` + long + `"}}}`},
	} {
		b, contentType := &encoded{}, "application/json"
		if test.method == http.MethodPatch {
			contentType = mergePatch
		}
		if w, _ := sendBody(t, b, test.method, test.path, contentType, test.body); b.largest < n || b.largest > 3*n {
			t.Errorf("%s %s: got %d %.300s; %d bytes are sent", test.method, test.path, w.Code, w.Body, b.largest)
		}
	}
	for path, bodies := range map[string][]string{
		rolesPath:            {rule(strings.Repeat("<", 300<<10))},
		"/api/v1/namespaces": {namespace("annotations", strings.Repeat("<", 300<<10)), namespace("labels", strings.Repeat("<", 300<<10))},
	} {
		for _, body := range bodies {
			if w, sent := sendBody(t, unlimited{}, http.MethodPost, path, "application/json", body); w.Code != http.StatusRequestEntityTooLarge || sent > 0 {
				t.Errorf("%s: got %d %.300s; %d requests are sent", path, w.Code, w.Body, sent)
			}
		}
	}
}

// The stack of a goroutine that decodes ten thousand levels has many megabytes.
func TestDeepBodiesAreRejected(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 1001) + "0" + strings.Repeat("}", 1001)
	inYAML := "# not JSON\n" + deep
	for _, test := range []struct{ method, path, contentType, body string }{
		{http.MethodPost, rolesPath, "application/json", deep},
		{http.MethodPatch, rolesPath + "/x", applyType, deep},
		{http.MethodPost, "/api/v1/namespaces", yamlType, inYAML},
		{http.MethodPatch, "/api/v1/namespaces/x", mergePatch, deep},
		{http.MethodPatch, "/api/v1/namespaces/x", applyType, inYAML},
		{http.MethodPost, reviewsPath, yamlType, inYAML},
		{http.MethodPost, podsPath, yamlType, inYAML},
		{http.MethodPatch, podsPath + "/x", applyType, deep},
	} {
		if w, _ := sendBody(t, unlimited{}, test.method, test.path, test.contentType, test.body); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "more than 1000 levels; use fewer") {
			t.Errorf("%s %s as %s: got %d %.300s", test.method, test.path, test.contentType, w.Code, w.Body)
		}
	}
}
