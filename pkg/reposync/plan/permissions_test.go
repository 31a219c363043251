package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
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
		"as before":          {one, one, true},
		"a subject less":     {two, one, true},
		"a subject more":     {one, two, false},
		"another subject":    {one, "roleRef: {kind: ClusterRole, name: edit}\nsubjects: [{kind: Group, name: ann}]\n", false},
		"another role":       {one, "roleRef: {kind: ClusterRole, name: admin}\nsubjects: [{kind: User, name: ann}]\n", false},
		"propagated no more": {one, "metadata: {annotations: {propagate.hnc.x-k8s.io/none: 'true'}}\n" + one, true},
		"a name that is a star": {"rules: [{apiGroups: [''], resources: [pods], verbs: [get], resourceNames: ['*']}]",
			"rules: [{apiGroups: [''], resources: [pods], verbs: [get], resourceNames: [a]}]", false},
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

// Labels aggregate what a ClusterRole grants; annotations propagate nothing of it.
func TestNarrowedPermissionsOfTheClusterAggregateNothingNew(t *testing.T) {
	const edit, view, ours = "rbac.authorization.k8s.io/aggregate-to-edit", "rbac.authorization.k8s.io/aggregate-to-view", "rbac.hnc.x-k8s.io/aggregate-to-propagator"
	clusterRole := func(annotation string, labels map[string]any) unstructured.Unstructured {
		return unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"labels": labels, "annotations": map[string]any{annotation: "true"}},
			"rules":    []any{map[string]any{"apiGroups": []any{""}, "resources": []any{"pods"}, "verbs": []any{"get"}}},
		}}
	}
	for name, test := range map[string]struct {
		live, wanted map[string]any
		want         map[string]string
		more         bool
	}{
		"new ones":      {map[string]any{"kept": "a", "other": "a"}, map[string]any{"kept": "a", "other": "b", view: "true", ours: "true"}, map[string]string{"kept": "a", "other": "a"}, false},
		"the same":      {map[string]any{view: "true"}, map[string]any{view: "true"}, map[string]string{view: "true"}, false},
		"one less":      {map[string]any{view: "true", edit: "true"}, map[string]any{edit: "true"}, map[string]string{edit: "true"}, true},
		"another value": {map[string]any{view: "true"}, map[string]any{view: "false"}, map[string]string{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			live := clusterRole(hnc.AnnotationNone, test.live)
			wanted := &Object{ID: ID{Kind: schema.GroupKind{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}, Name: "pods"}, source: &object.Object{Unstructured: clusterRole(hnc.AnnotationAll, test.wanted)}}
			narrowed, more := wanted.Narrow(&live)
			got := narrowed.Content().GetLabels()
			delete(got, hnc.LabelRepositorySync)
			delete(got, hnc.LabelManagedBy)
			if !maps.Equal(got, test.want) || more != test.more {
				t.Errorf("labels %v, which grants more: %t; want %v", got, more, test.want)
			}
		})
	}
}

