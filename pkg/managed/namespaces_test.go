package managed

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestExcluded(t *testing.T) {
	for name, test := range map[string]struct {
		flags     string
		namespace string
		labels    map[string]string
		why       string // part of the reason, "" if it takes part
	}{
		"2.1: by default any":                          {"", "team-a", nil, ""},
		"INCL-1 by default not kube-system":            {"", "kube-system", nil, "by the administrator"},
		"2.1: by default not kube-public":              {"", "kube-public", nil, "by the administrator"},
		"2.1: by default not kube-node-lease":          {"", "kube-node-lease", nil, "by the administrator"},
		"2.1: by default not ours":                     {"", "hns-system", nil, "by the administrator"},
		"2.1: the empty name does":                     {"", "", nil, ""},
		"INCL-1 an excluded one":                       {"--excluded-namespace=a --excluded-namespace=b", "b", nil, "by the administrator"},
		"2.1: the flag replaces the default":           {"--excluded-namespace=a", "kube-public", nil, ""},
		"INCL-2 the name does not match":               {"--included-namespace-regex=team-.*", "dev", nil, "team-.*"},
		"INCL-2 the name matches":                      {"--included-namespace-regex=team-.*", "team-a", nil, ""},
		"2.1: the name matches in part only":           {"--included-namespace-regex=team-.", "my-team-a", nil, "team-."},
		"2.1: alternatives are grouped, at their end":  {"--included-namespace-regex=a|b", "ax", nil, "a|b"},
		"2.1: alternatives are grouped, at their head": {"--included-namespace-regex=a|b", "xb", nil, "a|b"},
		"INCL-3 exclusion beats inclusion":             {"--included-namespace-regex=team-.* --excluded-namespace=team-a", "team-a", nil, "by the administrator"},
		"2.1: everything matches the default":          {"--included-namespace-regex=.*", "x", nil, ""},
		"2.1: its labels exclude it":                   {"--excluded-namespace-selector=hierarchy=off", "a", map[string]string{"hierarchy": "off"}, "hierarchy=off"},
		"2.1: its labels don't":                        {"--excluded-namespace-selector=hierarchy=off", "a", map[string]string{"hierarchy": "on"}, ""},
		"2.1: it has no labels":                        {"--excluded-namespace-selector=hierarchy=off", "a", nil, ""},
		"2.1: opting in":                               {"--excluded-namespace-selector=!hierarchy", "a", nil, "!hierarchy"},
	} {
		t.Run(name, func(t *testing.T) {
			rules, err := parse(t, strings.Fields(test.flags)...)
			if err != nil {
				t.Fatal(err)
			}
			if why := rules.Excluded(test.namespace, test.labels); !strings.Contains(why, test.why) || (why == "") != (test.why == "") {
				t.Errorf("excluded because %q, want %q", why, test.why)
			}
		})
	}
}

func TestInvalidFlags(t *testing.T) {
	if _, err := parse(t, "--managed-namespace-label=hier[a-z]+", "--excluded-namespace-selector=hierarchy=off"); err == nil || !strings.Contains(err.Error(), "is managed") {
		t.Errorf("a selector on a managed label: %v", err)
	}
	for _, flag := range []string{
		"--excluded-namespace-selector=!", "--excluded-namespace-selector=hnc.x-k8s.io/orphaned", "--excluded-namespace-selector=a.tree.hnc.x-k8s.io/depth",
		"--included-namespace-regex=(", "--managed-namespace-label=(", "--managed-namespace-annotation=.*",
	} {
		name, _, _ := strings.Cut(flag, "=")
		if _, err := parse(t, flag); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

func TestPatternsMayContainCommas(t *testing.T) {
	rules, err := parse(t, "--managed-namespace-label=[a-z]{1,3}", "--managed-namespace-label=team")
	if err != nil || !rules.Label("abc") || !rules.Label("team") || rules.Label("abcd") {
		t.Error(rules, err)
	}
}

func parse(t *testing.T, args ...string) (Rules, error) {
	t.Helper()
	o := NewOptions()
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.AddFlags(fs)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	return o.Rules()
}
