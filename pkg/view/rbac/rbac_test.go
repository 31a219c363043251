package rbac

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/yamlbody"
)

func scopes(resource string) map[string]bool {
	return map[string]map[string]bool{
		"pods": {"": true}, "nodes": {"": false, "metrics.k8s.io": false}, "namespaces": {"": false}, "clusterroles": {rbacv1.GroupName: false},
		"things": {"a": true, "b": false},
	}[resource]
}

func converter(resource string) *conversion {
	return &conversion{resource: resources[resource], names: NewNames("acme"), root: "acme", scopes: scopes, reserve: uncountedBytes}
}

func TestReferencesAreReversible(t *testing.T) {
	n := NewNames("acme")
	for _, test := range []struct{ kind, name, storedKind, stored string }{
		{"ClusterRole", "x", "Role", "view:acme:x"},
		{"ClusterRole", "view:acme:x", "Role", "view:acme:view:acme:x"},
		{"ClusterRole", "admin", "ClusterRole", "admin"},
		{"ClusterRole", "system:x", "ClusterRole", "system:x"},
		{"ClusterRole", "x.external", "ClusterRole", "x"},
		{"ClusterRole", "x.external.external", "ClusterRole", "x.external"},
		{"Role", "x", "Role", "x"},
		{"Role", "view:other:x", "Role", "view:other:x"},
		{"Role", "view:acme:", "Role", "view:acme:"},
		{"Role", "view:acme:admin", "Role", "view:acme:admin"},
		{"Role", "view:acme:x.external", "Role", "view:acme:x.external"},
	} {
		if kind, name := n.roleIn(test.kind, test.name); kind != test.storedKind || name != test.stored {
			t.Errorf("%s/%s is stored as %s/%s", test.kind, test.name, kind, name)
		}
		if kind, name := n.roleOut(test.storedKind, test.stored); kind != test.kind || name != test.name {
			t.Errorf("%s/%s is shown as %s/%s", test.storedKind, test.stored, kind, name)
		}
	}
}

// What a client reads it can write back, and nothing changes.
func TestWhatIsShownIsStoredAsItWas(t *testing.T) {
	for resource, body := range map[string]string{
		ClusterRoles: `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"x","annotations":{"a":"b"},"future":1,
			"ownerReferences":[{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","name":"y"},{"apiVersion":"v1","kind":"Pod","name":"p"}]},
			"rules":[{"apiGroups":[""],"resources":["nodes","pods/log","pods"],"verbs":["get"]},{"nonResourceURLs":["/x"],"verbs":["get"]},{"apiGroups":["b"],"resources":["things"],"verbs":["*"]},
			{"apiGroups":["a","b"],"resources":["things","unknown"],"verbs":["*"]},{"apiGroups":[""],"resources":["namespaces"],"verbs":["get"]}],"unknown":{"deep":[1]}}`,
		ClusterRoleBindings: `{"kind":"ClusterRoleBinding","metadata":{"name":"view:acme:y"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"x"},"subjects":[{"kind":"User","name":"u"}]}`,
		roleBindings:        `{"kind":"RoleBinding","metadata":{"name":"y","namespace":"acme-a"},"roleRef":{"kind":"ClusterRole","name":"x"}}`,
		roles:               `{"kind":"Role","metadata":{"name":"y","namespace":"acme-a","annotations":{"hnc.x-k8s.io/view-rules":"[]"}},"rules":[]}`,
	} {
		c := converter(resource)
		var before object
		if err := json.Unmarshal([]byte(body), &before); err != nil {
			t.Fatal(err)
		}
		stored := parse(t, body)
		_, err := c.in(stored)
		if err != nil {
			t.Fatalf("%s: %v", resource, err)
		}
		shown := shownAs(t, c, stored)
		if !reflect.DeepEqual(shown, before) {
			t.Errorf("%s: %s\nis shown as %s", resource, body, encode(t, shown))
		}
		_, err = c.in(shown)
		if err != nil || encode(t, shown) != encode(t, stored) {
			t.Errorf("%s: %v; %s\nis stored again as %s", resource, err, encode(t, stored), encode(t, shown))
		}
	}
}

