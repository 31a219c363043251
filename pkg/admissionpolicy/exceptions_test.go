package admissionpolicy

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/exceptions"
)

func exceptionsRows() []row {
	typo := annotation("propagate.hnc.x-k8s.io/treeselect", "a")
	unknown := "annotation propagate.hnc.x-k8s.io/treeselect of "
	rows := []row{
		{name: "O1 a namespace that can't be part of a tree", request: request{object: role(typo, inNamespace("kube-system"))}},
		{name: "O1 a namespace that is in no tree", request: request{object: role(typo, inNamespace("alone"))}},
		{name: "O3 the propagator", request: request{user: hnc.PropagatorUser, object: role(typo)}},
		{name: "O4 an unknown annotation on a new object", request: request{object: role(typo)}, denied: unknown + "Role team-a/reader", invalid: true},
		{name: "O4 an unknown annotation on a custom resource", request: request{object: widget(typo)}, denied: unknown + "Widget team-a/cog", invalid: true},
		{name: "O4 an unknown annotation is added", request: request{object: role(typo), old: role()}, denied: unknown, invalid: true},
		{name: "O4 an unknown annotation is changed", denied: unknown, invalid: true,
			request: request{object: role(annotation("propagate.hnc.x-k8s.io/treeselect", "b")), old: role(typo)}},
		{name: "O4 an unknown annotation without a name that is known yet", denied: unknown, invalid: true,
			request: request{object: role(typo, func(o metav1.Object) { o.SetName("") })}},
		{name: "O4 any one label before the domain", denied: "annotation x.hnc.x-k8s.io/select of", invalid: true,
			request: request{object: role(annotation("x.hnc.x-k8s.io/select", ""))}},
		{name: "O4 an unknown annotation stays", request: request{object: role(typo, label("a", "b")), old: role(typo)}},
		{name: "O4 an unknown annotation goes", request: request{object: role(), old: role(typo)}},
		{name: "O4 the domain itself is not meant", request: request{object: role(annotation("hnc.x-k8s.io/x", ""))}},
		{name: "O4 two labels before the domain are not meant", request: request{object: role(annotation("a.b.hnc.x-k8s.io/x", ""))}},
		{name: "O4 a similar domain is not meant", request: request{object: role(annotation("x.hnc.x-k8s.io.example.com/x", ""))}},
		{name: "O4 the propagator's own exceptions", request: request{user: hnc.PropagatorUser, object: role(annotation(hnc.AnnotationNone, "true"))}},
		{name: "O5 a selector of 10 kB", denied: "has 10240 characters", invalid: true,
			request: request{object: role(annotation(hnc.AnnotationSelect, strings.Repeat("a", 10240)))}},
		{name: "O5 a long selector", request: request{object: role(annotation(hnc.AnnotationSelect, strings.Repeat("a in (b)"+strings.Repeat(" ", 119)+",", 63)+"z"))}},
		{name: "O5 as many items as allowed", request: request{object: role(annotation(hnc.AnnotationSelect, "a in ("+strings.Repeat("b,", 63)+"b)"))}},
		{name: "O5 too many items", denied: "select of Role team-a/reader has 65 items, more than 64", invalid: true,
			request: request{object: role(annotation(hnc.AnnotationSelect, "a in ("+strings.Repeat("b,", 64)+"b)"))}},
		{name: "O5 a long selector that is invalid", denied: "is not a label selector", invalid: true,
			request: request{object: role(annotation(hnc.AnnotationSelect, strings.Repeat("a in (b)"+strings.Repeat(" ", 119)+",", 63)))}},
		{name: "O5 what HNC rejects", request: request{object: role(annotation(hnc.AnnotationSelect, "a>1"))}, invalid: true,
			denied: "select of Role team-a/reader is not a label selector: use one such as env=prod"},
		{name: "O5 an invalid selector stays", request: request{object: role(annotation(hnc.AnnotationSelect, "a!=b"), label("a", "b")),
			old: role(annotation(hnc.AnnotationSelect, "a!=b"))}},
		{name: "O5 an invalid selector is changed", denied: "is not a label selector", invalid: true,
			request: request{object: role(annotation(hnc.AnnotationSelect, "a!=b")), old: role(annotation(hnc.AnnotationSelect, "a!=c"))}},
		{name: "O6 an empty item", request: request{object: role(annotation(hnc.AnnotationTreeSelect, "a,"))}, invalid: true,
			denied: "treeSelect of Role team-a/reader has an item that is not a namespace name: \"\""},
		{name: "O6 two names without !", request: request{object: role(annotation(hnc.AnnotationTreeSelect, "a, !b, c"))}, invalid: true,
			denied: "treeSelect of Role team-a/reader names a and c, but no namespace is below both"},
		{name: "O6 a treeSelect of 10 kB", denied: "treeSelect of Role team-a/reader has 10240 characters", invalid: true,
			request: request{object: role(annotation(hnc.AnnotationTreeSelect, strings.Repeat("!a,", 3413)+"b"))}},
		{name: "O6 the longest annotation that there is", denied: "characters, more than 8192", invalid: true,
			request: request{object: role(annotation(hnc.AnnotationTreeSelect, strings.Repeat(",", 260_000)))}},
		{name: "O6 a long treeSelect", request: request{object: role(annotation(hnc.AnnotationTreeSelect, strings.Repeat("!a"+strings.Repeat(" ", 125)+",", 63)+"b"))}},
		{name: "O6 too many items", denied: "treeSelect of Role team-a/reader has 65 items, more than 64", invalid: true,
			request: request{object: role(annotation(hnc.AnnotationTreeSelect, strings.Repeat("!a,", 64)+"b"))}},
		{name: "O6 an invalid treeSelect stays", request: request{object: role(annotation(hnc.AnnotationTreeSelect, "a,,b"), label("a", "b")),
			old: role(annotation(hnc.AnnotationTreeSelect, "a,,b"))}},
		{name: "O7 an invalid none stays", request: request{object: role(annotation(hnc.AnnotationNone, "yes"), label("a", "b")),
			old: role(annotation(hnc.AnnotationNone, "yes"))}},
		{name: "O9 two selectors", denied: "has the annotations " + hnc.AnnotationSelect + " and " + hnc.AnnotationTreeSelect, invalid: true,
			request: request{object: role(annotation(hnc.AnnotationSelect, "a"), annotation(hnc.AnnotationTreeSelect, "b"))}},
		{name: "O9 a second selector", denied: "only one of them is allowed", invalid: true,
			request: request{object: role(annotation(hnc.AnnotationAll, "true"), annotation(hnc.AnnotationNone, "false")),
				old: role(annotation(hnc.AnnotationAll, "true"))}},
		{name: "O9 an empty one does not count", request: request{object: role(annotation(hnc.AnnotationSelect, "a"), annotation(hnc.AnnotationNone, ""))}},
		{name: "O9 two that were there already stay", request: request{
			object: role(annotation(hnc.AnnotationSelect, "a"), annotation(hnc.AnnotationAll, "true"), label("a", "b")),
			old:    role(annotation(hnc.AnnotationSelect, "a"), annotation(hnc.AnnotationAll, "true"))}},
		{name: "O9 one for another", request: request{
			object: role(annotation(hnc.AnnotationSelect, "a")), old: role(annotation(hnc.AnnotationAll, "true"))}},
		{name: "O9 allowOverride goes with a selector", request: request{
			object: role(annotation(hnc.AnnotationSelect, "a"), annotation(hnc.AnnotationAllowOverride, "true"))}},
		{name: "O11 more annotations than anybody goes through", request: request{object: role(typo, annotations(1000))}},
		{name: "O11 as many annotations as there can be", request: request{object: role(annotations(50_000))}},
		{name: "O11 many annotations", request: request{object: role(annotations(999), annotation(hnc.AnnotationAll, "true"))}},
		{name: "O4 one of many annotations is unknown", request: request{object: role(annotations(999), typo)}, denied: unknown, invalid: true},
		{name: "O11 a source is deleted", request: request{old: role(typo)}},
	}
	for key, id := range map[string]string{hnc.AnnotationNone: "O7", hnc.AnnotationAll: "O8", hnc.AnnotationAllowOverride: "O8"} {
		for _, value := range []string{"", "1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"} {
			rows = append(rows, row{name: fmt.Sprintf("%s %s=%q", id, key, value), request: request{object: role(annotation(key, value))}})
		}
		for _, value := range []string{"tRUE", "yes", " ", "true ", "2"} {
			rows = append(rows, row{name: fmt.Sprintf("%s %s=%q is not a boolean", id, key, value), invalid: true,
				request: request{object: role(annotation(key, value))}, denied: "annotation " + key + ` of Role team-a/reader must be "true" or "false"`})
		}
	}
	return append(rows, notSourcesRows(typo)...)
}

