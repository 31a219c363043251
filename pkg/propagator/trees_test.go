package propagator

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// say makes the hierarchy of a namespace say something about kinds. Entries are those of configure.
func (c *cluster) say(namespace string, entries ...string) {
	c.t.Helper()
	resources, _ := json.Marshal(entriesOf(entries))
	path := ours + "/namespaces/" + namespace + "/hierarchies"
	if c.get("hierarchies", namespace, hnc.Singleton) != nil {
		c.do("PATCH", path+"/hierarchy", `{"spec":{"propagation":`+string(resources)+`}}`)
		return
	}
	c.do("POST", path, `{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"Hierarchy","metadata":{"name":"hierarchy"},"spec":{"propagation":`+string(resources)+`}}`)
}

// problem returns "reason: message" of a condition of a namespace's hierarchy that is True, "" if there is none.
func (c *cluster) problem(namespace, conditionType string) string {
	h := c.get("hierarchies", namespace, hnc.Singleton)
	if h == nil {
		return "no hierarchy"
	}
	list, _, _ := unstructured.NestedSlice(h.Object, "status", "conditions")
	for _, entry := range list {
		if e := entry.(map[string]any); e["type"] == conditionType && e["status"] == "True" {
			return fmt.Sprintf("%v: %v", e["reason"], e["message"])
		}
	}
	return ""
}

// newTrees makes the trees root <- mid <- leaf and other <- below.
func newTrees(t *testing.T) *cluster {
	c := newCluster(t)
	for _, pair := range []string{"root ", "mid root", "leaf mid", "other ", "below other"} {
		name, parent, _ := strings.Cut(pair, " ")
		c.namespace(name)
		if parent != "" {
			c.parent(name, parent)
		}
	}
	return c
}

// flush returns when what was asked for before has been done in leaf.
func (c *cluster) flush() {
	c.t.Helper()
	c.flushes++
	verb := fmt.Sprint("flush", c.flushes)
	c.role("root", "flush", verb)
	c.eventuallyRoles("leaf", "flush="+verb+"<root")
}

func TestATreeSaysHowItsOwnSourcesAreTreated(t *testing.T) {
	for name, test := range map[string]struct {
		cluster string
		says    []string // "namespace: entry"
		// leaf and below are what they have in the end, with sources in root (r), mid (m) and other (o).
		leaf, below string
	}{
		"nothing is said":                       {"Propagate", nil, "m=1<mid r=1<root", "o=1<other"},
		"nobody names the kind":                 {"", nil, "", ""},
		"a tree wants what the cluster ignores": {"Ignore", []string{"root: Propagate"}, "m=1<mid r=1<root", ""},
		"a tree names what nobody else does":    {"", []string{"root: Propagate"}, "m=1<mid r=1<root", ""},
		"only below":                            {"", []string{"mid: Propagate"}, "m=1<mid", ""},
		"a tree wants none":                     {"Propagate", []string{"root: Ignore"}, "", "o=1<other"},
		"what is above is not held back":        {"Propagate", []string{"mid: Ignore"}, "r=1<root", "o=1<other"},
		"not by the destination either":         {"Propagate", []string{"leaf: Remove"}, "m=1<mid r=1<root", "o=1<other"},
		"what is above is not pulled down":      {"", []string{"leaf: Propagate"}, "", ""},
		"the nearest counts":                    {"", []string{"root: Propagate", "mid: Ignore"}, "r=1<root", ""},
		"the nearest counts, the other way":     {"", []string{"root: Remove", "mid: Propagate"}, "m=1<mid", ""},
		"another kind does not matter":          {"Propagate", []string{"root: gadgets Ignore"}, "m=1<mid r=1<root", "o=1<other"},
		"what asks for it alone":                {"Propagate", []string{"root: AllowPropagate"}, "", "o=1<other"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTrees(t)
			c.put("widgets", "root", "r", "1")
			c.put("widgets", "mid", "m", "1")
			c.put("widgets", "other", "o", "1")
			if test.cluster != "" {
				c.configure("widgets.example.com " + test.cluster)
			}
			for _, line := range test.says {
				namespace, entry, _ := strings.Cut(line, ": ")
				if !strings.Contains(entry, " ") {
					entry = "widgets.example.com " + entry
				}
				c.say(namespace, entry)
			}
			c.start()
			c.eventuallyObjects("widgets", "leaf", test.leaf)
			c.eventuallyObjects("widgets", "below", test.below)
			c.flush()
			if got := c.objectsOf("widgets", "leaf"); got != test.leaf {
				t.Errorf("afterwards leaf has %q", got)
			}
		})
	}
}

const widget = "widgets.example.com "