// The annotation adds rules without effect, and nothing else: who reads the rules may write them back with more
// permissions than who has written the annotation.
func TestAnAnnotationAddsOnlyWhatHasNoEffect(t *testing.T) {
	c := converter(ClusterRoles)
	const rule = `{"verbs":["get"],"apiGroups":[""],"resources":["secrets"]}`
	for annotation, shown := range map[string]bool{
		`[{"verbs":["get"],"apiGroups":[""],"resources":["nodes","secrets"]}]`: true,
		`[{"verbs":["get"],"nonResourceURLs":["/x"]},` + rule + `]`:            true,
		`[]`:             false,
		`null`:           false,
		`{}`:             false,
		`[` + rule + `]`: false,
		`[{"verbs":["get"],"apiGroups":[""],"resources":["nodes"]}]`:                                                      false,
		`[{"verbs":["get"],"apiGroups":[""],"resources":["nodes","secrets","pods"]}]`:                                     false,
		`[` + rule + `,{"verbs":["*"],"apiGroups":[""],"resources":["pods"]},{"verbs":["get"],"nonResourceURLs":["/x"]}]`: false,
		`[{"verbs":["list"],"apiGroups":[""],"resources":["nodes","secrets"]}]`:                                           false,
		`[{"verbs":["get"],"Verbs":["*"],"apiGroups":[""],"resources":["nodes","secrets"]}]`:                              false,
		`[{"verbs":["get"],"apiGroups":["x"],"resources":["nodes","secrets"]}]`:                                           false,
		`[{"verbs":["get"],"apiGroups":[""],"resources":["nodes","secrets"],"resourceNames":["only"]}]`:                   false,
		// It takes many times its size when it is decoded.
		`[` + rule + strings.Repeat(`,{"verbs":["get"],"nonResourceURLs":["/x"]}`, yamlbody.MaxValues/6) + `]`: false,
	} {
		o := parse(t, `{"kind":"Role","metadata":{"name":"view:acme:x"},"rules":[`+rule+`]}`)
		child(o, "metadata")["annotations"] = object{"hnc.x-k8s.io/view-rules": annotation}
		o = shownAs(t, c, o)
		want := "[" + rule + "]"
		if shown {
			want = annotation
		}
		if got := encode(t, parse(t, `{"r":`+encode(t, o["rules"])+`}`)["r"]); got != encode(t, parse(t, `{"r":`+want+`}`)["r"]) {
			t.Errorf("%s: shown as %s", annotation, got)
		}
		if child(o, "metadata")["annotations"] != nil {
			t.Error("the annotation is shown")
		}
	}
}

// Only what nobody but the propagator can make is hidden outside of the root.
func TestOnlyCopiesAreHiddenInDescendants(t *testing.T) {
	c := converter(roleBindings)
	for metadata, shown := range map[string]bool{
		`{"name":"view:acme:x","namespace":"acme"}`:                                                     false,
		`{"name":"view:acme:x","namespace":"acme-a","labels":{"hnc.x-k8s.io/inherited-from":"acme"}}`:   false,
		`{"name":"view:acme:x","namespace":"acme-b","labels":{"hnc.x-k8s.io/inherited-from":"acme-a"}}`: true,
		`{"name":"view:acme:x","namespace":"acme-a"}`:                                                   true,
		`{"name":"x","namespace":"acme"}`:                                                               true,
		`{"resourceVersion":"1"}`:                                                                       true,
	} {
		if got := shownAs(t, c, object{"metadata": parse(t, metadata)}) != nil; got != shown {
			t.Errorf("%s is shown: %t", metadata, got)
		}
	}
}

// The time does not depend on the product of the groups and the resources of a rule.
func TestLargeRules(t *testing.T) {
	var rule rbacv1.PolicyRule
	for range 300_000 {
		rule.APIGroups = append(rule.APIGroups, "g")
		rule.Resources = append(rule.Resources, "nodes")
	}
	start := time.Now()
	effective([]rbacv1.PolicyRule{rule}, scopes)
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %s", took)
	}
}

