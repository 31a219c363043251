package subnamespace

import (
	"strings"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/namespacestate"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree/treetest"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
)

func TestARequiredChildIsCreated(t *testing.T) {
	for name, test := range map[string]struct {
		given   []string
		want    action
		problem string // part of the condition of the parent's Hierarchy
	}{
		"it is missing":                              {[]string{"ns p", "requires p a c"}, require, ""},
		"it is there":                                {[]string{"ns p", "requires p c", "ready p c", "ns c sub-of p", "parent c p"}, report, ""}, // that it is required
		"it is being deleted":                        {[]string{"ns p", "requires p c", "deleting p c", "ns c sub-of p", "parent c p", "terminating c"}, none, ""},
		"only its namespace is there":                {[]string{"ns p", "requires p c", "ns c sub-of p", "parent c p"}, require, ""},
		"its namespace still terminates":             {[]string{"ns p", "requires p c", "ns c sub-of p", "parent c p", "terminating c"}, none, ""},
		"nobody requires it":                         {[]string{"ns p", "requires p other"}, none, ""},
		"the parent terminates":                      {[]string{"ns p", "requires p c", "terminating p"}, none, ""},
		"an ancestor terminates":                     {[]string{"ns r", "ns p", "parent p r", "requires p c", "terminating r"}, none, ""},
		"the parent is halted":                       {[]string{"ns p", "parent p x", "requires p c"}, none, ""},
		"the parent is excluded":                     {[]string{"ns p label off=", "requires p c"}, none, ""},
		"the name is excluded":                       {[]string{"ns p", "requires p kube-system c"}, require, `"kube-system" can't be created: namespace "kube-system" is excluded`},
		"a full namespace has the name":              {[]string{"ns p", "ns c", "requires p c"}, none, `"c" exists already, and is not a sub-namespace of "p"`},
		"a sub-namespace elsewhere has the name":     {[]string{"ns p", "ns c sub-of q", "requires p c"}, none, `"c" exists already`},
		"another Subnamespace asks for the name":     {[]string{"ns p", "ns q", "asked q c", "requires p c"}, none, `for a Subnamespace in namespace "q"`},
		"its Subnamespace is void":                   {[]string{"ns p", "requires p c", "ready p c", "void p c"}, report, `has no effect any more and is in the way`},
		"its void Subnamespace is being deleted":     {[]string{"ns p", "requires p c", "deleting p c", "void p c"}, release, ""},
		"somebody else manages a namespace so named": {[]string{"ns p", "ns c sub-of p", "has c manager other", "requires p c"}, none, `"c" exists already`},
	} {
		t.Run(name, func(t *testing.T) {
			w := treetest.New(test.given...)
			if got := planFor(w, tree.Key{Parent: "p", Name: "c"}, treetest.Now).action; got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			var messages []string
			if w.Active("p") {
				for _, c := range namespacestate.Conditions(w, "p") {
					if c.Reason == hnc.ReasonRequiredChildRefused {
						messages = append(messages, c.Message)
					}
				}
			}
			if got := strings.Join(messages, "\n"); (test.problem == "") != (got == "") || !strings.Contains(got, test.problem) {
				t.Errorf("the condition says %q, want %q", got, test.problem)
			}
		})
	}
}

func TestRejectionsOfRequiredChildrenAreReported(t *testing.T) {
	w, key := treetest.New("ns p", "requires p c"), tree.Key{Parent: "p", Name: "c"}
	if changed := w.SetRefused(key, "no room").Changed; len(changed) != 1 {
		t.Errorf("the status of %v is looked at", changed)
	}
	if changed := w.SetRefused(key, "no room").Changed; len(changed) != 0 {
		t.Error("the same again is no change")
	}
	if plan := planFor(w, key, treetest.Now); plan.action != require {
		t.Errorf("got %s: it has to be tried again", plan.action)
	}
	if found := namespacestate.Conditions(w, "p"); len(found) != 1 || !strings.Contains(found[0].Message, "no room") {
		t.Errorf("got %v", found)
	}
	treetest.Apply(w, "asked p c")
	if found := namespacestate.Conditions(w, "p"); len(found) != 0 {
		t.Errorf("got %v after it was created", found)
	}
}

func TestASubnamespaceReportsWhetherItIsRequired(t *testing.T) {
	there := []string{"ns p", "ns c sub-of p", "parent c p", "ready p c"}
	for name, test := range map[string]struct {
		given []string
		want  string
	}{
		"as long as it is":                     {[]string{"requires p c", "required p c"}, "True/RequiredByParent"},
		"not any more":                         {[]string{"required p c"}, "False/NotRequired"},
		"created by somebody, required later":  {[]string{"requires p c"}, "True/RequiredByParent"},
		"created by somebody, required before": {[]string{"requires p c", "requires p"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			plan := planFor(treetest.New(append(there, test.given...)...), tree.Key{Parent: "p", Name: "c"}, treetest.Now)
			var got string
			if c := meta.FindStatusCondition(plan.status.Conditions, hnc.ConditionRequired); c != nil {
				got = string(c.Status) + "/" + c.Reason
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if test.want == "" {
				return
			}
			if ready := meta.FindStatusCondition(plan.status.Conditions, hnc.ConditionReady); plan.action != report || ready == nil || ready.Reason != hnc.ReasonReady {
				t.Errorf("got the plan %+v", plan)
			}
		})
	}
}

// Everything that may make a required child due looks at it again.
func TestARequiredChildIsLookedAtWhenItBecomesDue(t *testing.T) {
	key := tree.Key{Parent: "p", Name: "c"}
	w := treetest.New("ns p")
	for _, step := range []struct {
		what   string
		change func() tree.Affected
	}{
		{"it is required", func() tree.Affected {
			h := treetest.Hierarchy(w, "p")
			h.Required = []string{"c"}
			return w.SetHierarchy(h)
		}},
		{"its record goes", func() tree.Affected {
			treetest.Apply(w, "asked p c")
			return w.DeleteSubnamespace(key, w.SubnamespaceRecord(key).UID)
		}},
		{"what had its name goes", func() tree.Affected {
			treetest.Apply(w, "ns c")
			return w.DeleteNamespace("c", "uid-c")
		}},
		{"another one that asks for it goes", func() tree.Affected {
			treetest.Apply(w, "asked q c")
			return w.DeleteSubnamespace(tree.Key{Parent: "q", Name: "c"}, "s-c")
		}},
	} {
		affected := step.change()
		var found bool
		for _, k := range affected.Subnamespaces {
			found = found || k == key
		}
		if !found {
			t.Errorf("not when %s: %+v", step.what, affected)
		}
	}
}
