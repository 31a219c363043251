package mapping

import (
	"net/url"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	mergePatch     = "application/merge-patch+json"
	strategicPatch = "application/strategic-merge-patch+json"
	jsonPatch      = "application/json-patch+json"
	applyPatch     = "application/apply-patch+yaml"
)

func TestPatchesAreTranslated(t *testing.T) {
	m := testMapper()
	pod, binding, policy, namespace := kindOf("v1", "Pod"), kindOf("rbac.authorization.k8s.io/v1", "RoleBinding"),
		kindOf("networking.k8s.io/v1", "NetworkPolicy"), kindOf("v1", "Namespace")
	for _, c := range []struct {
		media, in, out string
		kind           schema.GroupVersionKind
	}{
		{mergePatch, `{"subjects":[{"kind":"ServiceAccount","namespace":"prod","name":"a"}]}`, `{"subjects":[{"kind":"ServiceAccount","namespace":"acme-prod","name":"a"}]}`, binding},
		{mergePatch, `{"metadata":{"labels":{"default.tree.hnc.x-k8s.io/depth":null,"a":null}}}`, `{"metadata":{"labels":{"acme.tree.hnc.x-k8s.io/depth":null,"a":null}}}`, namespace},
		{mergePatch, `{"spec":{"ingress":[{"from":[{"namespaceSelector":{}}]}]}}`, `{"spec":{"ingress":[{"from":[{"namespaceSelector":{"matchExpressions":[{"key":"acme.tree.hnc.x-k8s.io/depth","operator":"Exists"}]}}]}]}}`, policy},
		{mergePatch, `{"spec":{"ingress":[{"from":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":null}}}]}]}}`,
			`{"spec":{"ingress":[{"from":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":null},"matchExpressions":[{"key":"acme.tree.hnc.x-k8s.io/depth","operator":"Exists"}]}}]}]}}`, policy},
		{mergePatch, `{"spec":{"ingress":[{"from":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"prod","kubernetes.io/metadata.name": null }}}]}]}}`,
			`{"spec":{"ingress":[{"from":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"acme-prod","kubernetes.io/metadata.name":null},"matchExpressions":[{"key":"acme.tree.hnc.x-k8s.io/depth","operator":"Exists"}]}}]}]}}`, policy},
		{strategicPatch, `{"metadata":{"ownerReferences":[{"$patch":"delete","uid":"1"}],"$deleteFromPrimitiveList/finalizers":["a"]}}`,
			`{"metadata":{"ownerReferences":[{"$patch":"delete","uid":"1"}],"$deleteFromPrimitiveList/finalizers":["a"]}}`, pod},
		{strategicPatch, `{"$setElementOrder/subjects":[{"namespace":"prod"}]}`, `{"$setElementOrder/subjects":[{"namespace":"acme-prod"}]}`, binding},
		{applyPatch, "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {namespace: prod}\nsubjects: [{kind: Group, name: 'system:serviceaccounts:default'}]",
			`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"namespace":"acme-prod"},"subjects":[{"kind":"Group","name":"system:serviceaccounts:acme"}]}`, binding},
		{applyPatch, `{"metadata":{"namespace":"prod"}}`, `{"metadata":{"namespace":"acme-prod"}}`, pod},
		{jsonPatch, `[{"op":"replace","path":"/metadata/namespace","value":"prod"}]`, `[{"op":"replace","path":"/metadata/namespace","value":"acme-prod"}]`, pod},
		{jsonPatch, `[{"op":"test","path":"/metadata","value":{"namespace":"prod"}}]`, `[{"op":"test","path":"/metadata","value":{"namespace":"acme-prod"}}]`, pod},
		{jsonPatch, `[{"op":"add","path":"/subjects/-","value":{"namespace":"argocd.external"}},{"op":"add","path":"/subjects/0/namespace","value":"prod"}]`,
			`[{"op":"add","path":"/subjects/-","value":{"namespace":"argocd"}},{"op":"add","path":"/subjects/0/namespace","value":"acme-prod"}]`, binding},
		{jsonPatch, `[{"op":"remove","path":"/metadata/labels/default.tree.hnc.x-k8s.io~1depth"}]`, `[{"op":"remove","path":"/metadata/labels/acme.tree.hnc.x-k8s.io~1depth"}]`, namespace},
		{jsonPatch, `[{"op":"add","path":"/metadata/labels/kubernetes.io~1metadata.name","value":"prod"}]`, `[{"op":"add","path":"/metadata/labels/kubernetes.io~1metadata.name","value":"acme-prod"}]`, namespace},
		{jsonPatch, `[{"op":"add","path":"/metadata/annotations/a~1b","value":"prod"}]`, `[{"op":"add","path":"/metadata/annotations/a~1b","value":"prod"}]`, pod},
		{jsonPatch, `[{"op":"add","path":"/spec/ingress/0/from/0/namespaceSelector","value":{}}]`,
			`[{"op":"add","path":"/spec/ingress/0/from/0/namespaceSelector","value":{"matchExpressions":[{"key":"acme.tree.hnc.x-k8s.io/depth","operator":"Exists"}]}}]`, policy},
		{jsonPatch, `[{"op":"copy","from":"/subjects/0","path":"/subjects/1"},{"op":"move","from":"/metadata/labels/a","path":"/metadata/labels/b"}]`,
			`[{"op":"copy","path":"/subjects/1","from":"/subjects/0"},{"op":"move","path":"/metadata/labels/b","from":"/metadata/labels/a"}]`, binding},
		{jsonPatch, `[{"op":"replace","path":"","value":{"metadata":{"namespace":"prod"}}}]`, `[{"op":"replace","path":"","value":{"metadata":{"namespace":"acme-prod"}}}]`, pod},
		{jsonPatch, `[{"op":"remove","from":null,"path":"/metadata/labels/a"}]`, `[{"op":"remove","path":"/metadata/labels/a"}]`, pod},
		{jsonPatch, `[]`, `[]`, pod},
	} {
		out, err := m.Patch(c.media, c.kind, []byte(c.in))
		if err != nil || string(out) != c.out {
			t.Errorf("%s %s: %v\n%s\nexpected\n%s", c.media, c.in, err, out, c.out)
		}
	}
}

