package namespacestate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree/treetest"
)

var chainOfThree = []string{"ns a", "ns b", "ns c", "parent b a", "parent c b"}

func TestTheManagedMetadataOfANamespace(t *testing.T) {
	for name, test := range map[string]struct {
		given             []string
		of                string
		want, annotations string // annotations only if they are others than the labels
	}{
		"3.3a: its own":                              {[]string{"ns a", "says a labels m=1"}, "a", "m=1", ""},
		"3.3a: what is not managed is ignored":       {[]string{"ns a", "says a labels x=1", "says a labels m=1"}, "a", "m=1", ""},
		"3.3a: the last of a key counts":             {[]string{"ns a", "says a labels m=1", "says a labels m=2"}, "a", "m=2", ""},
		"3.3c: what an ancestor sets":                {append(chainOfThree, "says a labels m=1"), "c", "m=1", ""},
		"3.3c: not what a descendant sets":           {append(chainOfThree, "says c labels m=1"), "b", "", ""},
		"3.3d: all levels":                           {append(chainOfThree, "says a labels m=1", "says b labels m2=2", "says c labels m3=3"), "c", "m2=2 m3=3 m=1", ""},
		"3.3d: the highest ancestor wins":            {append(chainOfThree, "says a labels m=1", "says b labels m=2", "says c labels m=3"), "c", "m=1", ""},
		"3.3d: a nearer one wins over the namespace": {append(chainOfThree, "says b labels m=2", "says c labels m=3"), "c", "m=2", ""},
		"3.3d: a halted namespace sets its own":      {[]string{"ns a", "parent a gone", "says a labels m=1"}, "a", "m=1", ""},
		"3.3d: nothing from beyond a halted one":     {[]string{"ns r", "says r labels m=1", "parent r b", "ns b", "parent b r", "says b labels m=2"}, "b", "m=2", ""},
		"3.3d: the halted one's are inherited": {[]string{"ns b", "ns c", "parent b gone", "parent c b", "says b labels m=1"},
			"c", "m=1", ""},
		"3.3d: external, its own labels win over its hierarchy's": {[]string{"ns a", "has a manager other", "has a label m=own", "says a labels m=1", "says a labels m2=2"},
			"a", "m2=2 m=own", "none"},
		"3.3d: below an external one": {[]string{"ns a", "ns b", "parent b a", "has a manager other", "has a label m=own", "says a labels m=1", "says a labels m2=2", "says b labels m=b"},
			"b", "m2=2 m=own", ""},
		"3.3d: an excluded one": {[]string{"ns a", "says a labels m=1", "has a label off="}, "a", "", ""},
		"3.1 step 8: a Subnamespace's replace the hierarchy's": {
			[]string{"ns p", "ns c sub-of p", "asked p c", "asks p c labels m=1", "parent c p", "says c labels m=2", "says c labels m3=3"}, "c", "m=1", ""},
		"3.1 step 8: an empty Subnamespace wipes them": {[]string{"ns p", "ns c sub-of p", "asked p c", "parent c p", "says c labels m=2"}, "c", "", ""},
		"3.1 step 8: an orphan keeps its hierarchy's":  {[]string{"ns p", "ns c sub-of p", "parent c p", "says c labels m=2"}, "c", "m=2", ""},
		"3.1 step 8: a sub-namespace to be":            {[]string{"ns p", "says p labels m=1", "asked p c", "asks p c labels m2=2"}, "c", "m2=2 m=1", ""},
		"3.1 step 8: somebody else's Subnamespace":     {[]string{"ns p", "ns c", "asked p c", "asks p c labels m=1"}, "c", "", ""},
		"one namespace only: itself":                   {append(chainOfThree, "says b namespaceLabels m=1"), "b", "m=1", ""},
		"one namespace only: not below":                {append(chainOfThree, "says b namespaceLabels m=1"), "c", "", ""},
		"one namespace only: over what it passes on":   {append(chainOfThree, "says b labels m=1", "says b namespaceLabels m=2"), "b", "m=2", ""},
		"one namespace only: what it passes on":        {append(chainOfThree, "says b labels m=1", "says b namespaceLabels m=2"), "c", "m=1", ""},
		"one namespace only: an ancestor wins":         {append(chainOfThree, "says a labels m=1", "says b namespaceLabels m=2"), "b", "m=1", ""},
		"one namespace only: a Subnamespace's":         {[]string{"ns p", "ns c sub-of p", "asked p c", "asks p c namespaceLabels m=1"}, "c", "m=1", ""},
		"one namespace only: not what is not managed":  {append(chainOfThree, "says b namespaceLabels x=1"), "b", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := treetest.New(treetest.Both(test.given...)...)
			if got := treetest.Managed(Labels(w, test.of)); got != test.want {
				t.Errorf("labels %q, want %q", got, test.want)
			}
			want := test.want
			if test.annotations == "none" {
				want = ""
			}
			if got := treetest.Managed(ManagedAnnotations(w, test.of)); got != want {
				t.Errorf("annotations %q, want %q", got, want)
			}
		})
	}
}

