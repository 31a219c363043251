package hierarchy

import (
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree/treetest"
)

func TestTheStatusOfAHierarchyHasChildrenAndConditions(t *testing.T) {
	for name, test := range map[string]struct {
		given []string
		want  string // children, then type=reason; "none", "create" or "create PARENT"
	}{
		"a lonely root without a hierarchy":                  {[]string{"ns a"}, "none"},
		"a lonely root with one":                             {[]string{"ns a", "cascading a"}, "Ready=Ready"},
		"a root with children and none":                      {[]string{"ns a", "ns b", "parent b a"}, "create"},
		"a terminating one":                                  {[]string{"ns a", "ns b", "parent b a", "terminating a"}, "none"},
		"COND-IllegalParent an excluded parent":              {[]string{"ns a", "parent a kube-system"}, "ActivitiesHalted=IllegalParent Ready=IllegalParent"},
		"children are sorted and exist":                      {[]string{"ns a", "parent a ", "ns c", "ns b", "parent b a", "parent c a", "parent d a", "ns r", "parent a r"}, "b c Ready=Ready"},
		"a child that is being deleted":                      {[]string{"ns a", "cascading a", "ns b sub-of a", "asked a b", "parent b a", "terminating b"}, "b Ready=Ready"},
		"a child that is being deleted, its hierarchy gone":  {[]string{"ns a", "cascading a", "ns b sub-of a", "asked a b", "terminating b"}, "Ready=Ready"},
		"COND-ParentMissing a missing parent":                {[]string{"ns a", "parent a p"}, "ActivitiesHalted=ParentMissing Ready=ParentMissing"},
		"COND-AncestorHaltActivities below a missing parent": {[]string{"ns a", "ns b", "parent a b", "parent b p"}, "ActivitiesHalted=AncestorHaltActivities Ready=AncestorHaltActivities"},
		"COND-InCycle a cycle":                               {[]string{"ns a", "ns b", "parent a b", "parent b a"}, "b ActivitiesHalted=InCycle Ready=InCycle"},
		"an orphan without a hierarchy":                      {[]string{"ns p", "ns a sub-of p"}, "create"},
		"COND-SubnamespaceAnchorMissing an orphan":           {[]string{"ns p", "ns a sub-of p", "parent a p"}, "BadConfiguration=SubnamespaceAnchorMissing Ready=SubnamespaceAnchorMissing"},
		"an orphan of a missing parent":                      {[]string{"ns a sub-of p", "parent a p"}, "ActivitiesHalted=ParentMissing BadConfiguration=SubnamespaceAnchorMissing Ready=ParentMissing"},
		"a sub-namespace that lost hierarchy":                {[]string{"ns p", "ns a sub-of p", "asked p a", "ns b", "parent b a"}, "create p"},
	} {
		t.Run(name, func(t *testing.T) {
			given := slices.DeleteFunc(slices.Clone(test.given), func(line string) bool { return line == "parent a " })
			w := Plan(treetest.New(given...), "a", treetest.Now)
			got := "none"
			switch {
			case w == nil:
			case w.Create:
				got = strings.TrimSpace("create " + w.Parent)
			default:
				words := slices.Clone(w.Status.Children)
				for _, c := range w.Status.Details() {
					words = append(words, c.Type+"="+c.Reason)
					if want := c.Type != hnc.ConditionReady || c.Reason == hnc.ReasonReady; (c.Status == metav1.ConditionTrue) != want {
						t.Errorf("%s is %s for %s", c.Type, c.Status, c.Reason)
					}
					if c.ObservedGeneration != 1 || c.LastTransitionTime != treetest.Now || c.Message == "" {
						t.Errorf("incomplete condition %v", c)
					}
				}
				got = strings.Join(words, " ")
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestAStatusIsWrittenOnceAndKeepsItsTransitionTimes(t *testing.T) {
	w := treetest.New("ns a", "parent a p")
	first := Plan(w, "a", treetest.Now)
	h := *w.Hierarchy("a")
	h.ResourceVersion, h.Status = treetest.Next(), first.Status
	w.SetHierarchy(&h)
	later := metav1.NewTime(treetest.Now.Add(time.Hour))
	if again := Plan(w, "a", later); again != nil {
		t.Fatalf("written again: %v", again.Status)
	}
	h.ResourceVersion, h.Generation = treetest.Next(), 2
	w.SetHierarchy(&h)
	second := Plan(w, "a", later)
	if second == nil || second.Status.Conditions[0].LastTransitionTime != treetest.Now || second.Status.Conditions[0].ObservedGeneration != 2 {
		t.Errorf("after a new generation: %v", second)
	}
	w.SetNamespace(&tree.Namespace{Name: "p", UID: "uid-p", ResourceVersion: treetest.Next()})
	healed := Plan(w, "a", later)
	if healed == nil || len(healed.Status.Conditions) != 1 || healed.Status.Conditions[0].LastTransitionTime != later {
		t.Errorf("healed: %v", healed)
	}
}

func TestSeveralConditionsOfOneTypeAreWrittenOnce(t *testing.T) {
	w := treetest.New("ns a", "says a labels x=1", "says a annotations x=1")
	first := Plan(w, "a", treetest.Now)
	if first == nil || len(first.Status.Details()) != 3 || len(first.Status.Conditions) != 2 || len(first.Status.Problems) != 2 {
		t.Fatalf("got %v, want one condition for two problems, and Ready", first)
	}
	counted := meta.FindStatusCondition(first.Status.Conditions, hnc.ConditionBadConfiguration)
	if counted == nil || counted.Reason != hnc.ReasonMultipleProblems ||
		counted.Message != "2 problems, which status.problems lists: IllegalManagedLabel, IllegalManagedAnnotation" {
		t.Errorf("got %v", counted)
	}
	h := *w.Hierarchy("a")
	h.ResourceVersion, h.Status = treetest.Next(), first.Status
	slices.Reverse(h.Status.Conditions)
	w.SetHierarchy(&h)
	later := metav1.NewTime(treetest.Now.Add(time.Hour))
	if again := Plan(w, "a", later); again != nil {
		t.Errorf("written again: %v", again.Status.Conditions)
	}
	h.ResourceVersion, h.Generation = treetest.Next(), 2
	w.SetHierarchy(&h)
	second := Plan(w, "a", later)
	if second == nil || second.Status.ObservedGeneration != 2 {
		t.Fatalf("after a new generation: %v", second)
	}
	for _, c := range append(second.Status.Details(), second.Status.Conditions...) {
		if c.LastTransitionTime != treetest.Now {
			t.Errorf("%s (%s) has another time: %v", c.Type, c.Reason, c.LastTransitionTime)
		}
	}
}

func TestTheHierarchyOfAnExcludedNamespaceReportsThat(t *testing.T) {
	w := treetest.New("ns a", "has a label off=", "cascading a", "ns b", "parent b a")
	s := Plan(w, "a", treetest.Now)
	if s == nil || len(s.Status.Children) != 0 || len(s.Status.Conditions) != 1 || s.Status.Conditions[0].Reason != hnc.ReasonNamespaceExcluded {
		t.Errorf("2.1: got %v", s)
	}
	if s := Plan(treetest.New("ns kube-system"), "kube-system", treetest.Now); s != nil {
		t.Errorf("2.1: one without a hierarchy gets %v", s)
	}
}
