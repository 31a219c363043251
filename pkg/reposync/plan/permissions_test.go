package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

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

// TestLargePermissionsAreComparedFast has many subjects and values of rules, in the opposite order: compared pairwise,
// they take minutes.
func TestLargePermissionsAreComparedFast(t *testing.T) {
	const many = 150_000
	var subjects, reversed, values []any
	for i := range many {
		subjects = append(subjects, map[string]any{"kind": "User", "name": fmt.Sprint(strings.Repeat("a", 200), i)})
		values = append(values, fmt.Sprint(i))
	}
	reversed = slices.Clone(subjects)
	slices.Reverse(reversed)
	binding := func(subjects []any) map[string]any { return map[string]any{"subjects": subjects} }
	role := func(resources []any) map[string]any {
		return map[string]any{"rules": []any{map[string]any{"resources": resources}}}
	}
	for name, c := range map[string]struct {
		live, wanted map[string]any
		want         bool
	}{
		"subjects":             {binding(subjects), binding(reversed), true},
		"a subject more":       {binding(subjects[1:]), binding(reversed), false},
		"some values of rules": {role(values[:1000]), role(values[:1000]), true},
		"too many of the live": {role(values), role(values[:10]), false},
	} {
		t.Run(name, func(t *testing.T) {
			reduces := make(chan bool, 1)
			go func() {
				wanted := &Object{ID: grant, source: &object.Object{Unstructured: unstructured.Unstructured{Object: c.wanted}}}
				reduces <- wanted.Reduces(&unstructured.Unstructured{Object: c.live})
			}()
			select {
			case got := <-reduces:
				if got != c.want {
					t.Errorf("got %t", got)
				}
			case <-time.After(time.Minute):
				t.Fatal("takes longer than a minute")
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