func TestListsAndEvents(t *testing.T) {
	const items = `{"metadata":{"name":"view:acme:x","namespace":"acme"},"rules":[]},{"metadata":{"name":"view:other:y","namespace":"acme"}},{"metadata":{"name":"z","namespace":"acme","generation":9007199254740993}}`
	list := func(items string) string {
		return `{"kind":"RoleList","metadata":{"continue":"c"},"items":[` + items + `],"later":1}`
	}
	table := `{"kind":"Table","columnDefinitions":[],"rows":[{"cells":["view:acme:b","Role/view:acme:x"],"object":{"kind":"PartialObjectMetadata","metadata":{"name":"view:acme:b","namespace":"acme"}}},{"cells":["b","ClusterRole/x"],"object":{"metadata":{"name":"b","namespace":"acme"}}}]}`
	for _, test := range []struct{ resource, verb, in, want string }{
		{ClusterRoles, "list", list(items), `{"kind":"ClusterRoleList","metadata":{"continue":"c"},"items":[{"metadata":{"name":"x"},"rules":[]}],"later":1}`},
		{roles, "list", list(items), `{"kind":"RoleList","metadata":{"continue":"c"},"items":[{"metadata":{"name":"view:other:y","namespace":"acme"}},{"metadata":{"name":"z","namespace":"acme","generation":9007199254740993}}],"later":1}`},
		{roles, "list", list(""), list("")},
		{roles, "list", `{"items":null}`, `{"items":null}`},
		{roles, "list", `{}`, `{}`},
		{ClusterRoleBindings, "list", table, `{"kind":"Table","columnDefinitions":[],"rows":[{"cells":["b","ClusterRole/x"],"object":{"kind":"PartialObjectMetadata","metadata":{"name":"b"}}}]}`},
		{roleBindings, "list", table, `{"kind":"Table","columnDefinitions":[],"rows":[{"cells":["b","ClusterRole/x.external"],"object":{"metadata":{"name":"b","namespace":"acme"}}}]}`},
		{ClusterRoles, "watch", `{"type":"ADDED","object":{"kind":"Role","metadata":{"name":"view:acme:x"}}}{"type":"ADDED","object":{"kind":"Role","metadata":{"name":"x"}}} {"type":"BOOKMARK","object":{"kind":"Role","metadata":{"resourceVersion":"1"}}}`,
			`{"type":"ADDED","object":{"kind":"ClusterRole","metadata":{"name":"x"}}}` + "\n" + `{"type":"BOOKMARK","object":{"kind":"ClusterRole","metadata":{"resourceVersion":"1"}}}`},
		{ClusterRoleBindings, "watch", `{"type":"BOOKMARK","object":{"kind":"Table","rows":[{"cells":["",""],"object":{"metadata":{"resourceVersion":"1"}}}]}}`,
			`{"type":"BOOKMARK","object":{"kind":"Table","rows":[{"cells":["",""],"object":{"metadata":{"resourceVersion":"1"}}}]}}`},
		{ClusterRoleBindings, "watch", `{"type":"ADDED","object":` + table + `}`, `{"type":"ADDED","object":{"kind":"Table","columnDefinitions":[],"rows":[{"cells":["b","ClusterRole/x"],"object":{"kind":"PartialObjectMetadata","metadata":{"name":"b"}}}]}}`},
		{roles, "get", `{"kind":"Status","message":"roles.rbac.authorization.k8s.io \"view:acme:x\" not found","details":{"name":"view:acme:x","kind":"roles"}}`,
			`{"kind":"Status","message":"clusterroles.rbac.authorization.k8s.io \"x\" not found","details":{"name":"x","kind":"clusterroles"}}`},
		{ClusterRoles, "get", `{"kind":"Status","message":"roles.rbac.authorization.k8s.io is forbidden: User \"u\" cannot list resource \"roles\" in API group","details":{"kind":"roles"}}`,
			`{"kind":"Status","message":"clusterroles.rbac.authorization.k8s.io is forbidden: User \"u\" cannot list resource \"clusterroles\" in API group","details":{"kind":"clusterroles"}}`},
		{ClusterRoles, "list", `{"kind":"RoleList","metadata":{}`, "broken"},
		{ClusterRoles, "list", `{"kind":"RoleList","items":[{"metadata":{"name":"view:acme:x"}}`, "broken"},
		{roleBindings, "create", `{"kind":"Status","message":"rolebindings.rbac.authorization.k8s.io \"view:acme:x\" not found","details":{"name":"view:acme:x","kind":"rolebindings"}}`,
			`{"kind":"Status","message":"rolebindings.rbac.authorization.k8s.io \"x\" not found","details":{"name":"x","kind":"rolebindings"}}`},
	} {
		upstream := roundTrip(func(*http.Request) (*http.Response, error) { return response(http.StatusOK, test.in), nil })
		r, _ := http.NewRequest(http.MethodGet, "https://cluster/", nil)
		if test.verb == "create" {
			r.Body = io.NopCloser(strings.NewReader(`{"metadata":{"name":"b"}}`))
			r.Header.Set("Content-Type", "application/json")
		}
		got, err := Transport(Config{Root: "acme", Names: NewNames("acme"), Resource: test.resource, Verb: test.verb, Scopes: scopes, Reserve: uncountedBytes}, upstream).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(got.Body)
		if test.want == "broken" {
			if err == nil {
				t.Errorf("%s seems to be complete: %s", test.in, body)
			}
			continue
		}
		if err != nil || strings.TrimSpace(string(body)) != test.want {
			t.Errorf("%s %s: %v\ngot  %s\nwant %s", test.verb, test.resource, err, body, test.want)
		}
	}
}

