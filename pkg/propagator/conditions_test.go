package propagator

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	componentmetrics "k8s.io/component-base/metrics"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
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

// TestANamespaceConditionIsTold has no watches: they have the configuration told for reasons of their own.
func TestANamespaceConditionIsTold(t *testing.T) {
	c := newCluster(t)
	p := New(Config{Hierarchy: versioned.NewForConfigOrDie(c.config), Metrics: metrics.New(componentmetrics.NewKubeRegistry().MustRegister, false)})
	p.leading = true
	told := func(what string, want bool) {
		t.Helper()
		p.statusDue = false
		if err := p.status(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if p.statusDue != want {
			t.Errorf("%s: told: %t", what, p.statusDue)
		}
	}
	p.tree.SetNamespace(&tree.Namespace{Name: "a", UID: "a", ResourceVersion: "1"})
	p.tree.SetHierarchy(&tree.Hierarchy{Namespace: "a", UID: "h", ResourceVersion: "2"})
	told("nothing is wrong", false)
	// The pair that HNC did not count (spec/hnc.md 3.12, step 7).
	p.tree.SetHierarchy(&tree.Hierarchy{Namespace: "a", UID: "h", ResourceVersion: "3", Metadata: tree.Metadata{
		Labels: []v1beta1.MetaKVP{{Key: "example.com/x", Value: "1"}},
	}})
	told("a condition", true)
	told("the same", false)
	p.tree.DeleteNamespace("a", "a")
	told("the namespace is gone", true)
}