func TestAChangeOfWhatATreeSaysTakesEffectBelowIt(t *testing.T) {
	c := newTrees(t)
	c.put("widgets", "root", "r", "1")
	c.put("widgets", "mid", "m", "1")
	c.put("widgets", "mid", "asks", "1", hnc.AnnotationAll+"=true")
	c.put("widgets", "leaf", "m", "local")
	c.start()
	c.flush()
	for _, step := range []struct{ says, leaf string }{
		{"AllowPropagate", "asks=1<mid m=local"},
		{"Propagate Keep", "asks=1<mid m=local"},
		{"Propagate", "asks=1<mid m=1<mid"},
		{"Ignore", "asks=1<mid m=1<mid"},
		{"Remove", ""},
		{"Propagate Overwrite", "asks=1<mid m=1<mid"},
	} {
		c.say("mid", widget+step.says)
		c.flush()
		c.eventuallyObjects("widgets", "leaf", step.leaf)
		c.eventually("watched", fmt.Sprint(step.says != "Ignore"), func() string { return c.synced("widgets", "example.com") })
	}
	// Nobody names the kind any more: it is ignored, and its copies stay as they are.
	c.say("mid")
	c.eventually("watched", "false", func() string { return c.synced("widgets", "example.com") })
	c.put("widgets", "mid", "m", "2")
	c.flush()
	if got := c.objectsOf("widgets", "leaf"); got != "asks=1<mid m=1<mid" {
		t.Errorf("leaf has %q", got)
	}
	c.say("mid", widget+"Propagate")
	c.eventuallyObjects("widgets", "leaf", "asks=1<mid m=2<mid")
	// Without the hierarchy there is no parent, and nothing said.
	c.configure(widget + "Propagate")
	c.say("mid", widget+"Remove")
	c.eventuallyObjects("widgets", "leaf", "r=1<root")
	c.do("DELETE", ours+"/namespaces/mid/hierarchies/hierarchy", "")
	c.eventuallyObjects("widgets", "leaf", "asks=1<mid m=2<mid")
}

func TestWhatATreeSaysGoesWithAMove(t *testing.T) {
	c := newTrees(t)
	c.put("widgets", "root", "r", "1")
	c.put("widgets", "mid", "m", "1")
	c.put("widgets", "other", "o", "1")
	c.configure(widget + "Remove")
	c.say("root", widget+"Propagate")
	c.start()
	c.eventuallyObjects("widgets", "leaf", "m=1<mid r=1<root")
	// What root says is true below it only.
	c.parent("mid", "other")
	c.eventuallyObjects("widgets", "leaf", "")
	c.parent("mid", "root")
	c.eventuallyObjects("widgets", "leaf", "m=1<mid r=1<root")
	// What mid says is true wherever it is, of its own sources.
	c.say("mid", widget+"Propagate")
	c.parent("mid", "other")
	c.eventuallyObjects("widgets", "leaf", "m=1<mid")
	c.eventuallyObjects("widgets", "mid", "m=1")
	// What is halted is left as it is.
	c.say("other", widget+"Propagate")
	c.eventuallyObjects("widgets", "leaf", "m=1<mid o=1<other")
	c.parent("mid", "gone")
	c.flushIn("mid", hnc.ReasonParentMissing)
	c.put("widgets", "mid", "m", "2")
	c.say("other", widget+"Remove")
	c.eventuallyObjects("widgets", "below", "")
	if got := c.objectsOf("widgets", "leaf"); got != "m=1<mid o=1<other" {
		t.Errorf("leaf has %q", got)
	}
}

// flushIn waits for a condition of a namespace.
func (c *cluster) flushIn(namespace, reason string) {
	c.t.Helper()
	c.eventually("condition of "+namespace, reason, func() string {
		found, _, _ := strings.Cut(c.problem(namespace, hnc.ConditionActivitiesHalted), ":")
		return found
	})
}

func TestACopyThatItsSourceDoesNotReachAnyMore(t *testing.T) {
	c := newTrees(t)
	c.put("widgets", "mid", "m", "1")
	c.configure(widget + "Propagate")
	c.start()
	c.eventuallyObjects("widgets", "leaf", "m=1<mid")
	c.say("mid", widget+"Ignore")
	c.eventually("policy", "Ignore", func() string { return c.policy("widgets", "example.com", "mid") })
	// The copies of what is ignored are left where they are.
	c.parent("leaf", "other")
	c.put("widgets", "other", "o", "1")
	c.eventuallyObjects("widgets", "leaf", "m=1<mid o=1<other")
	// Nothing else happens in leaf or above it.
	c.say("mid", widget+"Propagate")
	c.eventuallyObjects("widgets", "leaf", "o=1<other")
}

