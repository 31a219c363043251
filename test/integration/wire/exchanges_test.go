package wire

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// exchange is a request and the answer to it.
type exchange struct {
	name         string
	method, path string
	// body is what the client sends. $VERSION stands for the version of the object in the answer before.
	body string
	code int
	// want is the answer; of an error it is the Status. Empty means that only the code matters.
	want string
}

const group = "/apis/hnc.x-k8s.io/v1alpha2"

func exchanges(a, b string) []exchange {
	hierarchies, anchors := group+"/namespaces/"+a+"/hierarchyconfigurations", group+"/namespaces/"+a+"/subnamespaceanchors"
	hierarchy := func(spec string) string {
		return `{"kind":"HierarchyConfiguration","apiVersion":"hnc.x-k8s.io/v1alpha2","metadata":{"name":"hierarchy","namespace":"` + a +
			`","resourceVersion":"$VERSION","creationTimestamp":null},"spec":` + spec + `,"status":{}}`
	}
	stored := func(generation int, spec string) string {
		return fmt.Sprintf(`{"kind":"HierarchyConfiguration","apiVersion":"hnc.x-k8s.io/v1alpha2","metadata":{"name":"hierarchy","namespace":%q,`+
			`"generation":%d,"ownerReferences":[{"apiVersion":"v1","kind":"Namespace","name":%q}]},"spec":%s,"status":{}}`, a, generation, a, spec)
	}
	const notManaged = `not a managed label; remove it, or ask the administrator to add it to spec.rules.managedNamespaceLabels of hncconfigurations "config"`
	return []exchange{
		{name: "an absent object", method: "GET", path: hierarchies + "/hierarchy", code: 404,
			want: `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"hierarchyconfigurations.hnc.x-k8s.io \"hierarchy\" not found",` +
				`"reason":"NotFound","details":{"name":"hierarchy","group":"hnc.x-k8s.io","kind":"hierarchyconfigurations"},"code":404}`},
		{name: "create by POST to the object's URL", method: "POST", path: hierarchies + "/hierarchy",
			body: `{"kind":"HierarchyConfiguration","apiVersion":"hnc.x-k8s.io/v1alpha2","metadata":{"name":"hierarchy","namespace":"` + a +
				`","creationTimestamp":null},"spec":{"parent":"` + b + `"},"status":{}}`,
			code: 201, want: stored(1, `{"parent":"`+b+`"}`)},
		{name: "read", method: "GET", path: hierarchies + "/hierarchy", code: 200, want: stored(1, `{"parent":"`+b+`"}`)},
		{name: "PUT of the whole object", method: "PUT", path: hierarchies + "/hierarchy",
			body: hierarchy(`{"parent":"` + b + `","allowCascadingDeletion":true}`), code: 200,
			want: stored(2, `{"parent":"`+b+`","allowCascadingDeletion":true}`)},
		{name: "PUT without a change", method: "PUT", path: hierarchies + "/hierarchy",
			body: hierarchy(`{"parent":"` + b + `","allowCascadingDeletion":true}`), code: 200,
			want: stored(2, `{"parent":"`+b+`","allowCascadingDeletion":true}`)},
		{name: "an unknown field is pruned", method: "PUT", path: hierarchies + "/hierarchy",
			body: hierarchy(`{"parent":"` + b + `","unknown":1}`), code: 200, want: stored(3, `{"parent":"`+b+`"}`)},
		{name: "a list", method: "GET", path: hierarchies, code: 200,
			want: `{"kind":"HierarchyConfigurationList","apiVersion":"hnc.x-k8s.io/v1alpha2","metadata":{},"items":[` +
				strings.Replace(stored(3, `{"parent":"`+b+`"}`), `"kind":"HierarchyConfiguration","apiVersion":"hnc.x-k8s.io/v1alpha2",`, "", 1) + `]}`},
		{name: "a stale version", method: "PUT", path: hierarchies + "/hierarchy", body: strings.ReplaceAll(hierarchy(`{}`), "$VERSION", "1"), code: 409},
		{name: "C3 H10 CASE-2 itself as parent", method: "PUT", path: hierarchies + "/hierarchy", body: hierarchy(`{"parent":"` + a + `"}`), code: 409,
			want: status(409, "Conflict", "hierarchy", "hierarchyconfigurations", `Operation cannot be fulfilled on hierarchyconfigurations.hnc.x-k8s.io "hierarchy": `+
				`spec.parent: namespace "`+a+`" cannot be its own parent; name another namespace, or none to make it a root`)},
		{name: "H9 CASE-2 a parent that does not exist", method: "PUT", path: hierarchies + "/hierarchy", body: hierarchy(`{"parent":"nowhere"}`), code: 403,
			want: status(403, "Forbidden", "hierarchy", "hierarchyconfigurations", `hierarchyconfigurations.hnc.x-k8s.io "hierarchy" is forbidden: `+
				`user "wire" may not modify the subtree of namespace "nowhere", which is the new parent; this needs the verb update on hierarchies.hnc.x-k8s.io there`)},
		{name: "C3 H2 an excluded parent", method: "PUT", path: hierarchies + "/hierarchy", body: hierarchy(`{"parent":"kube-system"}`), code: 403,
			want: status(403, "Forbidden", "hierarchy", "hierarchyconfigurations", `hierarchyconfigurations.hnc.x-k8s.io "hierarchy" is forbidden: `+
				`spec.parent: namespace "kube-system" is excluded from hierarchies by the administrator; choose another parent`)},
		{name: "C3 H3 a label that is not managed", method: "PUT", path: hierarchies + "/hierarchy", body: hierarchy(`{"labels":[{"key":"team","value":"b"}]}`), code: 422,
			want: status(422, "Invalid", "hierarchy", "HierarchyConfiguration", `HierarchyConfiguration.hnc.x-k8s.io "hierarchy" is invalid: spec.labels: Invalid value: "team": `+notManaged,
				`{"reason":"FieldValueInvalid","message":"Invalid value: \"team\": `+strings.ReplaceAll(notManaged, `"`, `\"`)+`","field":"spec.labels"}`)},
		{name: "another name", method: "POST", path: hierarchies,
			body: `{"kind":"HierarchyConfiguration","apiVersion":"hnc.x-k8s.io/v1alpha2","metadata":{"name":"other"}}`, code: 422,
			want: status(422, "Invalid", "other", "HierarchyConfiguration", `HierarchyConfiguration.hnc.x-k8s.io "other" is invalid: metadata.name: Invalid value: "other": must be "hierarchy": there is one hierarchy per namespace`,
				`{"reason":"FieldValueInvalid","message":"Invalid value: \"other\": must be \"hierarchy\": there is one hierarchy per namespace","field":"metadata.name"}`)},
		{name: "an anchor by POST to its URL", method: "POST", path: anchors + "/sub-of-" + a + "?dryRun=All",
			body: `{"kind":"SubnamespaceAnchor","apiVersion":"hnc.x-k8s.io/v1alpha2","metadata":{"name":"sub-of-` + a + `","namespace":"` + a +
				`","creationTimestamp":null},"spec":{},"status":{}}`,
			code: 201, want: `{"kind":"SubnamespaceAnchor","apiVersion":"hnc.x-k8s.io/v1alpha2","metadata":{"name":"sub-of-` + a + `","namespace":"` + a +
				`","generation":1,"ownerReferences":[{"apiVersion":"v1","kind":"Namespace","name":"` + a +
				`"}],"annotations":{"hnc.x-k8s.io/requester":"wire"},"finalizers":["hnc.x-k8s.io/subnamespace"]},"spec":{},"status":{"status":"Missing"}}`},
		{name: "A5 CASE-2 an anchor of an existing namespace", method: "POST", path: anchors + "/" + b,
			body: `{"kind":"SubnamespaceAnchor","apiVersion":"hnc.x-k8s.io/v1alpha2","metadata":{"name":"` + b + `","namespace":"` + a + `"}}`, code: 409,
			want: status(409, "Conflict", b, "subnamespaceanchors", `Operation cannot be fulfilled on subnamespaceanchors.hnc.x-k8s.io "`+b+`": `+
				`metadata.name: namespace "`+b+`" exists already; choose another name, or set spec.parent of its hierarchy to "`+a+`"`)},
		{name: "A1 an anchor whose name is not a label", method: "POST", path: anchors,
			body: `{"kind":"SubnamespaceAnchor","apiVersion":"hnc.x-k8s.io/v1alpha2","metadata":{"name":"a.b"}}`, code: 422,
			want: status(422, "Invalid", "a.b", "SubnamespaceAnchor", `SubnamespaceAnchor.hnc.x-k8s.io "a.b" is invalid: metadata.name: Invalid value: "a.b": must be the name of a namespace: must not contain dots`,
				`{"reason":"FieldValueInvalid","message":"Invalid value: \"a.b\": must be the name of a namespace: must not contain dots","field":"metadata.name"}`)},
		{name: "A3 an anchor in an excluded namespace", method: "POST", path: group + "/namespaces/kube-system/subnamespaceanchors",
			body: `{"kind":"SubnamespaceAnchor","apiVersion":"hnc.x-k8s.io/v1alpha2","metadata":{"name":"sub"}}`, code: 403,
			want: status(403, "Forbidden", "sub", "subnamespaceanchors", `subnamespaceanchors.hnc.x-k8s.io "sub" is forbidden: `+
				`namespace "kube-system" is excluded from hierarchies by the administrator; it can't have sub-namespaces`)},
		{name: "A4 an anchor with an excluded name", method: "POST", path: anchors,
			body: `{"kind":"SubnamespaceAnchor","apiVersion":"hnc.x-k8s.io/v1alpha2","metadata":{"name":"kube-public"}}`, code: 403,
			want: status(403, "Forbidden", "kube-public", "subnamespaceanchors", `subnamespaceanchors.hnc.x-k8s.io "kube-public" is forbidden: `+
				`metadata.name: namespace "kube-public" is excluded from hierarchies by the administrator; choose another name`)},
		{name: "the configuration's name", method: "POST", path: group + "/hncconfigurations",
			body: `{"kind":"HNCConfiguration","apiVersion":"hnc.x-k8s.io/v1alpha2","metadata":{"name":"other"}}`, code: 422,
			want: status(422, "Invalid", "other", "HNCConfiguration", `HNCConfiguration.hnc.x-k8s.io "other" is invalid: metadata.name: Invalid value: "other": must be "config": there is one configuration`,
				`{"reason":"FieldValueInvalid","message":"Invalid value: \"other\": must be \"config\": there is one configuration","field":"metadata.name"}`)},
		{name: "the configuration by POST to its URL", method: "POST", path: group + "/hncconfigurations/config",
			body: `{"kind":"HNCConfiguration","apiVersion":"hnc.x-k8s.io/v1alpha2","metadata":{"name":"config","creationTimestamp":null},` +
				`"spec":{"resources":[{"resource":"secrets","mode":"AllowPropagate"}]},"status":{}}`, code: 201,
			want: `{"kind":"HNCConfiguration","apiVersion":"hnc.x-k8s.io/v1alpha2","metadata":{"name":"config","generation":1},` +
				`"spec":{"resources":[{"resource":"secrets","mode":"AllowPropagate"}]},"status":{}}`},
		{name: "K1 the configuration can't be deleted", method: "DELETE", path: group + "/hncconfigurations/config", code: 403,
			want: status(403, "Forbidden", "config", "hncconfigurations", `hncconfigurations.hnc.x-k8s.io "config" is forbidden: there is always one configuration; empty its spec.resources instead`)},
		{name: "K2 there is no other", method: "DELETE", path: group + "/hncconfigurations/other", code: 404},
		{name: "C1 a body that is none", method: "POST", path: anchors, body: `{`, code: 400},
		{name: "C1 another kind", method: "POST", path: anchors, body: `{"kind":"Pod","apiVersion":"v1"}`, code: 400},
		{name: "delete", method: "DELETE", path: hierarchies + "/hierarchy", code: 200,
			want: `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"name":"hierarchy","group":"hnc.x-k8s.io","kind":"hierarchyconfigurations"}}`},
		{name: "delete what is gone", method: "DELETE", path: hierarchies + "/hierarchy", code: 404},
	}
}

// status returns an error as clients see it.
func status(code int, reason, name, kind, message string, causes ...string) string {
	details := fmt.Sprintf(`{"name":%q,"group":"hnc.x-k8s.io","kind":%q`, name, kind)
	if len(causes) > 0 {
		details += `,"causes":[` + strings.Join(causes, ",") + `]`
	}
	return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":%q,"reason":%q,"details":%s},"code":%d}`,
		message, reason, details, code)
}

// redact takes out what is new in each answer.
func redact(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields"} {
			delete(value, key)
		}
		for _, field := range value {
			redact(field)
		}
	case []any:
		for _, item := range value {
			redact(item)
		}
	}
	return value
}

func canonical(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
