package propagator

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// summaries returns the conditions of the configuration that tell of namespaces, as "reason: message" in order.
func (c *cluster) summaries() string {
	config := c.get("hncconfigurations", "", "config")
	if config == nil {
		return "no configuration"
	}
	list, _, _ := unstructured.NestedSlice(config.Object, "status", "conditions")
	var words []string
	for _, entry := range list {
		if e := entry.(map[string]any); e["type"] == hnc.ConditionNamespace {
			words = append(words, e["reason"].(string)+": "+e["message"].(string))
		}
	}
	return strings.Join(words, ", ")
}

func TestNamespaceConditionsAreSummedUpAndTakenBack(t *testing.T) {
	c := newTree(t)
	c.namespace("mid")
	c.parent("mid", "missing")
	c.parent("root", "mid")
	c.start()
	const halted = `ActivitiesHalted: Namespaces "mid" is affected by "ParentMissing"; 2 namespaces "leaf", "root" are affected by "AncestorHaltActivities"`
	c.eventually("conditions", halted, c.summaries)

	// What is known is not told again.
	c.stop()
	c.takeWrites()
	c.start()
	c.namespace("other")
	c.parent("other", "other2")
	c.eventually("conditions", strings.Replace(halted, `Namespaces "mid" is`, `2 namespaces "mid", "other" are`, 1), c.summaries)
	writes := 0
	for _, w := range c.takeWrites() {
		if strings.Contains(w, "hncconfigurations") {
			writes++
		}
	}
	if writes > 1 {
		t.Errorf("%d writes of the configuration", writes)
	}

	c.do("DELETE", "/api/v1/namespaces/other", "")
	c.eventually("conditions after one is deleted", halted, c.summaries)
	c.namespace("missing")
	c.eventually("conditions after all is well", "", c.summaries)
}

// children returns those that a Hierarchy tells.
func (c *cluster) children(namespace string) []string {
	h := c.get("hierarchies", namespace, hnc.Singleton)
	if h == nil {
		return nil
	}
	children, _, _ := unstructured.NestedStringSlice(h.Object, "status", "children")
	return children
}

// reason returns the reason of the condition Ready of a Hierarchy.
func (c *cluster) reason(namespace string) string {
	h := c.get("hierarchies", namespace, hnc.Singleton)
	if h == nil {
		return "no hierarchy"
	}
	conditions, _, _ := unstructured.NestedSlice(h.Object, "status", "conditions")
	for _, condition := range conditions {
		if m := condition.(map[string]any); m["type"] == hnc.ConditionReady {
			return fmt.Sprint(m["reason"])
		}
	}
	return "no condition"
}
