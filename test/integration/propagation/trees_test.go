package propagation

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestATreeHasPoliciesForItsOwnSources(t *testing.T) {
	for name, test := range map[string]struct {
		cluster  string
		policies []string // "namespace: entry"
		// leaf and below are what they have in the end, with sources in root (r), mid (m) and other (o).
		leaf, below string
	}{
		"no tree has a policy":                    {"Propagate", nil, "m=1<mid r=1<root", "o=1<other"},
		"nobody names the kind":                   {"", nil, "", ""},
		"a tree propagates what is ignored":       {"Ignore", []string{"root: Propagate"}, "m=1<mid r=1<root", ""},
		"a tree names what the cluster does not":  {"", []string{"root: Propagate"}, "m=1<mid r=1<root", ""},
		"only below":                              {"", []string{"mid: Propagate"}, "m=1<mid", ""},
		"a tree propagates none":                  {"Propagate", []string{"root: Ignore"}, "", "o=1<other"},
		"sources above are not held back":         {"Propagate", []string{"mid: Ignore"}, "r=1<root", "o=1<other"},
		"nor by the destination":                  {"Propagate", []string{"leaf: Remove"}, "m=1<mid r=1<root", "o=1<other"},
		"sources above are not pulled down":       {"", []string{"leaf: Propagate"}, "", ""},
		"the nearest policy applies":              {"", []string{"root: Propagate", "mid: Ignore"}, "r=1<root", ""},
		"the nearest policy applies, propagating": {"", []string{"root: Remove", "mid: Propagate"}, "m=1<mid", ""},
		"another kind has another policy":         {"Propagate", []string{"root: secrets Ignore"}, "m=1<mid r=1<root", "o=1<other"},
		"sources that ask for it":                 {"Propagate", []string{"root: AllowPropagate"}, "", "o=1<other"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTrees(t)
			c.put("widgets", "root", "r", "1")
			c.put("widgets", "mid", "m", "1")
			c.put("widgets", "other", "o", "1")
			if test.cluster != "" {
				c.configure(widget + test.cluster)
			}
			for _, line := range test.policies {
				namespace, entry, _ := strings.Cut(line, ": ")
				if !strings.Contains(entry, " ") {
					entry = widget + entry
				}
				c.propagate(namespace, entry)
			}
			c.start()
			c.eventuallyObjects("widgets", "leaf", test.leaf)
			c.eventuallyObjects("widgets", "below", test.below)
			c.flush()
			c.wantObjects("widgets", "leaf", test.leaf)
		})
	}
}

func TestChangeOfATreesPolicyTakesEffectBelowIt(t *testing.T) {
	c := newTrees(t)
	c.put("widgets", "root", "r", "1")
	c.put("widgets", "mid", "m", "1")
	c.put("widgets", "mid", "asks", "1", hnc.AnnotationAll+"=true")
	c.put("widgets", "leaf", "m", "local")
	c.start()
	c.flush()
	for _, step := range []struct{ policy, leaf string }{
		{"AllowPropagate", "asks=1<mid m=local"},
		{"Propagate Keep", "asks=1<mid m=local"},
		// The API server refuses a policy that would overwrite an object.
		{"remove m", "asks=1<mid m=1<mid"},
		{"Propagate", "asks=1<mid m=1<mid"},
		{"Ignore", "asks=1<mid m=1<mid"},
		{"Remove", ""},
		{"Propagate Overwrite", "asks=1<mid m=1<mid"},
	} {
		if step.policy == "remove m" {
			c.remove("widgets", "leaf", "m")
		} else {
			c.propagate("mid", widget+step.policy)
		}
		c.flush()
		c.eventuallyObjects("widgets", "leaf", step.leaf)
		c.eventually("watched", fmt.Sprint(step.policy != "Ignore"), func() string { return fmt.Sprint(c.watched("widgets")) })
	}
	// Nobody names the kind any more: it is ignored, and its copies stay as they are.
	c.propagate("mid")
	c.eventually("watched", "false", func() string { return fmt.Sprint(c.watched("widgets")) })
	c.put("widgets", "mid", "m", "2")
	c.flush()
	c.wantObjects("widgets", "leaf", "asks=1<mid m=1<mid")
	c.propagate("mid", widget+"Propagate")
	c.eventuallyObjects("widgets", "leaf", "asks=1<mid m=2<mid")
	// Without the hierarchy there is neither a parent nor a policy.
	c.configure(widget + "Propagate")
	c.propagate("mid", widget+"Remove")
	c.eventuallyObjects("widgets", "leaf", "r=1<root")
	c.remove("hierarchies", "mid", hnc.Singleton)
	c.eventuallyObjects("widgets", "leaf", "asks=1<mid m=2<mid")
}