func TestPatchesThatCouldMeanSomethingElseAreRefused(t *testing.T) {
	m := testMapper()
	for _, c := range []struct {
		media, in, message string
		kind               schema.GroupVersionKind
	}{
		{jsonPatch, `[{"op":"add","path":"metadata/namespace","value":"argocd"}]`, `patch[0].path: must begin with "/"`, kindOf("v1", "Pod")},
		{jsonPatch, `[{"op":"copy","from":"/metadata/annotations/a","path":"/metadata/namespace"}]`, "patch[0].from", kindOf("v1", "Pod")},
		{jsonPatch, `[{"op":"copy","from":"/metadata/namespace","path":"/metadata/annotations/a"}]`, "patch[0].from", kindOf("v1", "Pod")},
		{jsonPatch, `[{"op":"move","from":"/metadata/annotations","path":"/metadata/labels"}]`, "patch[0].from", kindOf("v1", "Pod")},
		{jsonPatch, `[{"op":"copy","from":"/metadata","path":"/spec"}]`, "patch[0].from", kindOf("v1", "Pod")},
		{jsonPatch, `[{"op":"copy","from":"/metadata/labels/a","path":"/metadata/labels/hnc.x-k8s.io~1inherited-from"}]`, "patch[0].from", kindOf("v1", "Pod")},
		{jsonPatch, `[{"op":"add","path":"/x","path":"/metadata/namespace","value":"argocd"}]`, "duplicate field", kindOf("v1", "Pod")},
		{jsonPatch, `[{"op":"add","path":"/metadata","value":{"namespace":"x","namespace":"argocd"}}]`, "duplicate field", kindOf("v1", "Pod")},
		{jsonPatch, `[{"op":"remove","path":"/spec/ingress/0/from/0/namespaceSelector/matchExpressions/0"}]`, "replace the selector", kindOf("networking.k8s.io/v1", "NetworkPolicy")},
		{jsonPatch, `[{"op":"replace","path":"/involvedObject/name","value":"argocd"}]`, "replace the object", kindOf("v1", "Event")},
		{jsonPatch, `[{"op":"replace","path":"","value":{"kind":"RoleBinding"}}]`, "kind:", kindOf("v1", "Pod")},
		{jsonPatch, `{"op":"add"}`, "list of operations", kindOf("v1", "Pod")},
		{jsonPatch, `[{"op":"swap","path":"/a"}]`, "unknown operation", kindOf("v1", "Pod")},
		{jsonPatch, `[1]`, "must be an object", kindOf("v1", "Pod")},
		{mergePatch, `{"involvedObject":{"name":"argocd"}}`, `must contain both "kind" and "name"`, kindOf("v1", "Event")},
		{mergePatch, `{"kind":"RoleBinding","apiVersion":"rbac.authorization.k8s.io/v1"}`, "kind:", kindOf("v1", "Pod")},
		{mergePatch, `{"Metadata":{}}`, "unknown field", kindOf("v1", "Pod")},
		{applyPatch, "metadata: {namespace: prod}\nmetadata: {namespace: argocd}", "malformed YAML", kindOf("v1", "Pod")},
		{mergePatch, `[]`, "must be an object", kindOf("v1", "Pod")},
	} {
		out, err := m.Patch(c.media, c.kind, []byte(c.in))
		if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%s: %s, %v", c.in, out, err)
		}
	}
	if _, err := m.Patch("application/apply-patch+cbor", kindOf("v1", "Pod"), []byte("x")); !apierrors.IsUnsupportedMediaType(err) {
		t.Error(err)
	}
}