// A generated name is complete, however long that of the root is, and the namespace that some charts set is ignored.
func TestGeneratedNames(t *testing.T) {
	c := converter(ClusterRoles)
	c.names = NewNames(strings.Repeat("r", 63))
	o := parse(t, `{"metadata":{"generateName":"`+strings.Repeat("g", 70)+`","namespace":"other"}}`)
	if _, err := c.in(o); err != nil {
		t.Fatal(err)
	}
	name, ok := c.names.Shown(text(child(o, "metadata"), "name"))
	if !ok || len(name) != 63 || !strings.HasPrefix(name, strings.Repeat("g", 58)) || child(o, "metadata")["generateName"] != nil || text(child(o, "metadata"), "namespace") != "acme" {
		t.Errorf("got %v", o)
	}
}

// A patch does not lose rules that are not shown.
func TestPatchesOfRulesThatAreNotKnown(t *testing.T) {
	upstream := roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodGet {
			t.Errorf("%s", r.Method)
		}
		return response(http.StatusOK, `{"kind":"Role","metadata":{"name":"view:acme:x","annotations":{"hnc.x-k8s.io/view-rules":"[{\"verbs\":[\"get\"],\"apiGroups\":[\"b\"],\"resources\":[\"gone\"]}]"}},"rules":[]}`), nil
	})
	r, _ := http.NewRequest(http.MethodPatch, "https://cluster/apis/rbac.authorization.k8s.io/v1/namespaces/acme/roles/view:acme:x", strings.NewReader(`{"metadata":{"labels":{"a":"b"}}}`))
	r.Header.Set("Content-Type", "application/merge-patch+json")
	_, err := Transport(Config{Root: "acme", Names: NewNames("acme"), Resource: ClusterRoles, Verb: "patch", Scopes: scopes, Reserve: uncountedBytes, ReserveCurrent: uncountedBytes}, upstream).RoundTrip(r)
	if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), `"x"`) {
		t.Errorf("got %v", err)
	}
}

// A patch is applied to the newest version, and does not take back what others have written.
func TestPatchesAreRepeatedAfterConflicts(t *testing.T) {
	version := 1
	for resourceVersion, want := range map[string]int{"": http.StatusOK, `"resourceVersion":null,`: http.StatusOK, `"resourceVersion":"0",`: http.StatusConflict} {
		puts := 0
		upstream := roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodGet {
				return response(http.StatusOK, `{"kind":"Role","metadata":{"name":"view:acme:x","uid":"u","resourceVersion":"`+string(rune('0'+version))+`"}}`), nil
			}
			if puts++; puts < 3 {
				version++
				return response(http.StatusConflict, `{"kind":"Status"}`), nil
			}
			body, _ := io.ReadAll(r.Body)
			if resourceVersion != `"resourceVersion":"0",` && !strings.Contains(string(body), `"resourceVersion":"`+string(rune('0'+version))+`","uid":"u"`) {
				t.Errorf("%s: the object is replaced whatever it is: %s", resourceVersion, body)
			}
			return response(http.StatusOK, string(body)), nil
		})
		r, _ := http.NewRequest(http.MethodPatch, "https://cluster/apis/rbac.authorization.k8s.io/v1/namespaces/acme/roles/view:acme:x", strings.NewReader(`{"metadata":{"uid":null,`+resourceVersion+`"labels":{"a":"b"}}}`))
		r.Header.Set("Content-Type", "application/merge-patch+json")
		got, err := Transport(Config{Root: "acme", Names: NewNames("acme"), Resource: ClusterRoles, Verb: "patch", Scopes: scopes, Reserve: uncountedBytes, ReserveCurrent: uncountedBytes}, upstream).RoundTrip(r)
		if err != nil || got.StatusCode != want {
			t.Errorf("%s: %v %v", resourceVersion, got, err)
		}
	}
}

