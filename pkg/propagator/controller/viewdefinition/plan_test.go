package viewdefinition

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree/treetest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
)

const suffix = "acme-12345.views.hnc.x-k8s.io"

// state returns what is known of a view that may have a number of CustomResourceDefinitions. Names of definitions that
// begin with "-" are being deleted; each is older than the next. crds are the CustomResourceDefinitions, by the same
// names.
func state(limit int32, definitions []string, crds ...string) *cache.State {
	s := &cache.State{Tree: treetest.New("ns acme"), ViewsListed: true, Views: map[string]*v1alpha3.TenantView{}, Definitions: &cache.Definitions{
		Wanted: map[string]map[string]cache.Definition{"acme": {}}, CRDs: map[string]map[string]*cache.ViewCRD{"acme": {}},
	}}
	ns := *s.Tree.Namespace("acme")
	ns.UID, ns.ResourceVersion = "12345-6789", treetest.Next()
	s.Tree.SetNamespace(&ns)
	s.Views["acme"] = &v1alpha3.TenantView{Spec: v1alpha3.TenantViewSpec{CustomResources: v1alpha3.ViewCustomResources{Limit: limit}}}
	deleted := metav1.Now()
	for i, name := range definitions {
		name, deleting := strings.CutPrefix(name, "-")
		v := &v1alpha3.ViewDefinition{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "acme", UID: types.UID(name), Generation: 1,
			CreationTimestamp: metav1.NewTime(time.Unix(int64(i), 0)), Finalizers: []string{hnc.FinalizerViewDefinition}}}
		if deleting {
			v.DeletionTimestamp = &deleted
		}
		s.Definitions.Wanted["acme"][name] = cache.Definition{ViewDefinition: v}
	}
	for _, name := range crds {
		name, deleting := strings.CutPrefix(name, "-")
		group := strings.SplitN(name, ".", 2)[1]
		full := name + "." + suffix
		s.Definitions.CRDs["acme"][full] = &cache.ViewCRD{Name: full, Group: group + "." + suffix, Root: "acme", Definition: name + "/1", Terminating: deleting}
	}
	return s
}

// large gives definitions specs of which a namespace may have one.
func large(s *cache.State) *cache.State {
	for name, v := range s.Definitions.Wanted["acme"] {
		v.SpecBytes = hnc.MaxViewDefinitionBytes/2 + 1
		s.Definitions.Wanted["acme"][name] = v
	}
	return s
}

func TestWhatEachDefinitionNeeds(t *testing.T) {
	for _, test := range []struct {
		what  string
		state *cache.State
		want  string
	}{
		{"the oldest are the first", state(2, []string{"c.x.io", "b.x.io", "a.x.io"}), "c.x.io create, b.x.io create, a.x.io LimitReached"},
		{"no limit, none", state(0, []string{"a.x.io"}), "a.x.io LimitReached"},
		{"those that exist stay", state(0, []string{"a.x.io"}, "a.x.io"), "a.x.io keep"},
		{"those that exist count", state(1, []string{"a.x.io", "b.x.io"}, "b.x.io"), "a.x.io LimitReached, b.x.io keep"},
		{"so do those that are being deleted", state(1, []string{"a.x.io"}, "-b.x.io"), "a.x.io LimitReached"},
		{"and those whose definitions have been lost", state(1, []string{"a.x.io"}, "b.x.io"), "a.x.io LimitReached"},
		{"their specs are bounded", large(state(3, []string{"a.x.io", "b.x.io", "c.x.io"}, "c.x.io")), "a.x.io create, b.x.io LimitReached, c.x.io keep"},
		{"a definition that is being deleted", state(1, []string{"-a.x.io"}, "a.x.io"), "a.x.io remove"},
		{"waits for its custom resources", state(1, []string{"-a.x.io"}, "-a.x.io"), "a.x.io keep"},
		{"and goes", state(1, []string{"-a.x.io"}), "a.x.io release"},
		{"one that was created again waits", state(1, []string{"a.x.io"}, "-a.x.io"), "a.x.io keep"},
	} {
		p := newPlan(test.state, "acme")
		var got []string
		for _, s := range p.steps {
			what := map[action]string{keep: "keep", create: "create", update: "update", remove: "remove", release: "release"}[s.action]
			if s.reason != "" {
				what = s.reason
			}
			got = append(got, s.definition.Name+" "+what)
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%s: got %v, want %s", test.what, got, test.want)
		}
	}
	for limit, want := range []string{"LimitReached", "LimitReached", ""} {
		changed := state(int32(limit), []string{"a.x.io", "b.x.io"}, "a.x.io", "b.x.io")
		changed.Definitions.Wanted["acme"]["a.x.io"].Generation = 2
		if got := newPlan(changed, "acme").steps[0]; got.reason != want || (got.action == update) != (want == "") {
			t.Errorf("a changed spec of two where %d are allowed: %+v", limit, got)
		}
	}
}

