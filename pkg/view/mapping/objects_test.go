package mapping

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func kindOf(apiVersion, kind string) schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(apiVersion, kind)
}

// Members of the view: acme-prod, service-1, acme-x, x.
func TestReferencesAreTranslated(t *testing.T) {
	m := testMapper()
	for _, c := range []struct{ name, real, view string }{
		{"metadata", `{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"acme-prod","name":"acme-prod"}}`,
			`{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"prod","name":"acme-prod"}}`},
		{"unknown fields, numbers, spaces and the order stay", `{ "kind": "Pod", "x": 1e999, "metadata": {"namespace" : "acme", "y": [1,  2]}, "apiVersion": "v1" }`,
			`{ "kind": "Pod", "x": 1e999, "metadata": {"namespace" : "default", "y": [1,  2]}, "apiVersion": "v1" }`},
		{"custom resources", `{"apiVersion":"a.b/v1","kind":"C","metadata":{"namespace":"acme-prod"},"spec":{"namespace":"acme-prod"}}`,
			`{"apiVersion":"a.b/v1","kind":"C","metadata":{"namespace":"prod"},"spec":{"namespace":"acme-prod"}}`},
		{"subjects", `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","subjects":[{"kind":"ServiceAccount","name":"a","namespace":"argocd"},{"kind":"Group","name":"system:serviceaccounts:acme"},{"kind":"User","name":"system:serviceaccount:acme-prod:bot"},{"kind":"Group","name":"system:serviceaccounts"}]}`,
			`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","subjects":[{"kind":"ServiceAccount","name":"a","namespace":"argocd.external"},{"kind":"Group","name":"system:serviceaccounts:default"},{"kind":"User","name":"system:serviceaccount:prod:bot"},{"kind":"Group","name":"system:serviceaccounts"}]}`},
		{"namespaces", `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"acme-prod","labels":{"kubernetes.io/metadata.name":"acme-prod","acme.tree.hnc.x-k8s.io/depth":"1","acme-prod.tree.hnc.x-k8s.io/depth":"0"},"annotations":{"hnc.x-k8s.io/subnamespace-of":"acme"}}}`,
			`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"prod","labels":{"kubernetes.io/metadata.name":"prod","default.tree.hnc.x-k8s.io/depth":"1","prod.tree.hnc.x-k8s.io/depth":"0"},"annotations":{"hnc.x-k8s.io/subnamespace-of":"default"}}}`},
		{"all namespaces are those of the view", `{"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","spec":{"ingress":[{"from":[{"namespaceSelector":{"matchExpressions":[{"key":"acme.tree.hnc.x-k8s.io/depth","operator":"Exists"}]}}]}]}}`,
			`{"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","spec":{"ingress":[{"from":[{"namespaceSelector":{}}]}]}}`},
		{"labels are within the view", `{"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","spec":{"ingress":[{"from":[{"namespaceSelector":{"matchLabels":{"a":"b"},"matchExpressions":[{"key":"acme.tree.hnc.x-k8s.io/depth","operator":"Exists"}]}}]}]}}`,
			`{"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","spec":{"ingress":[{"from":[{"namespaceSelector":{"matchLabels":{"a":"b"}}}]}]}}`},
		{"named namespaces", `{"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","spec":{"egress":[{"to":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"kube-system"}}},{"namespaceSelector":{"matchExpressions":[{"key":"kubernetes.io/metadata.name","operator":"In","values":["acme-prod","argocd"]}]}}]}]}}`,
			`{"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","spec":{"egress":[{"to":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"kube-system"}}},{"namespaceSelector":{"matchExpressions":[{"key":"kubernetes.io/metadata.name","operator":"In","values":["prod","argocd.external"]}]}}]}]}}`},
		{"all of the cluster, from outside", `{"apiVersion":"apps/v1","kind":"Deployment","spec":{"template":{"spec":{"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"namespaces":["acme-prod"],"namespaceSelector":{}}]}}}}}}`,
			`{"apiVersion":"apps/v1","kind":"Deployment","spec":{"template":{"spec":{"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"namespaces":["prod"],"namespaceSelector":{"matchExpressions":[{"key":"view.hnc.x-k8s.io/unconfined","operator":"DoesNotExist"}]}}]}}}}}}`},
		{"no selector", `{"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","spec":{"ingress":[{"from":[{"podSelector":{},"namespaceSelector":null}]}]}}`,
			`{"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","spec":{"ingress":[{"from":[{"podSelector":{},"namespaceSelector":null}]}]}}`},
		{"events", `{"apiVersion":"v1","kind":"Event","involvedObject":{"kind":"Namespace","apiVersion":"v1","name":"acme-prod"},"related":{"kind":"Pod","name":"acme-prod","namespace":"acme-prod"}}`,
			`{"apiVersion":"v1","kind":"Event","involvedObject":{"kind":"Namespace","apiVersion":"v1","name":"prod"},"related":{"kind":"Pod","name":"acme-prod","namespace":"prod"}}`},
		{"owners", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Namespace","name":"acme-prod"},{"apiVersion":"v1","kind":"Pod","name":"acme-prod"}]}}`,
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Namespace","name":"prod"},{"apiVersion":"v1","kind":"Pod","name":"acme-prod"}]}}`},
		{"managed fields", `{"apiVersion":"v1","kind":"Namespace","metadata":{"managedFields":[{"fieldsV1":{"f:metadata":{"f:labels":{"f:acme-prod.tree.hnc.x-k8s.io/depth":{}}}}}]}}`,
			`{"apiVersion":"v1","kind":"Namespace","metadata":{"managedFields":[{"fieldsV1":{"f:metadata":{"f:labels":{"f:prod.tree.hnc.x-k8s.io/depth":{}}}}}]}}`},
		{"reviews", `{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{"user":"system:serviceaccount:acme:a","groups":["system:serviceaccounts:argocd"],"resourceAttributes":{"namespace":"acme-prod","resource":"namespaces","name":"acme-prod"}}}`,
			`{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{"user":"system:serviceaccount:default:a","groups":["system:serviceaccounts:argocd.external"],"resourceAttributes":{"namespace":"prod","resource":"namespaces","name":"prod"}}}`},
		{"hierarchies", `{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"Hierarchy","spec":{"parent":"acme","requiredChildren":["acme-prod"]},"status":{"children":["acme-later"]}}`,
			`{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"Hierarchy","spec":{"parent":"default","requiredChildren":["prod"]},"status":{"children":["later"]}}`},
		{"sub-namespaces", `{"apiVersion":"hnc.x-k8s.io/v1alpha2","kind":"SubnamespaceAnchor","metadata":{"name":"acme-prod","namespace":"acme"}}`,
			`{"apiVersion":"hnc.x-k8s.io/v1alpha2","kind":"SubnamespaceAnchor","metadata":{"name":"prod","namespace":"default"}}`},
		{"copies", `{"apiVersion":"v1","kind":"Secret","metadata":{"labels":{"hnc.x-k8s.io/inherited-from":"platform"},"annotations":{"propagate.hnc.x-k8s.io/treeSelect":"acme-prod, !acme-x","propagate.hnc.x-k8s.io/select":"a=b, acme-prod.tree.hnc.x-k8s.io/depth,kubernetes.io/metadata.name notin (acme-prod)"}}}`,
			`{"apiVersion":"v1","kind":"Secret","metadata":{"labels":{"hnc.x-k8s.io/inherited-from":"platform.external"},"annotations":{"propagate.hnc.x-k8s.io/treeSelect":"prod, !x","propagate.hnc.x-k8s.io/select":"a=b, prod.tree.hnc.x-k8s.io/depth,kubernetes.io/metadata.name notin (prod)"}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := m.Object(Out, schema.GroupVersionKind{}, []byte(c.real))
			if err != nil || string(out) != c.view {
				t.Errorf("out: %v\n%s\nexpected\n%s", err, out, c.view)
			}
			in, err := m.Object(In, schema.GroupVersionKind{}, []byte(c.view))
			if err != nil || string(in) != c.real {
				t.Errorf("in: %v\n%s\nexpected\n%s", err, in, c.real)
			}
		})
	}
}

func TestLabelsOfAncestorsAboveTheRootAreCut(t *testing.T) {
	out, err := testMapper().Object(Out, kindOf("v1", "Namespace"), []byte(
		`{"metadata":{"labels":{"corp.tree.hnc.x-k8s.io/depth":"2","acme.tree.hnc.x-k8s.io/depth":"1","a":"b"},"annotations":{"hnc.x-k8s.io/ancestry":"acme-prod.acme.corp","hnc.x-k8s.io/abstract-ancestors":"company"}}}`))
	if expected := `{"metadata":{"labels":{"default.tree.hnc.x-k8s.io/depth":"1","a":"b"},"annotations":{"hnc.x-k8s.io/ancestry":"prod.default"}}}`; err != nil || string(out) != expected {
		t.Errorf("%v %s", err, out)
	}
}

func TestOddJSONIsRefusedOrTranslated(t *testing.T) {
	m := testMapper()
	pod := kindOf("v1", "Pod")
	for body, message := range map[string]string{
		`{"kind":"Pod","Kind":"RoleBinding"}`:                              `Kind: unknown field; write "kind"`,
		`{"\u212aind":"Pod"}`:                                              `unknown field; write "kind"`,
		`{"apiVersion":"v1","APIVERSION":"v2"}`:                            `APIVERSION: unknown field`,
		`{"metadata":{"namespace":"x"},"metadata":{"namespace":"argocd"}}`: `metadata: duplicate field`,
		`{"metadata":{"namespace":"x","\u006eamespace":"argocd"}}`:         `metadata.namespace: duplicate field`,
		`{"metadata":{"Namespace":"argocd"}}`:                              `metadata.Namespace: unknown field; write "namespace"`,
		"\ufeff{}":                                                         "malformed JSON",
		`{} {}`:                                                            "malformed JSON",
		`{"metadata":{"namespace":"x"`:                                     "malformed JSON",
		`{"a":` + strings.Repeat("[", 1001):                                "more than 1000 levels",
		`{"apiVersion":"a/b/c","kind":"Pod"}`:                              "apiVersion",
		`{"metadata":{"namespace":"x"}}` + "x":                             "malformed JSON",
	} {
		out, _, err := m.Request("application/json", pod, []byte(body))
		if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), message) {
			t.Errorf("%q: %q, %v; expected %q", body, out, err, message)
		}
	}
	for body, expected := range map[string]string{
		`{"metadata":{"\u006eamespace":"\u0070rod"}}`: `{"metadata":{"\u006eamespace":"acme-prod"}}`,
		`{"metadata":{"namespace":["prod"]}}`:         `{"metadata":{"namespace":["prod"]}}`,
		`{"metadata":null}`:                           `{"metadata":null}`,
		`[]`:                                          `[]`,
		`null`:                                        `null`,
		"\n{\"metadata\":{\"namespace\":\"prod\"}}\n": "\n{\"metadata\":{\"namespace\":\"acme-prod\"}}\n",
	} {
		if out, _, err := m.Request("application/json", pod, []byte(body)); err != nil || string(out) != expected {
			t.Errorf("%s: %s, %v", body, out, err)
		}
	}
	out, media, err := m.Request("application/yaml; charset=utf-8", pod, []byte("metadata:\n  namespace: prod\n"))
	if err != nil || media != "application/json" || string(out) != `{"metadata":{"namespace":"acme-prod"}}` {
		t.Errorf("YAML: %s, %s, %v", out, media, err)
	}
	if _, _, err := m.Request("application/yaml", pod, []byte("metadata: {namespace: prod, namespace: argocd}")); !apierrors.IsBadRequest(err) {
		t.Errorf("YAML with duplicate keys: %v", err)
	}
	if _, _, err := m.Request("application/cbor", pod, []byte("x")); !apierrors.IsUnsupportedMediaType(err) {
		t.Errorf("CBOR: %v", err)
	}
	if _, _, err := m.Request("", pod, []byte(`{"a":"`+strings.Repeat("b", MaxRequest)+`"}`)); !apierrors.IsRequestEntityTooLargeError(err) {
		t.Errorf("large body: %v", err)
	}
	if _, _, err := m.Request("application/yaml", pod, []byte("a: &a b\nc: *a\n")); !apierrors.IsBadRequest(err) {
		t.Errorf("YAML with aliases: %v", err)
	}
}

func TestStatusesNameNamespacesOfTheView(t *testing.T) {
	m := testMapper()
	for real, view := range map[string]string{
		`{"kind":"Status","apiVersion":"v1","message":"namespaces \"acme-prod\" not found","details":{"name":"acme-prod","kind":"namespaces"}}`: `{"kind":"Status","apiVersion":"v1","message":"namespaces \"prod\" not found","details":{"name":"prod","kind":"namespaces"}}`,
		// It is no member, because it cannot be created.
		`{"kind":"Status","apiVersion":"v1","message":"Subnamespace.hnc.x-k8s.io \"acme-new\" is invalid: metadata.name: Invalid value: \"acme-new\": is reserved","details":{"name":"acme-new","group":"hnc.x-k8s.io","kind":"Subnamespace","causes":[{"message":"Invalid value: \"acme-new\": is reserved","field":"metadata.name"}]}}`: `{"kind":"Status","apiVersion":"v1","message":"Subnamespace.hnc.x-k8s.io \"new\" is invalid: metadata.name: Invalid value: \"new\": is reserved","details":{"name":"new","group":"hnc.x-k8s.io","kind":"Subnamespace","causes":[{"message":"Invalid value: \"new\": is reserved","field":"metadata.name"}]}}`,
		`{"kind":"Status","apiVersion":"v1","message":"pods \"acme-prod\" is forbidden: User \"system:serviceaccount:acme-prod:bot\" cannot get resource \"pods\" in API group \"\" in the namespace \"argocd\"","details":{"name":"acme-prod","kind":"pods"}}`:                                                                           `{"kind":"Status","apiVersion":"v1","message":"pods \"acme-prod\" is forbidden: User \"system:serviceaccount:prod:bot\" cannot get resource \"pods\" in API group \"\" in the namespace \"argocd.external\"","details":{"name":"acme-prod","kind":"pods"}}`,
		`{"kind":"Status","apiVersion":"v1","message":"spec.parent: namespace \"acme-x\" is a descendant of \"acme-prod\"","details":{"name":"hierarchy","group":"hnc.x-k8s.io","kind":"Hierarchy","causes":[{"message":"acme-prod unquoted, \"acme-prod\" quoted, \"acme-production\"","field":"spec.parent"}]}}`:                        `{"kind":"Status","apiVersion":"v1","message":"spec.parent: namespace \"x\" is a descendant of \"prod\"","details":{"name":"hierarchy","group":"hnc.x-k8s.io","kind":"Hierarchy","causes":[{"message":"acme-prod unquoted, \"prod\" quoted, \"acme-production\"","field":"spec.parent"}]}}`,
	} {
		if out, err := m.Object(Out, kindOf("v1", "Pod"), []byte(real)); err != nil || string(out) != view {
			t.Errorf("%v\n%s\nexpected\n%s", err, out, view)
		}
	}
}

func TestRealNamesAreNotTouched(t *testing.T) {
	m := New(NewNames(Config{Root: "acme", Prefix: "acme-", Member: set(nil)}), nil)
	body := `{"kind":"Pod","KIND":"x","metadata":{"namespace":"acme"}}`
	if out, _, err := m.Request("application/cbor", kindOf("v1", "Pod"), []byte(body)); err != nil || string(out) != body {
		t.Errorf("%s, %v", out, err)
	}
}
