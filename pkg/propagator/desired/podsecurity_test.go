package desired

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree/treetest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

const podSecurityPrefix = "pod-security.kubernetes.io/"

// podSecurityChanges returns the changes of a namespace's Pod Security labels and of their record, as words.
func podSecurityChanges(t *tree.Tree, name string) string {
	labels := LabelChanges(t, name)
	for key := range labels {
		if !strings.HasPrefix(key, podSecurityPrefix) {
			delete(labels, key)
		}
	}
	words := []string{}
	for key, value := range labels {
		word := strings.TrimPrefix(key, podSecurityPrefix) + "=-"
		if value != nil {
			word = strings.TrimPrefix(key, podSecurityPrefix) + "=" + *value
		}
		words = append(words, word)
	}
	slices.Sort(words)
	if record, ok := AnnotationChanges(t, name)[hnc.AnnotationInheritedPodSecurity]; ok {
		recorded := ""
		if record != nil {
			recorded = strings.ReplaceAll(*record, podSecurityPrefix, "")
		}
		words = append(words, fmt.Sprintf("record(%s)", recorded))
	}
	return strings.Join(words, " ")
}

func TestPodSecurityOfSubnamespaces(t *testing.T) {
	sub := []string{"ns p", "has p label enforce=restricted", "has p label warn-version=v1.30", "asked p c", "ns c sub-of p", "parent c p"}
	and := func(lines ...string) []string { return slices.Concat(sub, lines) }
	for name, test := range map[string]struct {
		given []string
		want  string
	}{
		"one without labels":           {sub, "enforce=restricted warn-version=v1.30 record(enforce=restricted,warn-version=v1.30)"},
		"one that is right":            {and("has c label enforce=restricted", "has c label warn-version=v1.30", "recorded c enforce=restricted,warn-version=v1.30"), ""},
		"the parent gets stricter":     {and("has c label enforce=baseline", "recorded c enforce=baseline"), "enforce=restricted warn-version=v1.30 record(enforce=restricted,warn-version=v1.30)"},
		"the parent loses a label":     {and("has c label enforce=restricted", "has c label warn-version=v1.30", "has c label audit=baseline", "recorded c audit=baseline,enforce=restricted,warn-version=v1.30"), "audit=- record(enforce=restricted,warn-version=v1.30)"},
		"a pin":                        {and("has c label enforce=privileged", "has c label warn-version=v1.30", "recorded c enforce=restricted,warn-version=v1.30"), "record(warn-version=v1.30)"},
		"a pin that is known":          {and("has c label enforce=privileged", "has c label warn-version=v1.30", "recorded c warn-version=v1.30"), ""},
		"what was there before":        {and("has c label enforce=baseline"), "warn-version=v1.30 record(warn-version=v1.30)"},
		"a pin that is removed":        {and("has c label warn-version=v1.30", "recorded c warn-version=v1.30"), "enforce=restricted record(enforce=restricted,warn-version=v1.30)"},
		"other labels":                 {and("has p label x=1", "has c label enforce=restricted", "has c label warn-version=v1.30", "recorded c enforce=restricted,warn-version=v1.30"), ""},
		"an orphan follows":            {[]string{"ns p", "has p label enforce=restricted", "ns c sub-of p", "parent c p", "has c label enforce=baseline", "recorded c enforce=baseline"}, "enforce=restricted record(enforce=restricted)"},
		"an orphan loses nothing":      {[]string{"ns p", "ns c sub-of p", "parent c p", "has c label enforce=restricted", "recorded c enforce=restricted"}, ""},
		"an orphan can be pinned":      {[]string{"ns p", "ns c sub-of p", "parent c p", "has c label enforce=baseline", "recorded c enforce=restricted"}, "record()"},
		"below an orphan":              {[]string{"ns o", "ns p sub-of o", "parent p o", "has p label enforce=restricted", "recorded p enforce=restricted", "asked p c", "ns c sub-of p", "parent c p"}, "enforce=restricted record(enforce=restricted)"},
		"an annotation alone":          {[]string{"ns p", "has p label enforce=privileged", "ns c sub-of p", "has c label enforce=restricted", "recorded c enforce=restricted"}, ""},
		"a full namespace":             {[]string{"ns p", "has p label enforce=restricted", "ns c", "parent c p"}, ""},
		"a converted one":              {[]string{"ns p", "has p label enforce=restricted", "asked p c", "void p c", "ns c", "parent c p", "has c label enforce=baseline", "recorded c enforce=baseline"}, ""},
		"below a sub-namespace":        {[]string{"ns o", "has o label enforce=restricted", "asked o p", "ns p sub-of o", "parent p o", "asked p c", "ns c sub-of p", "parent c p"}, "enforce=restricted record(enforce=restricted)"},
		"below a pin":                  {[]string{"ns o", "has o label enforce=restricted", "asked o p", "ns p sub-of o", "parent p o", "has p label enforce=baseline", "asked p c", "ns c sub-of p", "parent c p"}, "enforce=baseline record(enforce=baseline)"},
		"below a full namespace":       {[]string{"ns o", "has o label enforce=restricted", "ns p", "parent p o", "asked p c", "ns c sub-of p", "parent c p"}, ""},
		"a parent in a halted tree":    {[]string{"ns p", "has p label enforce=restricted", "parent p gone-parent", "asked p c", "ns c sub-of p", "parent c p"}, "enforce=restricted record(enforce=restricted)"},
		"a hierarchy that sets a key":  {and("says p labels m1=1", "has c label m1=1"), "enforce=restricted warn-version=v1.30 record(enforce=restricted,warn-version=v1.30)"},
		"an excluded namespace":        {and("has c label off="), ""},
		"a namespace that terminates":  {and("terminating c"), ""},
		"the parent is being replaced": {and("gone p"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, off := range []bool{false, true} {
				w := tree.New(treetest.Rules())
				if !off {
					w.InheritPodSecurity()
				}
				for _, line := range test.given {
					for _, key := range []string{"enforce", "audit", "warn"} {
						line = strings.ReplaceAll(line, " "+key, " "+podSecurityPrefix+key)
						line = strings.ReplaceAll(line, ","+key, ","+podSecurityPrefix+key)
					}
					if words := strings.Fields(line); words[0] == "recorded" {
						ns := *w.Namespace(words[1])
						ns.ResourceVersion, ns.InheritedPodSecurity = treetest.Next(), words[2]
						w.SetNamespace(&ns)
						continue
					}
					treetest.Apply(w, line)
				}
				want := test.want
				if off {
					want = ""
				}
				if got := podSecurityChanges(w, "c"); got != want {
					t.Errorf("off %t: got %q, want %q", off, got, want)
				}
			}
		})
	}
}

func TestPodSecurityAffectsDescendants(t *testing.T) {
	w := tree.New(treetest.Rules())
	w.InheritPodSecurity()
	for _, line := range []string{"ns p", "asked p c", "ns c sub-of p", "parent c p"} {
		treetest.Apply(w, line)
	}
	ns := *w.Namespace("p")
	ns.ResourceVersion, ns.Labels = treetest.Next(), map[string]string{podSecurityPrefix + "audit": "baseline"}
	if affected := w.SetNamespace(&ns); !slices.Contains(affected.Changed, "c") {
		t.Errorf("got %+v", affected)
	}
}
