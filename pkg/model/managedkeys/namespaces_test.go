package managedkeys

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

func selects(key, value string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
}

var (
	off     = selects("hierarchy", "off")
	without = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "hierarchy", Operator: metav1.LabelSelectorOpDoesNotExist}}}
)

func TestExcluded(t *testing.T) {
	for name, test := range map[string]struct {
		spec      v1beta1.Rules
		namespace string
		labels    map[string]string
		why       string // part of the reason, "" if it takes part
	}{
		"2.1: by default any":                          {v1beta1.Rules{}, "team-a", nil, ""},
		"INCL-1 by default not kube-system":            {v1beta1.Rules{}, "kube-system", nil, "by the administrator"},
		"2.1: by default not kube-public":              {v1beta1.Rules{}, "kube-public", nil, "by the administrator"},
		"2.1: by default not kube-node-lease":          {v1beta1.Rules{}, "kube-node-lease", nil, "by the administrator"},
		"2.1: by default not ours":                     {v1beta1.Rules{}, "hns-system", nil, "by the administrator"},
		"2.1: the empty name does":                     {v1beta1.Rules{}, "", nil, ""},
		"INCL-1 an excluded one":                       {v1beta1.Rules{ExcludedNamespaces: []string{"a", "b"}}, "b", nil, "by the administrator"},
		"2.1: the rule replaces the default":           {v1beta1.Rules{ExcludedNamespaces: []string{"a"}}, "kube-public", nil, ""},
		"INCL-2 the name does not match":               {v1beta1.Rules{IncludedNamespaceRegex: "team-.*"}, "dev", nil, "team-.*"},
		"INCL-2 the name matches":                      {v1beta1.Rules{IncludedNamespaceRegex: "team-.*"}, "team-a", nil, ""},
		"2.1: the name matches in part only":           {v1beta1.Rules{IncludedNamespaceRegex: "team-."}, "my-team-a", nil, "team-."},
		"2.1: alternatives are grouped, at their end":  {v1beta1.Rules{IncludedNamespaceRegex: "a|b"}, "ax", nil, "a|b"},
		"2.1: alternatives are grouped, at their head": {v1beta1.Rules{IncludedNamespaceRegex: "a|b"}, "xb", nil, "a|b"},
		"INCL-3 exclusion beats inclusion":             {v1beta1.Rules{IncludedNamespaceRegex: "team-.*", ExcludedNamespaces: []string{"team-a"}}, "team-a", nil, "by the administrator"},
		"2.1: everything matches the default":          {v1beta1.Rules{IncludedNamespaceRegex: ".*"}, "x", nil, ""},
		"2.1: its labels exclude it":                   {v1beta1.Rules{ExcludedNamespaceSelector: off}, "a", map[string]string{"hierarchy": "off"}, "hierarchy=off"},
		"2.1: its labels don't":                        {v1beta1.Rules{ExcludedNamespaceSelector: off}, "a", map[string]string{"hierarchy": "on"}, ""},
		"2.1: it has no labels":                        {v1beta1.Rules{ExcludedNamespaceSelector: off}, "a", nil, ""},
		"2.1: opting in":                               {v1beta1.Rules{ExcludedNamespaceSelector: without}, "a", nil, "!hierarchy"},
	} {
		t.Run(name, func(t *testing.T) {
			v1beta1.SetDefaults_Rules(&test.spec)
			rules, errs := NewRules(&test.spec, nil)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			if why := rules.Excluded(test.namespace, test.labels); !strings.Contains(why, test.why) || (why == "") != (test.why == "") {
				t.Errorf("excluded because %q, want %q", why, test.why)
			}
		})
	}
}

func TestInvalidRules(t *testing.T) {
	for name, row := range map[string]struct {
		spec v1beta1.Rules
		says string
	}{
		"a selector on a managed label": {v1beta1.Rules{ManagedNamespaceLabels: []string{"hier[a-z]+"}, ExcludedNamespaceSelector: off}, "this label is managed"},
		"no key":                        {v1beta1.Rules{ExcludedNamespaceSelector: selects("!", "")}, "excludedNamespaceSelector"},
		"a label of ours":               {v1beta1.Rules{ExcludedNamespaceSelector: selects("hnc.x-k8s.io/orphaned", "a")}, "excludedNamespaceSelector"},
		"a tree label":                  {v1beta1.Rules{ExcludedNamespaceSelector: selects("a.tree.hnc.x-k8s.io/depth", "0")}, "excludedNamespaceSelector"},
		"all namespaces":                {v1beta1.Rules{ExcludedNamespaceSelector: &metav1.LabelSelector{}}, "excludedNamespaceSelector"},
		"names":                         {v1beta1.Rules{IncludedNamespaceRegex: "("}, "includedNamespaceRegex"},
		"labels":                        {v1beta1.Rules{ManagedNamespaceLabels: []string{"("}}, "managedNamespaceLabels[0]"},
		"annotations":                   {v1beta1.Rules{ManagedNamespaceAnnotations: []string{".*"}}, "managedNamespaceAnnotations[0]"},
	} {
		if _, errs := NewRules(&row.spec, nil); len(errs) != 1 || !strings.Contains(errs[0].Error(), row.says) {
			t.Errorf("%s: %v", name, errs)
		}
	}
}

// Conditions, events and errors repeat them.
func TestLongAnnotationsAreShortened(t *testing.T) {
	long := strings.Repeat("\x01", 256<<10)
	managed := map[string]string{hnc.AnnotationManagedBy: long}
	if !External(managed) || len(Manager(managed)) > 253 {
		t.Errorf("external: %t, by %d bytes", External(managed), len(Manager(managed)))
	}
	if of := SubnamespaceOf(map[string]string{hnc.AnnotationSubnamespaceOf: long}); of == "" || len(of) > 253 {
		t.Errorf("a sub-namespace of %d bytes", len(of))
	}
}