func TestWhereCreatorsHavePermissions(t *testing.T) {
	for line, want := range map[string]struct{ exists, grants bool }{
		"ns other":           {true, true},
		"parent acme gone":   {true, false},
		"terminating acme":   {false, false},
		"ns acme label off=": {true, false},
		"gone acme":          {},
	} {
		s := state(1, []string{"a.x.io"}, "a.x.io")
		treetest.Apply(s.Tree, line)
		if p := newPlan(s, "acme"); p.exists != want.exists || p.grants != want.grants {
			t.Errorf("%s: got %+v", line, p)
		}
	}
}

// Nothing of a namespace that is created again, or restored, under the name of another one has the groups of that,
// whose CustomResourceDefinitions stay and do not count.
func TestANamespaceThatIsCreatedAgainHasOtherGroups(t *testing.T) {
	s := state(1, []string{"a.x.io"}, "a.x.io")
	ns := *s.Tree.Namespace("acme")
	ns.UID, ns.ResourceVersion = "abcde-6789", treetest.Next()
	s.Tree.SetNamespace(&ns)
	p := newPlan(s, "acme")
	if step := p.steps[0]; step.crd != nil || step.action != create || step.name != "a.x.io.acme-abcde.views.hnc.x-k8s.io" {
		t.Errorf("got %+v", p)
	}
}

// Nothing that a tenant writes outside of the spec is part of the CustomResourceDefinition, and the group is ours.
func TestWhatACustomResourceDefinitionHasOfADefinition(t *testing.T) {
	v := &v1alpha3.ViewDefinition{ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com", Namespace: "acme", UID: "u", Generation: 3,
		Labels: map[string]string{hnc.LabelViewRoot: "other"}, Annotations: map[string]string{"api-approved.kubernetes.io": "x"}, Finalizers: []string{"a/b"}},
		Spec: runtime.RawExtension{Raw: []byte(`{"group":"apps","names":{"categories":["all"],"plural":"widgets","shortNames":["po"]},"scope":"Namespaced","versions":[{"maximum":9007199254740993}]}`)}}
	o := &unstructured.Unstructured{Object: map[string]any{}}
	if err := fill(o, v, suffix); err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"annotations":{"hnc.x-k8s.io/view-definition":"u/3"},` +
		`"labels":{"hnc.x-k8s.io/view-root":"acme"},"name":"widgets.example.com.` + suffix + `"},"spec":{"group":"example.com.` + suffix + `",` +
		`"names":{"categories":["all-12345"],"plural":"widgets","shortNames":["po-12345"]},"scope":"Namespaced","versions":[{"maximum":9007199254740993}]}}`
	if strings.TrimSpace(string(got)) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestADefinitionWithoutShortNames(t *testing.T) {
	v := &v1alpha3.ViewDefinition{ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com"}, Spec: runtime.RawExtension{Raw: []byte(`{"names":{"shortNames":null}}`)}}
	if err := fill(&unstructured.Unstructured{Object: map[string]any{}}, v, suffix); err != nil {
		t.Error(err)
	}
}

func TestTheStatusOfADefinition(t *testing.T) {
	s := state(1, []string{"a.x.io"}, "a.x.io")
	step := newPlan(s, "acme").steps[0]
	if ready := meta.FindStatusCondition(statusOf(step, suffix, metav1.Now()).Conditions, hnc.ConditionReady); ready.Reason != hnc.ReasonNotEstablished {
		t.Errorf("got %v", ready)
	}
	step.crd.Status.AcceptedNames = v1alpha3.ViewDefinitionNames{Plural: "a", ShortNames: []string{"x-12345"}, Categories: []string{"all-12345"}}
	step.crd.Status.Conditions = []metav1.Condition{{Type: "Established", Status: metav1.ConditionTrue, Reason: "InitialNamesAccepted", Message: "x." + suffix}}
	status := statusOf(step, suffix, metav1.Now())
	if !meta.IsStatusConditionTrue(status.Conditions, hnc.ConditionReady) || status.Conditions[0].Message != "x" || status.ObservedGeneration != 1 {
		t.Errorf("got %v", status)
	}
	if got := status.AcceptedNames; got.ShortNames[0] != "x" || got.Categories[0] != "all" {
		t.Errorf("the names are %v", got)
	}
	step.definition.Status = status
	if later := statusOf(step, suffix, metav1.NewTime(time.Now().Add(time.Hour))); !later.Conditions[1].LastTransitionTime.Equal(&status.Conditions[1].LastTransitionTime) {
		t.Errorf("a status that has not changed is written: %v", later)
	}
	step.reason, step.message = hnc.ReasonDefinitionRefused, `widgets.x.io.`+suffix+` is invalid`
	for range 2 { // also when it is being deleted
		if ready := meta.FindStatusCondition(statusOf(step, suffix, metav1.Now()).Conditions, hnc.ConditionReady); ready.Reason != hnc.ReasonDefinitionRefused || ready.Message != "widgets.x.io is invalid" {
			t.Errorf("got %v", ready)
		}
		step.definition.DeletionTimestamp = &metav1.Time{Time: time.Now()}
	}
}