func TestBodiesThatAreNotObjects(t *testing.T) {
	upstream := roundTrip(func(r *http.Request) (*http.Response, error) {
		t.Errorf("%s reaches kube-apiserver", r.Method)
		return response(http.StatusOK, "{}"), nil
	})
	for contentType, bodies := range map[string][]string{
		"application/json": {"", "null", "[]", "1", `{"metadata":1}`, `{"kind":"Role","metadata":{"name":"x"}}`, `{"metadata":{"name":"x"},"rules":{}}`,
			`{"metadata":{"name":"x"},"roleRef":{"kind":"ClusterRole","name":"a/../b"}}`, `{"metadata":{"name":"x"},"rules":[` + strings.Repeat("{},", 40_000) + `{}]}`, `{"metadata":{"name":"admin"}}`},
		"application/yaml":                    {"a: &a b\nc: *a", "- x"},
		"application/vnd.kubernetes.protobuf": {"k8s\x00", "k8s\x00" + strings.Repeat("\x12\x00", 200_000), "x", "a: &a b\nc: *a", `{"metadata":{"name":"x"}}`},
		"application/cbor":                    {"x"},
	} {
		for _, body := range bodies {
			r, _ := http.NewRequest(http.MethodPost, "https://cluster/", strings.NewReader(body))
			r.Header.Set("Content-Type", contentType)
			_, err := Transport(Config{Root: "acme", Names: NewNames("acme"), Resource: ClusterRoles, Verb: "create", Scopes: scopes, Reserve: uncountedBytes, ReserveCurrent: uncountedBytes}, upstream).RoundTrip(r)
			status := apierrors.APIStatus(nil)
			if !asStatus(err, &status) || status.Status().Code < 400 || status.Status().Code >= 500 {
				t.Errorf("%s %q: %v", contentType, body, err)
			}
		}
	}
}

// shownAs returns an object as it is in the view, nil if that does not show it.
func shownAs(t *testing.T, c *conversion, o object) object {
	t.Helper()
	shown, err := c.out(nil, []byte(encode(t, o)))
	if errors.Is(err, errHidden) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(shown))
}

func uncountedBytes(int64) (func(), error) { return func() {}, nil }

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func response(code int, body string) *http.Response {
	return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body))}
}

func asStatus(err error, status *apierrors.APIStatus) bool {
	s, ok := err.(apierrors.APIStatus)
	*status = s
	return ok
}

func parse(t *testing.T, text string) object {
	t.Helper()
	var o object
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return o
}

