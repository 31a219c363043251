package apiserver_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	auditpolicy "k8s.io/apiserver/pkg/audit/policy"
	"k8s.io/apiserver/plugin/pkg/audit/fake"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apiserver"
)

// zeros returns the inside of a JSON array of n numbers.
func zeros(n int) string { return strings.TrimSuffix(strings.Repeat("0,", n), ",") }

// pairs returns the inside of a JSON object of n pairs, in each of which the format has a number.
func pairs(n int, format string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(all, ",")
}

// What clients get when the server rejects their requests, and what the audit log says.
func TestRejectedRequests(t *testing.T) {
	var mu sync.Mutex
	rules := map[string]string{}
	api := startAPI(t, func(config *apiserver.Config) {
		config.Generic.AuditPolicyRuleEvaluator = auditpolicy.NewFakePolicyRuleEvaluator(auditinternal.LevelMetadata, nil)
		config.Generic.AuditBackend = &fake.Backend{OnRequest: func(events []*auditinternal.Event) {
			mu.Lock()
			defer mu.Unlock()
			for _, event := range events {
				if event.Stage == auditinternal.StageResponseComplete {
					rules[string(event.AuditID)] = event.Annotations["hnc.x-k8s.io/rejected-by"]
				}
			}
		}}
		// So that every plan is one too many.
		config.Plans.Concurrent.PerUser = 0
	})
	padding := strings.Repeat(" ", 3<<20)
	const hierarchies, ofA = "v1beta1/namespaces/a/hierarchies", `{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"Hierarchy","metadata":{"name":"hierarchy"},"spec":{"parent":"`
	const ofB, ofB1 = "v1beta1/namespaces/b/hierarchies", `{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"Hierarchy","metadata":{"name":"hierarchy",`
	for _, test := range []struct {
		name, user, method, path, body string
		code                           int
		message, rule                  string
	}{
		{"a cycle", "admin", http.MethodPost, hierarchies, ofA + `a"}}`, 422, "spec.parent: ", "hierarchies: spec.parent"},
		{"a move without permissions", tenant, http.MethodPost, hierarchies, ofA + `root"}}`, 403, "may not", "hierarchies: create"},
		{"an allowed move", "admin", http.MethodPost, hierarchies, ofA + `root"}}`, 201, "", ""},
		{"a name that exists", "admin", http.MethodPost, hierarchies, ofA + `root"}}`, 409, "already exists", ""},
		{"an old version", "admin", http.MethodPut, hierarchies + "/hierarchy", strings.Replace(ofA, `"name"`, `"resourceVersion":"1","name"`, 1) + `b"}}`, 409, "please apply your changes to the latest version", ""},
		{"a large body", "admin", http.MethodPut, hierarchies + "/hierarchy", ofA + `b"}}` + padding, 413, "limit is 3145728", "hierarchies: size"},
		{"a large plan", "admin", http.MethodPost, hierarchies + "/hierarchy/plan", "{" + padding[:128<<10] + "}", 413, "a plan has at most 131072 bytes", "hierarchies/plan: size"},
		{"too many plans", "admin", http.MethodPost, hierarchies + "/hierarchy/plan",
			`{"apiVersion":"hnc.x-k8s.io/v1alpha3","kind":"HierarchyPlan","metadata":{"name":"hierarchy"},"spec":{"change":"Parent","parent":"b"}}`,
			429, "already has 0 plans", "hierarchies/plan: concurrency"},
		{"a plan for a parent that no namespace is", "admin", http.MethodPost, hierarchies + "/hierarchy/plan",
			`{"apiVersion":"hnc.x-k8s.io/v1alpha3","kind":"HierarchyPlan","metadata":{"name":"hierarchy"},"spec":{"change":"Parent","parent":"../b"}}`,
			422, "a lowercase RFC 1123 label", "hierarchies/plan: spec.parent"},
		{"a JSON patch that replaces by nothing", "admin", http.MethodPatch, hierarchies + "/hierarchy", `[{"op":"replace","path":""}]`, 400, "needs a value", ""},
		{"a JSON patch that tests nothing", "admin", http.MethodPatch, hierarchies + "/hierarchy", `[{"op":"test","path":""}]`, 400, "needs a value", ""},
		{"a JSON patch that tests null", "admin", http.MethodPatch, hierarchies + "/hierarchy",
			`[{"op":"add","path":"/spec/labels","value":[null]},{"op":"test","path":"/spec/labels","value":[null]}]`, 400, "null in a list cannot be tested", ""},
		{"a large JSON patch", "admin", http.MethodPatch, hierarchies + "/hierarchy", "[" + padding + "]", 413, "limit is 3145728", "hierarchies: size"},
		{"a JSON patch", "admin", http.MethodPatch, hierarchies + "/hierarchy", `[{"op":"replace","path":"/spec","value":{}}]`, 200, "", ""},
		{"a large strategic merge patch", "admin", http.MethodPatch, hierarchies + "/hierarchy", "{" + padding[:128<<10] + "}", 413, "send a merge patch", "hierarchies: size"},
		{"many owner references, in a merge patch", "admin", http.MethodPatch, hierarchies + "/hierarchy",
			`{"metadata":{"ownerReferences":[` + strings.TrimSuffix(strings.Repeat(`{"uid":"0"},`, 10000), ",") + `]}}`, 422, "must have at most 256 items", "hierarchies: metadata.ownerReferences"},
		{"many owner references", "admin", http.MethodPost, ofB, ofB1 + `"ownerReferences":[` + strings.TrimSuffix(strings.Repeat(`{},`, 16_000), ",") + `]}}`, 422, "must have at most 256 items", "hierarchies: metadata.ownerReferences"},
		{"some owner references", "admin", http.MethodPost, ofB, ofB1 + `"ownerReferences":[` + pairs(256, `{"uid":"%d"}`) + `]}}`, 422, "must have at most 32 items", "hierarchies: metadata.ownerReferences"},
		{"many invalid annotations", "admin", http.MethodPost, ofB, ofB1 + `"annotations":{` + pairs(2000, `"!%d":""`) + `}}}`, 422, "must have at most 256 items", "hierarchies: metadata.annotations"},
		{"many invalid annotations, in a merge patch", "admin", http.MethodPatch, hierarchies + "/hierarchy",
			`{"metadata":{"annotations":{` + pairs(2000, `"!%d":""`) + `}}}`, 422, "must have at most 256 items", "hierarchies: metadata.annotations"},
		{"many annotations with two errors each", "admin", http.MethodPost, ofB, ofB1 + `"annotations":{` + pairs(256, `"!/!%d":""`) + `}}}`, 422, "metadata: Invalid value: has 492 more errors", "hierarchies: metadata.annotations, metadata"},
		{"an owner that is an Event", "admin", http.MethodPost, ofB, ofB1 + `"ownerReferences":[{"apiVersion":"v1","kind":"Event","uid":"x","name":"` + strings.Repeat(`\u0001`, 60<<10) + `"}]}}`, 422, "Event is disallowed from being an owner", "hierarchies: metadata.ownerReferences[0]"},
		{"an owner whose reference is replaced", "admin", http.MethodPost, ofB + "?dryRun=All", ofB1 + `"ownerReferences":[{"apiVersion":"v1","kind":"Namespace","name":"b","uid":""}]}}`, 201, "", ""},
		{"two controllers", "admin", http.MethodPost, ofB, ofB1 + `"ownerReferences":[` + pairs(2, `{"apiVersion":"v1","kind":"ConfigMap","uid":"x","name":"%d","controller":true}`) + `]}}`, 422, "metadata.ownerReferences: Invalid value: Only one reference can", "hierarchies: metadata.ownerReferences"},
		{"a long field manager", "admin", http.MethodPost, hierarchies + "?fieldManager=" + strings.Repeat("%01", 2000), ofA + `root"}}`, 400, "fieldManager: has 2000 bytes", ""},
		{"a long manager in managed fields", "admin", http.MethodPost, ofB, ofB1 + `"managedFields":[{"manager":"` + strings.Repeat(`\u0001`, 2000) + `","operation":"Update","apiVersion":"hnc.x-k8s.io/v1beta1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:parent":{}}}}]}}`, 422, "may not be more than 128 bytes", "hierarchies: metadata.managedFields[0].manager"},
		{"a YAML alias", "admin", http.MethodPost, hierarchies, "apiVersion: hnc.x-k8s.io/v1beta1\nkind: Hierarchy\nmetadata: {name: hierarchy, annotations: {a: &a x, b: *a}}\n", 400, "YAML aliases are not accepted", ""},
		{"a strategic merge patch with the same parameter twice", "admin", http.MethodPatch, hierarchies + "/hierarchy", "{}", 415, "header Content-Type is malformed", ""},
		{"JSON of many levels", "admin", http.MethodPost, hierarchies, strings.Repeat(`{"a":`, 1001) + "0" + strings.Repeat("}", 1001), 400, "more than 1000 levels; use fewer", ""},
		{"JSON with many values in place of YAML", "admin", http.MethodPost, hierarchies, `{"a":[` + zeros(40000) + `]}`, 413, "may have at most 32768 values", "hierarchies: size"},
		{"many values", "admin", http.MethodPost, "v1beta1/namespaces/a/subnamespaces", `{"metadata":{"managedFields":[` + zeros(32_768) + `]}}`, 413, "may have at most 32768 values", "subnamespaces: size"},
		{"almost as many", "admin", http.MethodPost, "v1beta1/namespaces/a/subnamespaces", `{"spec":{"labels":[` + zeros(32_700) + `]}}`, 400, "cannot unmarshal number", ""},
		{"a plan of many values", "admin", http.MethodPost, hierarchies + "/hierarchy/plan", `{"spec":{"resources":[` + zeros(32_768) + `]}}`, 413, "may have at most 32768 values", "hierarchies/plan: size"},
		{"a list in place of an object", "admin", http.MethodPost, hierarchies, `{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"HierarchyList","items":[` + zeros(32_768) + `]}`, 413, "may have at most 32768 values", "hierarchies: size"},
		{"a hierarchy of many children", "admin", http.MethodPut, hierarchies + "/hierarchy", ofA + `root"},"status":{"children":["x"` + strings.Repeat(`,"x"`, 90_000) + `]}}`, 422, "metadata.resourceVersion: ", "hierarchies: metadata.resourceVersion"},
		{"a hierarchy of too many values", "admin", http.MethodPut, hierarchies + "/hierarchy", ofA + `root"},"status":{"children":["x"` + strings.Repeat(`,"x"`, 98_304) + `]}}`, 413, "and 98304 if it is a whole hierarchy", "hierarchies: size"},
		{"a merge patch of many values", "admin", http.MethodPatch, hierarchies + "/hierarchy", `{"kind":"HierarchyList","items":[` + zeros(32_768) + `]}`, 413, "may have at most 32768 values", "hierarchies: size"},
		{"a JSON patch of many values", "admin", http.MethodPatch, hierarchies + "/hierarchy", `[{"op":"add","path":"/items","value":[` + zeros(8192) + `]}]`, 413, "a JSON patch may have at most 8192 values", "hierarchies: size"},
		{"a JSON patch that copies much", "admin", http.MethodPatch, hierarchies + "/hierarchy", `[{"op":"add","path":"/metadata/annotations","value":{"a":"` + strings.Repeat("x", 40_000) + `"}}` +
			strings.Repeat(`,{"op":"copy","from":"/metadata/annotations/a","path":"/metadata/annotations/a"}`, 2) + `]`, 422, "an error in our request", "hierarchies: patch"},
		{"a deletion in protobuf", "admin", http.MethodDelete, hierarchies + "/hierarchy", "k8s\x00" + strings.Repeat("\x12\x00", 8192), 413, "a body in protobuf has at most 16384 bytes", "hierarchies: size"},
		{"a deletion of many values", "admin", http.MethodDelete, hierarchies + "/hierarchy", `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":[` + zeros(32_768) + `]}`, 413, "may have at most 32768 values", "hierarchies: size"},
		{"a name that no object has", "admin", http.MethodGet, "v1beta1/namespaces/../hierarchies", "", 400, "of the namespace in the path is invalid", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			contentType := "application/json"
			switch {
			case strings.Contains(test.name, "parameter twice"):
				contentType = "application/strategic-merge-patch+json; a=1; a=2"
			case strings.Contains(test.name, "strategic"):
				contentType = "application/strategic-merge-patch+json"
			case strings.Contains(test.name, "merge patch"):
				contentType = "application/merge-patch+json"
			case test.method == http.MethodPatch:
				contentType = "application/json-patch+json"
			case strings.Contains(test.name, "YAML"):
				contentType = "application/yaml"
			case strings.Contains(test.name, "protobuf"):
				contentType = "application/vnd.kubernetes.protobuf"
			}
			response := send(api, test.method, apiPath+test.path, contentType, test.user, []byte(test.body))
			if response.Code != test.code || !strings.Contains(response.Body.String(), test.message) {
				t.Errorf("got %d %.300s, want %d with %q", response.Code, response.Body, test.code, test.message)
			}
			if response.Body.Len() > 16<<10 {
				t.Errorf("the answer has %d bytes", response.Body.Len())
			}
			if test.code == 429 && response.Header().Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
			mu.Lock()
			defer mu.Unlock()
			if rule, audited := rules[response.Header().Get("Audit-Id")]; rule != test.rule || !audited {
				t.Errorf("audited %t as rejected by %q, want %q", audited, rule, test.rule)
			}
		})
	}
}