func TestPoliciesGoWithAMove(t *testing.T) {
	c := newTrees(t)
	c.put("widgets", "root", "r", "1")
	c.put("widgets", "mid", "m", "1")
	c.put("widgets", "other", "o", "1")
	c.configure(widget + "Remove")
	c.propagate("root", widget+"Propagate")
	c.start()
	c.eventuallyObjects("widgets", "leaf", "m=1<mid r=1<root")
	// The policy of root applies below it only.
	c.parent("mid", "other")
	c.eventuallyObjects("widgets", "leaf", "")
	c.parent("mid", "root")
	c.eventuallyObjects("widgets", "leaf", "m=1<mid r=1<root")
	// The policy of mid applies to its own sources wherever it is.
	c.propagate("mid", widget+"Propagate")
	c.parent("mid", "other")
	c.eventuallyObjects("widgets", "leaf", "m=1<mid")
	c.eventuallyObjects("widgets", "mid", "m=1")
	// Copies in a halted namespace stay as they are.
	c.propagate("other", widget+"Propagate")
	c.eventuallyObjects("widgets", "leaf", "m=1<mid o=1<other")
	c.parent("mid", "gone")
	c.eventuallyReason("mid", hnc.ConditionActivitiesHalted, hnc.ReasonParentMissing)
	c.put("widgets", "mid", "m", "2")
	c.propagate("other", widget+"Remove")
	c.eventuallyObjects("widgets", "below", "")
	c.wantObjects("widgets", "leaf", "m=1<mid o=1<other")
	c.parent("mid", "root")
	c.propagate("root")
	c.eventuallyObjects("widgets", "leaf", "m=2<mid")
}

func TestCopyOutsideTheTreeOfItsSourceIsRemoved(t *testing.T) {
	c := newTrees(t)
	c.put("widgets", "mid", "m", "1")
	c.configure(widget + "Propagate")
	c.start()
	c.eventuallyObjects("widgets", "leaf", "m=1<mid")
	// The policies of a hierarchy take effect at once, so a copy of the secret shows that widgets are ignored.
	c.put("secrets", "mid", "s", "1")
	c.propagate("mid", widget+"Ignore", "secrets Propagate")
	c.eventuallyObjects("secrets", "leaf", "s=1<mid")
	// Copies of ignored sources stay.
	c.parent("leaf", "other")
	c.put("widgets", "other", "o", "1")
	c.eventuallyObjects("widgets", "leaf", "m=1<mid o=1<other")
	// Nothing else happens in leaf or above it.
	c.propagate("mid", widget+"Propagate")
	c.eventuallyObjects("widgets", "leaf", "o=1<other")
}

func TestHierarchyReportsThatItsKindCannotBeWritten(t *testing.T) {
	c := newTrees(t)
	c.put("widgets", "root", "a", "1")
	var denied atomic.Bool
	denied.Store(true)
	c.setRefuse(func(r *http.Request) *metav1.Status {
		if denied.Load() && r.Method != http.MethodGet && strings.Contains(r.URL.Path, "/"+c.full("leaf")+"/widgets") {
			return forbidden()
		}
		return nil
	})
	c.propagate("root", widget+"Propagate")
	c.start()
	c.eventually("condition", "true", func() string {
		got := c.condition("root", hnc.ConditionOutOfSync)
		return fmt.Sprint(strings.HasPrefix(got, `Unknown: can't create widgets.example.com "a" in namespace "leaf"`) && strings.Contains(got, hnc.LabelAggregateToPropagator))
	})
	if got := c.condition("", hnc.ConditionOutOfSync); got != "" {
		t.Errorf("the configuration reports %q", got)
	}
	denied.Store(false)
	c.eventuallyObjects("widgets", "leaf", "a=1<root")
	c.eventually("condition", "", func() string { return c.condition("root", hnc.ConditionOutOfSync) })
}
