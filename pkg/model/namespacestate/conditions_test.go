package namespacestate

import (
	"strings"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree/treetest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestProblemsOfManagedMetadata(t *testing.T) {
	for name, test := range map[string]struct {
		given []string
		of    string
		want  string   // type=reason of all but Ready
		says  []string // of the last of them
	}{
		"COND-IllegalManagedLabel: none": {[]string{"ns a", "says a labels m=1"}, "a", "", nil},
		"COND-IllegalManagedLabel": {[]string{"ns a", "says a labels x=1", "says a labels y=1"}, "a", "BadConfiguration=IllegalManagedLabel",
			[]string{"x, y", "spec.rules.managedNamespaceLabels", `"a"`}},
		"COND-IllegalManagedLabel: for one namespace": {[]string{"ns a", "says a namespaceLabels x=1"}, "a", "BadConfiguration=IllegalManagedLabel", []string{"x"}},
		"COND-IllegalManagedAnnotation": {[]string{"ns a", "says a annotations x=1"}, "a", "BadConfiguration=IllegalManagedAnnotation",
			[]string{"x", "spec.rules.managedNamespaceAnnotations", `"a"`}},
		"COND-IllegalManagedAnnotation: both, and both are reported": {[]string{"ns a", "says a labels x=1", "says a annotations x=1"}, "a",
			"BadConfiguration=IllegalManagedLabel BadConfiguration=IllegalManagedAnnotation", nil},
		"COND-IllegalManagedLabel: not in a descendant": {append(chainOfThree, "says a labels x=1"), "b", "", nil},
		"COND-IllegalManagedLabel: of an orphan": {[]string{"ns p", "ns a sub-of p", "parent a p", "says a labels x=1"}, "a",
			"BadConfiguration=SubnamespaceAnchorMissing BadConfiguration=IllegalManagedLabel", nil},
		"ManagedLabelConflict: both levels are named": {append(chainOfThree, "says a labels m=1", "says c labels m=2"), "c",
			"BadConfiguration=ManagedLabelConflict", []string{`m is "2" by namespace "c"`, `"1" by its ancestor "a", which wins`, "hierarchy of namespace"}},
		"ManagedLabelConflict: the highest is named": {append(chainOfThree, "says a labels m=1", "says b labels m=2", "says c labels m=3"), "c",
			"BadConfiguration=ManagedLabelConflict", []string{`ancestor "a"`}},
		"ManagedLabelConflict: not at the level above": {append(chainOfThree, "says a labels m=1", "says c labels m=2"), "b", "", nil},
		"ManagedLabelConflict: the same value":         {append(chainOfThree, "says a labels m=1", "says c labels m=1"), "c", "", nil},
		"ManagedLabelConflict: for one namespace only": {append(chainOfThree, "says a labels m=1", "says c namespaceLabels m=2"), "c",
			"BadConfiguration=ManagedLabelConflict", []string{`ancestor "a"`}},
		"ManagedLabelConflict: not with what an ancestor has for itself": {append(chainOfThree, "says a namespaceLabels m=1", "says c labels m=2"), "c", "", nil},
		"ManagedLabelConflict: not between its own two":                  {[]string{"ns a", "says a labels m=1", "says a namespaceLabels m=2"}, "a", "", nil},
		"ManagedLabelConflict: a Subnamespace's": {[]string{"ns p", "says p labels m=1", "ns c sub-of p", "asked p c", "asks p c labels m=2", "parent c p"}, "c",
			"BadConfiguration=ManagedLabelConflict", []string{`Subnamespace "c" in namespace "p"`}},
		"ManagedAnnotationConflict": {append(chainOfThree, "says a annotations m=1", "says c annotations m=2"), "c",
			"BadConfiguration=ManagedAnnotationConflict", []string{`annotation m is "2"`}},
		"ExternalNamespace: below abstract ancestors": {[]string{"ns a", "abstract a eng", "has a manager other"}, "a",
			"BadConfiguration=ExternalNamespace", []string{`managed by "other"`, "spec.abstractAncestors"}},
		"ExternalNamespace: H6 and N5 were passed by": {[]string{"ns p", "ns a", "parent a p", "has a manager other"}, "a", "", nil},
		"AbstractNameConflict": {[]string{"ns a", "abstract a eng platform", "ns platform"}, "a", "BadConfiguration=AbstractNameConflict",
			[]string{"platform, so", "the nearer one", "allow-shared-names"}},
		"AbstractNameConflict: allowed":               {[]string{"ns a", "shared a eng platform", "ns platform"}, "a", "", nil},
		"AbstractNameConflict: no namespace":          {[]string{"ns a", "abstract a eng platform"}, "a", "", nil},
		"AbstractNameConflict: at the leaf only":      {[]string{"ns a", "ns b", "parent b a", "abstract a eng", "ns eng"}, "b", "", nil},
		"AbstractNameConflict: the namespace is gone": {[]string{"ns a", "abstract a eng", "ns eng", "gone eng"}, "a", "", nil},
		"ExternalNamespace: a root":                   {[]string{"ns a", "cascading a", "has a manager other"}, "a", "", nil},
		"COND-IllegalParent: by labels":               {[]string{"ns p", "has p label off=", "ns a", "parent a p"}, "a", "ActivitiesHalted=IllegalParent", []string{`"p" is excluded`, "labels"}},
		"COND-SubnamespaceAnchorMissing":              {[]string{"ns p", "ns a sub-of p", "parent a p"}, "a", "BadConfiguration=SubnamespaceAnchorMissing", nil},
		"COND-InCycle: reported with other problems": {[]string{"ns a", "ns b", "parent a b", "parent b a", "says a labels x=1"}, "a",
			"ActivitiesHalted=InCycle BadConfiguration=IllegalManagedLabel", nil},
	} {
		t.Run(name, func(t *testing.T) {
			found := Conditions(treetest.New(test.given...), test.of)
			var words []string
			for _, c := range found {
				words = append(words, c.Type+"="+c.Reason)
				if c.Status != metav1.ConditionTrue || c.Message == "" {
					t.Errorf("incomplete condition %v", c)
				}
			}
			if got := strings.Join(words, " "); got != test.want {
				t.Fatalf("got %q, want %q", got, test.want)
			}
			for _, part := range test.says {
				if message := found[len(found)-1].Message; !strings.Contains(message, part) {
					t.Errorf("%q does not contain %q", message, part)
				}
			}
		})
	}
}