func encode(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What is kept of large responses is counted until it is written, and small ones are not.
func TestLargeResponsesAreCounted(t *testing.T) {
	large := `{"type":"ADDED","object":{"kind":"Role","metadata":{"name":"view:acme:x","labels":{"a":"` + strings.Repeat("x", 300_000) + `"}}}}`
	var most, counted int64
	reserve := func(bytes int64) (func(), error) {
		counted += bytes
		most = max(most, counted)
		return func() { counted -= bytes }, nil
	}
	upstream := roundTrip(func(*http.Request) (*http.Response, error) {
		return response(http.StatusOK, strings.Repeat(large, 5)+strings.Repeat(`{"type":"ADDED","object":{"kind":"Role","metadata":{"name":"view:acme:y"}}}`, 5)), nil
	})
	r, _ := http.NewRequest(http.MethodGet, "https://cluster/", nil)
	got, err := Transport(Config{Root: "acme", Names: NewNames("acme"), Resource: ClusterRoles, Verb: "watch", Scopes: scopes, Reserve: reserve}, upstream).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(got.Body)
	if err != nil || strings.Count(string(body), "\n") != 10 {
		t.Errorf("%v: %d events", err, strings.Count(string(body), "\n"))
	}
	if most < 4*300_000 || most > 2*copies*300_000 || counted != 0 {
		t.Errorf("at most %d bytes were counted, and %d are left", most, counted)
	}
	refuse := func(int64) (func(), error) { return nil, apierrors.NewTooManyRequests("later", 1) }
	got, err = Transport(Config{Root: "acme", Names: NewNames("acme"), Resource: ClusterRoles, Verb: "watch", Scopes: scopes, Reserve: refuse}, upstream).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(got.Body); !apierrors.IsTooManyRequests(err) {
		t.Errorf("without memory: %v", err)
	}
}

// What responds to a write is not decoded, which would take many times its size, and counts until its client has read it.
func TestResponsesToWritesAreCountedUntilTheyAreRead(t *testing.T) {
	many := func(before, each, after string) string {
		return before + strings.TrimSuffix(strings.Repeat(each+",", 50_000), ",") + after
	}
	rules := many(`"rules":[`, `{"verbs":[""],"apiGroups":[""],"resources":[""]}`, `]}`)
	annotation := strings.ReplaceAll(strings.TrimPrefix(strings.TrimSuffix(rules, "}"), `"rules":`), `"`, `\"`)
	owner := `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","name":"view:acme:x","uid":"u"}`
	for _, test := range []struct{ resource, method, verb, body string }{
		{roles, http.MethodPatch, "patch", `{"kind":"Role","metadata":{"name":"x","namespace":"acme"},` + rules},
		{roles, http.MethodDelete, "delete", `{"kind":"Role","metadata":{"name":"x","namespace":"acme"},` + rules},
		{ClusterRoles, http.MethodDelete, "delete", `{"kind":"Role","metadata":{"name":"view:acme:x"},` + rules},
		{ClusterRoles, http.MethodDelete, "delete", `{"kind":"Role","metadata":{"name":"view:acme:x","annotations":{"hnc.x-k8s.io/view-rules":"` + annotation + `"}},` + rules},
		{ClusterRoles, http.MethodDelete, "delete", many(`{"kind":"Role","metadata":{"name":"view:acme:x","ownerReferences":[`, owner, `]},"rules":[]}`)},
		{ClusterRoleBindings, http.MethodDelete, "delete", many(`{"kind":"RoleBinding","metadata":{"name":"view:acme:x","managedFields":[`, `{}`, `]},"roleRef":{"kind":"Role","name":"view:acme:x"}}`)},
		{roleBindings, http.MethodPatch, "patch", many(`{"kind":"RoleBinding","metadata":{"name":"x"},"roleRef":{"kind":"Role","name":"x"},"subjects":[`, `{"kind":"User","name":"u"}`, `]}`)},
		{roles, http.MethodDelete, "delete", many(`{"kind":"Status","details":{"causes":[`, `{"message":"m"}`, `]}}`)},
	} {
		var most, counted int64
		reserve := func(bytes int64) (func(), error) {
			counted += bytes
			most = max(most, counted)
			return func() { counted -= bytes }, nil
		}
		upstream := roundTrip(func(*http.Request) (*http.Response, error) { return response(http.StatusOK, test.body), nil })
		r, _ := http.NewRequest(test.method, "https://cluster/", strings.NewReader("{}"))
		r.Header.Set("Content-Type", "application/merge-patch+json")
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := Transport(Config{Root: "acme", Names: NewNames("acme"), Resource: test.resource, Verb: test.verb, Scopes: scopes, Reserve: reserve}, upstream).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		// Buffers grow, and what is allocated for a reference to an owner is garbage at once.
		if each := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(test.body)); each > 6 && !strings.Contains(test.body, "ownerReferences") && !strings.Contains(test.body, "causes") {
			t.Errorf("%s %.100s: %.1f bytes are allocated for each byte", test.verb, test.body, each)
		}
		if size := int64(len(test.body)); counted < 2*size || most > 4*size {
			t.Errorf("%s %.100s: of %d bytes, %d are counted, and were %d at most", test.verb, test.body, size, counted, most)
		}
		if _, err := io.Copy(io.Discard, got.Body); err != nil || counted == 0 {
			t.Errorf("%s %.100s: %v; %d bytes are counted", test.verb, test.body, err, counted)
		}
		_, _ = got.Body.Close(), got.Body.Close()
		if counted != 0 {
			t.Errorf("%s %.100s: %d bytes are counted after the end", test.verb, test.body, counted)
		}
	}
}