func TestSelectorsInQueriesAreTranslated(t *testing.T) {
	m := testMapper()
	for _, c := range []struct{ kind, in, out string }{
		{"Namespace", "labelSelector=kubernetes.io/metadata.name in (prod, default),a=b", "labelSelector=kubernetes.io/metadata.name in (acme-prod, acme),a=b"},
		{"Namespace", "labelSelector=kubernetes.io/metadata.name!=prod", "labelSelector=kubernetes.io/metadata.name!=acme-prod"},
		{"Namespace", "labelSelector=!prod.tree.hnc.x-k8s.io/depth", "labelSelector=!acme-prod.tree.hnc.x-k8s.io/depth"},
		// Ancestors above the root cannot be guessed.
		{"Namespace", "labelSelector=corp.tree.hnc.x-k8s.io/depth", "labelSelector=corp.external.tree.hnc.x-k8s.io/depth"},
		{"Namespace", "labelSelector=corp.external.tree.hnc.x-k8s.io/depth", "labelSelector=corp.external.tree.hnc.x-k8s.io/depth"},
		{"Pod", "labelSelector=kubernetes.io/metadata.name=prod", "labelSelector=kubernetes.io/metadata.name=prod"},
		{"Secret", "labelSelector=hnc.x-k8s.io/inherited-from==default", "labelSelector=hnc.x-k8s.io/inherited-from==acme"},
		{"Pod", "fieldSelector=metadata.namespace=prod,metadata.name=prod", "fieldSelector=metadata.name=prod,metadata.namespace=acme-prod"},
		{"Namespace", "fieldSelector=metadata.name!=prod", "fieldSelector=metadata.name!=acme-prod"},
		{"Event", "fieldSelector=involvedObject.kind=Namespace,involvedObject.name=prod,involvedObject.namespace=", "fieldSelector=involvedObject.kind=Namespace,involvedObject.name=acme-prod,involvedObject.namespace="},
		{"Event", "fieldSelector=involvedObject.namespace=default,involvedObject.name=prod", "fieldSelector=involvedObject.name=prod,involvedObject.namespace=acme"},
		{"Pod", "watch=true&fieldSelector=spec.nodeName=a", "watch=true&fieldSelector=spec.nodeName=a"},
	} {
		parse := func(text string) url.Values {
			values := url.Values{}
			for _, part := range strings.Split(text, "&") {
				key, value, _ := strings.Cut(part, "=")
				values.Add(key, value)
			}
			return values
		}
		out, err := m.Query(schema.GroupKind{Kind: c.kind}, parse(c.in))
		if err != nil || out.Encode() != parse(c.out).Encode() {
			t.Errorf("%s: %v, %v", c.in, out, err)
		}
	}
	if _, err := m.Query(schema.GroupKind{Kind: "Pod"}, url.Values{"fieldSelector": {"a"}}); !apierrors.IsBadRequest(err) {
		t.Error(err)
	}
}