// notSourcesRows are about kinds that are not validated.
func notSourcesRows(typo option) []row {
	meta := metav1.ObjectMeta{Namespace: "team-a", Name: "x"}
	objects := map[string]runtime.Object{
		"an event": &corev1.Event{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Event"}, ObjectMeta: meta},
		"an event of its own group": &eventsv1.Event{
			TypeMeta: metav1.TypeMeta{APIVersion: "events.k8s.io/v1", Kind: "Event"}, ObjectMeta: meta},
		"a lease": &coordinationv1.Lease{TypeMeta: metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"}, ObjectMeta: meta},
		"an endpoint slice": &discoveryv1.EndpointSlice{
			TypeMeta: metav1.TypeMeta{APIVersion: "discovery.k8s.io/v1", Kind: "EndpointSlice"}, ObjectMeta: meta},
		"endpoints": &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Endpoints", "metadata": map[string]any{"namespace": "team-a", "name": "x"}}},
		"a sub-namespace": &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "hnc.x-k8s.io/v1beta1", "kind": "Subnamespace", "metadata": map[string]any{"namespace": "team-a", "name": "x"}}},
	}
	var rows []row
	for name, object := range objects {
		typo(object.(metav1.Object))
		rows = append(rows, row{name: "not " + name, request: request{object: object}})
	}
	return rows
}