// TestNarrow takes from the live state what the object of the repository does not grant.
func TestNarrow(t *testing.T) {
	binding := func(role string, subjects ...string) string {
		text := "roleRef: {kind: ClusterRole, name: " + role + "}\nsubjects:" + map[bool]string{true: " []"}[len(subjects) == 0] + "\n"
		for _, name := range subjects {
			text += "- {kind: User, name: " + name + "}\n"
		}
		return text
	}
	role := func(rules ...string) string { return "rules: [" + strings.Join(rules, ", ") + "]" }
	rule := func(verbs, resources string, more ...string) string {
		return "{apiGroups: [''], verbs: [" + verbs + "], resources: [" + resources + "]" + strings.Join(more, "") + "}"
	}
	annotated := func(annotations, text string) string {
		return "metadata: {annotations: {" + annotations + "}}\n" + text
	}
	const none, all, some, named = "propagate.hnc.x-k8s.io/none: 'true'", "propagate.hnc.x-k8s.io/all: 'true'", "propagate.hnc.x-k8s.io/select: a", ", resourceNames: [a, b]"
	for name, c := range map[string]struct {
		live, wanted, want string
		more               bool
	}{
		"a subject for another":        {binding("edit", "ann", "bob"), binding("edit", "bob", "eve"), binding("edit", "bob"), true},
		"all subjects for others":      {binding("edit", "ann"), binding("edit", "eve"), binding("edit"), true},
		"a subject more":               {binding("edit", "ann"), binding("edit", "ann", "eve"), binding("edit", "ann"), false},
		"another role":                 {binding("admin", "ann"), binding("view", "ann"), "", true},
		"propagated more":              {annotated(none, binding("edit", "ann")), annotated(all+", a: b", binding("edit", "ann")), annotated(none+", a: b", binding("edit", "ann")), false},
		"propagated elsewhere":         {annotated(all, binding("edit", "ann")), annotated(some, binding("edit", "ann")), annotated(none, binding("edit", "ann")), true},
		"propagated no more":           {annotated(all, binding("edit", "ann")), annotated(none, binding("edit", "ann", "eve")), annotated(none, binding("edit", "ann")), true},
		"a rule for another":           {role(rule("get", "pods"), rule("get", "secrets")), role(rule("get", "pods"), rule("get", "nodes")), role(rule("get", "pods")), true},
		"all rules for others":         {role(rule("get", "pods")), role(rule("get", "nodes")), role(), true},
		"a verb for another":           {role(rule("get, list", "pods, nodes")), role(rule("get, watch", "pods")), role(rule("get", "pods")), true},
		"a verb more":                  {role(rule("get", "pods")), role(rule("get, watch", "pods")), role(rule("get", "pods")), false},
		"less than all":                {role(rule("'*'", "'*'")), role(rule("get", "pods"), rule("list", "'*'")), role(rule("get", "pods"), rule("list", "'*'")), true},
		"all instead":                  {role(rule("get", "pods")), role(rule("'*'", "pods")), role(rule("get", "pods")), false},
		"names instead of all":         {role(rule("get, list", "pods")), role(rule("get", "pods, nodes", named)), role(rule("get", "pods", named)), true},
		"all instead of names":         {role(rule("get", "pods", named)), role(rule("get, list", "pods")), role(rule("get", "pods", named)), false},
		"a name for another":           {role(rule("get", "pods", named)), role(rule("get", "pods", ", resourceNames: [b, c]")), role(rule("get", "pods", ", resourceNames: [b]")), true},
		"other names":                  {role(rule("get", "pods", named)), role(rule("get", "pods", ", resourceNames: [c]")), role(), true},
		"a name that is a star":        {role(rule("get", "pods", ", resourceNames: ['*']")), role(rule("get", "pods", ", resourceNames: [c]")), role(), true},
		"a path for another":           {role("{verbs: [get], nonResourceURLs: [/a, /b]}"), role("{verbs: [get, post], nonResourceURLs: [/a, /c]}"), role("{verbs: [get], nonResourceURLs: [/a]}"), true},
		"the same in other rules":      {role(rule("get, list", "pods")), role(rule("get", "pods"), rule("list", "pods, nodes")), role(rule("get", "pods"), rule("list", "pods")), true},
		"the same in other rules, now": {role(rule("get", "pods"), rule("list", "pods")), role(rule("get", "pods"), rule("list", "pods, nodes")), role(rule("get", "pods"), rule("list", "pods")), false},
	} {
		t.Run(name, func(t *testing.T) {
			parse := func(text string) *unstructured.Unstructured {
				o := &unstructured.Unstructured{}
				if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
					t.Fatal(err)
				}
				return o
			}
			wanted := &Object{ID: grant, Hash: 7, source: &object.Object{Unstructured: *parse(c.wanted)}}
			before := wanted.Content()
			got, more := wanted.Narrow(parse(c.live))
			if more != c.more || (got == nil) != (c.want == "") {
				t.Fatalf("got %v, %t", got, more)
			}
			if !apiequality.Semantic.DeepEqual(wanted.Content(), before) {
				t.Error("the object of the repository is changed")
			}
			if got == nil {
				return
			}
			if want := (&Object{source: &object.Object{Unstructured: *parse(c.want)}}).Content(); !apiequality.Semantic.DeepEqual(got.Content(), want) || got.Hash == 7 {
				t.Errorf("got %v, want %v", got.Content(), want)
			}
			if again, more := wanted.Narrow(got.Content()); more || !apiequality.Semantic.DeepEqual(again.Content(), got.Content()) {
				t.Errorf("when that is live, got %v, %t", again.Content(), more)
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
	binding := func(subjects []any) map[string]any {
		return map[string]any{"roleRef": map[string]any{"name": "edit"}, "subjects": subjects}
	}
	role := func(resources []any) map[string]any {
		return map[string]any{"rules": []any{map[string]any{"verbs": []any{"get"}, "apiGroups": []any{""}, "resources": resources}}}
	}
	rules := func(n int) map[string]any {
		one := map[string]any{"verbs": []any{"*"}, "apiGroups": []any{"*"}, "resources": []any{"*"}}
		return map[string]any{"rules": slices.Repeat([]any{one}, n/4)}
	}
	for name, c := range map[string]struct {
		live, wanted map[string]any
		want         bool
		left         int
	}{
		"subjects":             {binding(subjects), binding(reversed), true, many},
		"a subject more":       {binding(subjects[1:]), binding(reversed), false, many - 1},
		"some values of rules": {role(values[:1000]), role(values[:1000]), true, 1},
		"too many of the live": {role(values), role(values[:10]), false, 0},
		"too many rules":       {rules(500), rules(496), true, 0},
		"the same values":      {role(values), role(values), true, 1},
		"the same rules":       {rules(5000), rules(5000), true, 1250},
	} {
		t.Run(name, func(t *testing.T) {
			reduces, left := make(chan bool, 1), 0
			go func() {
				wanted := &Object{ID: grant, source: &object.Object{Unstructured: unstructured.Unstructured{Object: c.wanted}}}
				narrowed, _ := wanted.Narrow(&unstructured.Unstructured{Object: c.live})
				content := narrowed.Content().Object
				subjects, _ := content["subjects"].([]any)
				rules, _ := content["rules"].([]any)
				left = len(subjects) + len(rules)
				reduces <- wanted.Reduces(&unstructured.Unstructured{Object: c.live})
			}()
			select {
			case got := <-reduces:
				if got != c.want || left != c.left {
					t.Errorf("got %t, and %d subjects or rules are left", got, left)
				}
			case <-time.After(time.Minute):
				t.Fatal("takes longer than a minute")
			}
		})
	}
}

// Tools leave out an empty list of subjects. What others have set there must not stay.
func TestWhatGrantsNothingSaysSo(t *testing.T) {
	const role, binding = "kind: ClusterRole\n", "kind: RoleBinding\n"
	for content, want := range map[string]string{
		binding: "[] <nil>", binding + "subjects: null": "[] <nil>", binding + "subjects: [{kind: User, name: ann}]": "[map[kind:User name:ann]] <nil>",
		role: "<nil> []", role + "aggregationRule: {}": "<nil> <nil>", "kind: Other\napiVersion: v1\n": "<nil> <nil>",
	} {
		if !strings.Contains(content, "apiVersion") {
			content += "\napiVersion: rbac.authorization.k8s.io/v1"
		}
		o := &Object{source: &object.Object{}}
		if err := yaml.Unmarshal([]byte(content), &o.source.Object); err != nil {
			t.Fatal(err)
		}
		got := o.Content().Object
		if text := fmt.Sprint(got["subjects"], " ", got["rules"]); text != want {
			t.Errorf("%s: got %s", content, text)
		}
	}
}

// Redirections runs for each applied object.
func TestRedirectionsDoNotCopyTheObject(t *testing.T) {
	data := map[string]any{}
	for i := range 10_000 {
		data[fmt.Sprint(i)] = "value"
	}
	o := &Object{ID: policy, source: &object.Object{Unstructured: unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{hnc.AnnotationAll: "true"}}, "data": data,
	}}}}
	live := map[string]string{hnc.AnnotationAll: "true", hnc.AnnotationNone: "true", "a": "b"}
	if got := o.Redirections(live); !slices.Equal(got, []string{hnc.AnnotationNone}) {
		t.Errorf("got %q", got)
	}
	if allocated := testing.AllocsPerRun(10, func() { o.Redirections(live) }); allocated > 20 {
		t.Errorf("%v allocations", allocated)
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
