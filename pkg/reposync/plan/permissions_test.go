package plan

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// TestReduces compares objects of the repository with what is live.
func TestReduces(t *testing.T) {
	const (
		one = "roleRef: {kind: ClusterRole, name: edit}\nsubjects: [{kind: User, name: ann}]\n"
		two = "roleRef: {kind: ClusterRole, name: edit}\nsubjects: [{kind: User, name: ann}, {kind: User, name: bob}]\n"
	)
	for name, c := range map[string]struct {
		live, wanted string
		want         bool
	}{
		"as before":           {one, one, true},
		"a subject less":      {two, one, true},
		"a subject more":      {one, two, false},
		"another subject":     {one, "roleRef: {kind: ClusterRole, name: edit}\nsubjects: [{kind: Group, name: ann}]\n", false},
		"another role":        {one, "roleRef: {kind: ClusterRole, name: admin}\nsubjects: [{kind: User, name: ann}]\n", false},
		"no subject":          {one, "roleRef: {kind: ClusterRole, name: edit}\n", true},
		"a group by default":  {"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}\nsubjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ann}]\n", one, true},
		"is propagated":       {"metadata: {annotations: {propagate.hnc.x-k8s.io/none: 'true'}}\n" + one, one, false},
		"a verb less":         {"rules: [{apiGroups: [''], resources: [pods], verbs: [get, list]}]", "rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]", true},
		"a verb more":         {"rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]", "rules: [{apiGroups: [''], resources: [pods], verbs: [get, list]}]", false},
		"a resource more":     {"rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]", "rules: [{apiGroups: [''], resources: [pods, secrets], verbs: [get]}]", false},
		"another group":       {"rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]", "rules: [{apiGroups: ['*'], resources: [pods], verbs: [get]}]", false},
		"one of all verbs":    {"rules: [{apiGroups: [''], resources: [pods], verbs: ['*']}]", "rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]", true},
		"a name":              {"rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]", "rules: [{apiGroups: [''], resources: [pods], verbs: [get], resourceNames: [a]}]", true},
		"no name":             {"rules: [{apiGroups: [''], resources: [pods], verbs: [get], resourceNames: [a]}]", "rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]", false},
		"what two rules give": {"rules: [{apiGroups: [''], resources: [pods], verbs: [get]}, {apiGroups: [''], resources: [secrets], verbs: [list]}]", "rules: [{apiGroups: [''], resources: [secrets], verbs: [get]}]", false},
	} {
		t.Run(name, func(t *testing.T) {
			parse := func(text string) *unstructured.Unstructured {
				o := &unstructured.Unstructured{}
				if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
					t.Fatal(err)
				}
				return o
			}
			wanted := &Object{ID: grant, source: &object.Object{Unstructured: *parse(c.wanted)}}
			if got := wanted.Reduces(parse(c.live)); got != c.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

// TestLeftOut finds the namespaces that lack an object whose kind is unknown.
func TestLeftOut(t *testing.T) {
	namespace := func(name, dir string) *Object {
		return &Object{ID: ID{Kind: object.Namespace, Name: name}, Path: "namespaces/" + dir + "/namespace.yaml"}
	}
	desired := []*Object{namespace("shop", "eng/shop"), namespace("shop-b", "eng/shop-b"), namespace("ops", "ops"), {ID: policy, Path: "namespaces/ops/policy.yaml"}}
	at := func(code report.Code, path string) report.Errors {
		return report.Errors{{Code: code, Sources: []report.Source{{Path: path, Kind: "Rule", Name: "deny"}}}}
	}
	for path, want := range map[string]string{
		"namespaces/rule.yaml":          "map[ops:Rule deny of unknown kind in namespaces/rule.yaml shop:Rule deny of unknown kind in namespaces/rule.yaml shop-b:Rule deny of unknown kind in namespaces/rule.yaml]",
		"namespaces/eng/shop/rule.yaml": "map[shop:Rule deny of unknown kind in namespaces/eng/shop/rule.yaml]",
		"cluster/rule.yaml":             "map[]",
	} {
		if got := fmt.Sprint(LeftOut(at(report.UnknownKind, path), desired)); got != want {
			t.Errorf("%s: got %s", path, got)
		}
	}
	if got := LeftOut(at(report.SelectorPrefix, "namespaces/rule.yaml"), desired); len(got) > 0 {
		t.Errorf("got %v", got)
	}
}