// panics is a body that cannot be read to its end.
type panics struct{ io.Reader }

func (p panics) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if err != nil {
		panic(err)
	}
	return n, nil
}

func TestNothingStaysCountedAfterAPanic(t *testing.T) {
	var most, counted int64
	reserve := func(bytes int64) (func(), error) {
		counted += bytes
		most = max(most, counted)
		return func() { counted -= bytes }, nil
	}
	upstream := roundTrip(func(*http.Request) (*http.Response, error) {
		got := response(http.StatusOK, "")
		got.Body = io.NopCloser(panics{strings.NewReader(strings.Repeat("x", 1<<20))})
		return got, nil
	})
	func() {
		defer func() { _ = recover() }()
		r, _ := http.NewRequest(http.MethodGet, "https://cluster/", nil)
		_, err := Transport(Config{Root: "acme", Names: NewNames("acme"), Resource: ClusterRoles, Verb: "get", Scopes: scopes, Reserve: reserve}, upstream).RoundTrip(r)
		t.Errorf("got %v", err)
	}()
	if most < 1<<20 || counted != 0 {
		t.Errorf("%d bytes were counted, and %d are left", most, counted)
	}
}

// Rules that are decoded to be compared count by their number.
func TestRulesThatAreDecodedAreCounted(t *testing.T) {
	const hidden = `{"verbs":["get"],"nonResourceURLs":["/x"]}`
	annotation := encode(t, "["+strings.TrimSuffix(strings.Repeat(hidden+",", 2000), ",")+"]")
	body := `{"kind":"Role","metadata":{"name":"view:acme:x","resourceVersion":"1","annotations":{"hnc.x-k8s.io/view-rules":` + annotation + `}},"rules":[]}`
	for method, verb := range map[string]string{http.MethodGet: "get", http.MethodDelete: "delete", http.MethodPatch: "patch"} {
		var most, counted int64
		reserve := func(bytes int64) (func(), error) {
			counted += bytes
			most = max(most, counted)
			return func() { counted -= bytes }, nil
		}
		upstream := roundTrip(func(*http.Request) (*http.Response, error) { return response(http.StatusOK, body), nil })
		r, _ := http.NewRequest(method, "https://cluster/", strings.NewReader("{}"))
		r.Header.Set("Content-Type", "application/merge-patch+json")
		got, err := Transport(Config{Root: "acme", Names: NewNames("acme"), Resource: ClusterRoles, Verb: verb, Scopes: scopes, Reserve: reserve, ReserveCurrent: reserve}, upstream).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		shown, err := io.ReadAll(got.Body)
		_ = got.Body.Close()
		if err != nil || strings.Count(string(shown), "nonResourceURLs") != 2000 || most < 2000*5*ValueSize || counted != 0 {
			t.Errorf("%s: %v, %.100s; %d bytes were counted, and %d are left", verb, err, shown, most, counted)
		}
	}
}

// Patches of ClusterRoles decode these, which have as many values as a body may have.
func TestPatchesOfManyRulesAreRejected(t *testing.T) {
	upstream := roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodGet {
			t.Errorf("%s", r.Method)
		}
		return response(http.StatusOK, `{"kind":"Role","metadata":{"name":"view:acme:x"},"rules":[`+strings.Repeat("{},", yamlbody.MaxValues)+`{}]}`), nil
	})
	r, _ := http.NewRequest(http.MethodPatch, "https://cluster/", strings.NewReader("{}"))
	r.Header.Set("Content-Type", "application/merge-patch+json")
	_, err := Transport(Config{Root: "acme", Names: NewNames("acme"), Resource: ClusterRoles, Verb: "patch", Scopes: scopes, Reserve: uncountedBytes, ReserveCurrent: uncountedBytes}, upstream).RoundTrip(r)
	if !apierrors.IsRequestEntityTooLargeError(err) {
		t.Errorf("got %v", err)
	}
}