// ofServicesRows are about what controllers write for a Service, with a label that it has as a copy, or as an object of
// a repository.
func ofServicesRows(key string) []row {
	var rows []row
	for _, kind := range []schema.GroupVersionKind{{Version: "v1", Kind: "Endpoints"}, {Group: "discovery.k8s.io", Version: "v1", Kind: "EndpointSlice"}} {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(kind)
		object.SetNamespace("team-a")
		object.SetName("x")
		label(key, "acme")(object)
		rows = append(rows, row{name: fmt.Sprintf("%s of a Service with the label %s", kind.Kind, key), request: request{object: object}})
	}
	return rows
}

// annotations adds n unrelated annotations. 50 000 are nearly the 256 kB that an object may have.
func annotations(n int) option {
	return func(object metav1.Object) {
		for i := range n {
			annotation(fmt.Sprintf("%x", i), "")(object)
		}
	}
}

// The policy accepts exactly what the propagator can parse, except for the length of names.
func TestO5AndO6PolicyAcceptsWhatPropagatorParses(t *testing.T) {
	chain := newAdmissionChain(t, installed(t, "exceptions.yaml"))
	parts := map[string][]string{
		hnc.AnnotationSelect:     {"a", "B", "1", "_", ".", "-", "/", "!", "=", "==", "!=", ">", "<", "(", ")", ",", " ", "\t", " in ", " notin ", "in", "(a,b)"},
		hnc.AnnotationTreeSelect: {"a", "b", "1", "B", "_", ".", "-", "!", ",", " ", "\t", "a-b", "!a,"},
	}
	random := rand.New(rand.NewPCG(1, 2))
	for key, parts := range parts {
		var readable int
		for range 4000 {
			var value strings.Builder
			for range 1 + random.IntN(7) {
				value.WriteString(parts[random.IntN(len(parts))])
			}
			_, readErr := exceptions.Parse(exceptions.Of(map[string]string{key: value.String()}))
			_, err := chain.admit(t.Context(), request{object: role(annotation(key, value.String()))})
			if (err == nil) != (readErr == nil) {
				t.Errorf("%s=%q: written with error %v, read with error %v", key, value.String(), err, readErr)
			}
			if readErr == nil {
				readable++
			}
		}
		if readable < 200 {
			t.Errorf("%s: only %d values can be read; that shows little", key, readable)
		}
	}
}
