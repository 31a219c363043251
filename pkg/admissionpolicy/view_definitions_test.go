package admissionpolicy

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// crd returns a CustomResourceDefinition with a group.
func crd(group string, options ...option) *unstructured.Unstructured {
	crd := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1",
		"kind":       "CustomResourceDefinition",
		"metadata":   map[string]any{"name": "widgets." + group, "labels": map[string]any{hnc.LabelViewRoot: "acme"}},
		"spec":       map[string]any{"group": group, "scope": "Namespaced"},
	}}
	for _, o := range options {
		o(crd)
	}
	return crd
}

// spec sets a field of the spec.
func spec(name string, value any) option {
	return func(object metav1.Object) {
		object.(*unstructured.Unstructured).Object["spec"].(map[string]any)[name] = value
	}
}

func viewDefinitionsRows() []row {
	const denied = "hns-propagator writes no CustomResourceDefinition"
	group := "example.com.acme-12345" + hnc.ViewGroupsSuffix
	own, foreign := crd(group), crd("example.com")
	unlabeled := crd(group)
	unlabeled.SetLabels(nil)
	by := func(object, old *unstructured.Unstructured) request {
		r := request{user: hnc.PropagatorUser}
		if object != nil {
			r.object = object
		}
		if old != nil {
			r.old = old
		}
		return r
	}
	return []row{
		{name: "view definitions: the propagator creates one", request: by(own, nil)},
		{name: "view definitions: it updates one", request: by(crd(group, spec("conversion", map[string]any{"strategy": "None"})), own)},
		{name: "view definitions: it deletes one", request: by(nil, own)},
		{name: "view definitions: others are the administrators'", request: request{object: foreign}},
		{name: "view definitions: the propagator creates no other", request: by(foreign, nil), denied: denied + " but those of views"},
		{name: "view definitions: nor updates one", request: by(foreign, foreign), denied: denied + " but those of views"},
		{name: "view definitions: nor deletes one", request: by(nil, foreign), denied: denied + " but those of views"},
		{name: "view definitions: nor deletes one without the label", request: by(nil, unlabeled), denied: denied + " but those of views"},
		{name: "view definitions: nor the status of one", request: request{user: hnc.PropagatorUser, subresource: "status", object: foreign, old: foreign}, denied: denied},
		{name: "view definitions: not in the cluster's scope", request: by(crd(group, spec("scope", "Cluster")), nil), denied: denied + " of cluster-scoped objects"},
		{name: "view definitions: no webhook", request: by(crd(group, spec("conversion", map[string]any{"strategy": "Webhook"})), own), denied: denied + " with a conversion webhook"},
	}
}