func TestAKindThatOnlyATreeNamesComesAndGoes(t *testing.T) {
	c := newTrees(t)
	c.put("gadgets", "root", "a", "1")
	c.say("root", "gadgets.example.com Propagate", "namespaces Propagate", "roles Remove")
	c.configure("gizmos.example.com Propagate")
	c.start()
	c.eventually("condition", "ResourceNotFound: spec.propagation[0] (gadgets.example.com): the cluster has no such resource; install it, or remove this entry",
		func() string { return c.problem("root", hnc.ConditionBadConfiguration) })
	c.do("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
		`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"gadgets.example.com"}}`)
	c.eventuallyObjects("gadgets", "leaf", "a=1<root")
	c.eventually("condition", "true", func() string {
		first := c.problem("root", hnc.ConditionBadConfiguration)
		return fmt.Sprint(strings.HasPrefix(first, "MultipleConfigurationsForType: ") || strings.HasPrefix(first, "ResourceNotNamespaced: "))
	})
	// The configuration's status is about the configuration.
	if got := c.configured("gadgets"); got != "not active" {
		t.Errorf("status of the configuration: %q", got)
	}
	c.say("root", "gadgets.example.com Propagate")
	c.eventually("condition", "", func() string { return c.problem("root", hnc.ConditionBadConfiguration) })
	c.do("DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.example.com", "")
	c.eventually("condition", "ResourceNotFound", func() string {
		reason, _, _ := strings.Cut(c.problem("root", hnc.ConditionBadConfiguration), ":")
		return reason
	})
	c.say("root")
	c.eventually("condition", "", func() string { return c.problem("root", hnc.ConditionBadConfiguration) })
}

func TestAHierarchyTellsThatItsKindCanNotBeWritten(t *testing.T) {
	c := newTrees(t)
	c.put("widgets", "root", "a", "1")
	var denied atomic.Bool
	denied.Store(true)
	c.refuse = func(method, path string) *metav1.Status {
		if denied.Load() && method != http.MethodGet && strings.Contains(path, "/leaf/widgets") {
			return unauthorized()
		}
		return nil
	}
	c.say("root", widget+"Propagate")
	c.start()
	c.eventuallyConfigured("roles", "Propagate 0/0")
	c.eventually("condition", "true", func() string {
		got := c.problem("root", hnc.ConditionOutOfSync)
		return fmt.Sprint(strings.HasPrefix(got, `Unknown: can't create widgets.example.com "a" in namespace "leaf"`) && strings.Contains(got, hnc.LabelAggregateToPropagator))
	})
	if got := c.condition(hnc.ConditionOutOfSync); got != "" {
		t.Errorf("the configuration tells %q", got)
	}
	denied.Store(false)
	c.eventuallyObjects("widgets", "leaf", "a=1<root")
	c.eventually("condition", "", func() string { return c.problem("root", hnc.ConditionOutOfSync) })
}

func TestARestartWritesNothingThatIsRightInATree(t *testing.T) {
	c := newTrees(t)
	c.put("widgets", "root", "a", "1")
	c.put("widgets", "mid", "m", "1")
	c.put("widgets", "other", "o", "1")
	c.configure(widget + "Propagate")
	c.say("mid", widget+"Remove", "gadgets.example.com Propagate")
	c.say("other", widget+"Ignore")
	c.start()
	c.eventuallyObjects("widgets", "leaf", "a=1<root")
	c.eventually("condition", "ResourceNotFound", func() string {
		reason, _, _ := strings.Cut(c.problem("mid", hnc.ConditionBadConfiguration), ":")
		return reason
	})
	c.flush()
	c.eventuallyConfigured("roles", "Propagate 2/1")
	c.stop()
	c.takeWrites()
	// The hierarchies are late, and kinds are looked for but once.
	var asked, looked atomic.Int32
	written := make(chan struct{})
	c.discovering = func() {
		if looked.Add(1) > 1 {
			<-written
		}
	}
	c.refuse = func(method, path string) *metav1.Status {
		if method == http.MethodGet && strings.HasSuffix(path, "/v1beta1/hierarchies") && asked.Add(1) < 3 {
			return failure(503, metav1.StatusReasonServiceUnavailable)
		}
		return nil
	}
	c.start()
	c.put("widgets", "root", "b", "1")
	c.eventuallyObjects("widgets", "leaf", "a=1<root b=1<root")
	c.eventuallyObjects("widgets", "mid", "a=1<root b=1<root m=1")
	close(written)
	c.stop()
	writes := slices.DeleteFunc(c.takeWrites(), func(w string) bool { return strings.HasSuffix(w, "/config/status") })
	slices.Sort(writes)
	if got := strings.Join(writes, ", "); got != "POST /apis/example.com/v1/namespaces/leaf/widgets, POST /apis/example.com/v1/namespaces/mid/widgets" {
		t.Errorf("written: %s", got)
	}
}