func TestManagedMetadataThatIsSetDirectlyIsCorrected(t *testing.T) {
	for name, test := range map[string]struct {
		given             []string
		want, annotations string // KEY=VALUE, or KEY- for one that goes; annotations only if they are others
	}{
		"3.3b: erased":                             {[]string{"ns a", "has a label m=1"}, "m-", ""},
		"3.3b: overwritten":                        {[]string{"ns a", "has a label m=1", "says a labels m=2"}, "m=2", ""},
		"3.3b: right already":                      {[]string{"ns a", "has a label m=1", "says a labels m=1"}, "", ""},
		"3.3b: not managed":                        {[]string{"ns a", "has a label x=1"}, "", ""},
		"3.3b: what came from an earlier parent":   {[]string{"ns a", "ns p", "says p labels m=1", "has a label m=1"}, "m-", ""},
		"3.3b: a terminating one is left alone":    {[]string{"ns a", "has a label m=1", "terminating a"}, "", ""},
		"3.3b: an excluded one is left alone":      {[]string{"ns a", "has a label m=1", "has a label off="}, "", ""},
		"3.3b': an external one keeps what it has": {[]string{"ns a", "has a manager other", "has a label m=1"}, "", ""},
		"3.3b': an external one gets labels only":  {[]string{"ns a", "has a manager other", "says a labels m=1"}, "m=1", "none"},
		"3.3b': an external one's own labels stay": {[]string{"ns a", "has a manager other", "has a label m=1", "says a labels m=2"}, "", ""},
		"3.3b: no longer external":                 {[]string{"ns a", "has a manager other", "has a label m=1", "has a manager "}, "m-", ""},
		"3.3d: from above":                         {[]string{"ns p", "says p labels m=1", "ns a", "parent a p", "has a label m=2"}, "m=1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var lines []string
			for _, line := range treetest.Both(test.given...) {
				if strings.HasSuffix(line, "manager ") {
					line += " " // names nobody
				}
				lines = append(lines, line)
			}
			w := changedWorld(lines)
			show := func(changes map[string]*string) string {
				var words []string
				for key, value := range changes {
					if strings.HasPrefix(key, "m") || key == "x" {
						word := key + "-"
						if value != nil {
							word = key + "=" + *value
						}
						words = append(words, word)
					}
				}
				slices.Sort(words)
				return strings.Join(words, " ")
			}
			if got := show(LabelChanges(w, "a")); got != test.want {
				t.Errorf("labels %q, want %q", got, test.want)
			}
			want := test.want
			if test.annotations == "none" {
				want = ""
			}
			if got := show(AnnotationChanges(w, "a")); got != want {
				t.Errorf("annotations %q, want %q", got, want)
			}
		})
	}
}

// The policy reads tree labels, which are late. The annotation would count when the namespace is deleted, and its
// hierarchy first.
func TestAChildIsNotManagedByOthers(t *testing.T) {
	for name, test := range map[string]struct {
		given   []string
		removed bool
	}{
		"a child":                  {[]string{"ns p", "ns a", "parent a p", "has a manager other"}, true},
		"its parent is missing":    {[]string{"ns a", "parent a p", "has a manager other"}, true},
		"it is excluded":           {[]string{"ns p", "ns a", "has a label off=", "parent a p", "has a manager other"}, false},
		"a root":                   {[]string{"ns a", "has a manager other"}, false},
		"a root with a hierarchy":  {[]string{"ns a", "cascading a", "has a manager other"}, false},
		"below abstract ancestors": {[]string{"ns a", "abstract a eng", "has a manager other"}, false},
	} {
		if value, changed := AnnotationChanges(treetest.New(test.given...), "a")[hnc.AnnotationManagedBy]; changed != test.removed || value != nil {
			t.Errorf("%s: it is removed: %t", name, changed)
		}
	}
}

// changedWorld is a world in which "has NAME manager" without a name takes the manager away.
func changedWorld(lines []string) *tree.Tree {
	w := treetest.New()
	for _, line := range lines {
		if words := strings.Fields(line); len(words) == 3 && words[2] == "manager" {
			ns := *w.Namespace(words[1])
			ns.ResourceVersion, ns.ManagedBy = treetest.Next(), ""
			w.SetNamespace(&ns)
			continue
		}
		treetest.Apply(w, line)
	}
	return w
}

func TestTreeLabelsOfAnExternalNamespaceGoOnBelowIt(t *testing.T) {
	given := []string{
		"ns e", "has e manager other", "has e label org.tree.hnc.x-k8s.io/depth=2", "has e label odd.tree.hnc.x-k8s.io/depth=x",
		"ns b", "parent b e", "ns c", "parent c b",
	}
	for of, want := range map[string]string{
		"e": "e:0 in-tree included-namespace org:2",
		"b": "b:0 e:1 in-tree included-namespace org:3",
		"c": "b:1 c:0 e:2 in-tree included-namespace org:4",
	} {
		if got := treetest.Show(Labels(treetest.New(given...), of)); got != want {
			t.Errorf("3.3d: labels of %s are %q, want %q", of, got, want)
		}
	}
	w := treetest.New(given...)
	if changes := LabelChanges(w, "e"); changes["org.tree.hnc.x-k8s.io/depth"] != nil {
		t.Errorf("3.3b': the external namespace's tree label becomes %s", *changes["org.tree.hnc.x-k8s.io/depth"])
	} else if _, ok := changes["org.tree.hnc.x-k8s.io/depth"]; ok {
		t.Error("3.3b': the external namespace's tree label is removed")
	}
}

func TestConditionsAboutMetadataAreBounded(t *testing.T) {
	for name, given := range map[string][]string{
		"long values": append(chainOfThree, "says a labels m="+strings.Repeat("x", 1000), "says c labels m="+strings.Repeat("y", 1000)),
		"many keys":   manyClashes(1000),
	} {
		for _, c := range metadataProblems(treetest.New(treetest.Both(given...)...), "c") {
			if len(c.Message) > 4096 {
				t.Errorf("%s: %s has a message of %d bytes", name, c.Reason, len(c.Message))
			}
		}
	}
}

// manyClashes is a world in which a and c set different values of many managed keys.
func manyClashes(n int) []string {
	given := slices.Clone(chainOfThree)
	for i := range n {
		given = append(given, fmt.Sprintf("says a labels m%d=1", i), fmt.Sprintf("says c labels m%d=2", i))
	}
	return given
}
