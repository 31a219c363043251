package propagator

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestAListOfChildrenIsWrittenOnceInAPause(t *testing.T) {
	clock := time.Unix(1000, 0)
	p := newPace(time.Second)
	p.now = func() time.Time { return clock }
	for range 3 {
		for _, step := range []struct{ after, wait time.Duration }{{0, time.Second}, {400 * time.Millisecond, 600 * time.Millisecond}, {600 * time.Millisecond, 0}} {
			if step.after == 0 {
				if wait := p.wait("a"); wait != 0 {
					t.Errorf("what was not written for a while waits for %s", wait)
				}
				p.begin("a")
			}
			clock = clock.Add(step.after)
			if wait := p.wait("a"); wait != step.wait {
				t.Errorf("%s later it waits for %s, want %s", step.after, wait, step.wait)
			}
			if wait := p.wait("b"); wait != 0 {
				t.Errorf("another one waits for %s", wait)
			}
		}
	}
	p.begin("b")
	if len(p.begun) != 1 {
		t.Errorf("it remembers what does not matter any more: %v", p.begun)
	}
}

// A namespace gets its last child while its list is held back, and nothing happens afterwards.
func TestTheLastChildIsToldWhateverThePace(t *testing.T) {
	c := newCluster(t)
	c.namespace("root")
	join := func(child string) {
		c.namespace(child)
		c.parent(child, "root")
	}
	join("first")
	told := func() string { return fmt.Sprint(c.children("root")) }
	c.start()
	c.propagator.pace.mu.Lock()
	c.propagator.pace.pause = 200 * time.Millisecond
	c.propagator.pace.mu.Unlock()
	c.eventually("children", "[first]", told)
	join("last")
	c.eventually("children", "[first last]", told)
}

func TestProblemsAreToldWhateverThePace(t *testing.T) {
	c := newCluster(t)
	c.namespace("root")
	c.namespace("child")
	c.parent("child", "root")
	c.start()
	children := func() string { return fmt.Sprint(c.children("root")) }
	c.eventually("children", "[child]", children)
	c.propagator.pace.mu.Lock()
	c.propagator.pace.pause, c.propagator.pace.begun["root"] = 24*time.Hour, time.Now()
	c.propagator.pace.mu.Unlock()

	c.namespace("held-back")
	c.parent("held-back", "root")
	c.eventually("labels", "1", func() string { return c.get("namespaces", "", "held-back").GetLabels()[hnc.TreeLabel("root")] })
	if err := c.propagator.status(t.Context(), "root"); err != nil {
		t.Fatal(err)
	}
	if got := children(); got != "[child]" {
		t.Errorf("the list was not held back: %s", got)
	}
	c.parent("root", "missing")
	c.eventually("conditions", "ParentMissing", func() string { return c.reason("root") })
	if got := children(); got != "[child held-back]" {
		t.Errorf("what is written anyway leaves out the children: %s", got)
	}
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

// Who applies a namespace and its Hierarchy, one after the other, is not forestalled.
func TestAHierarchyIsNotCreatedWhereANamespaceHasJustCome(t *testing.T) {
	c := newCluster(t)
	c.namespace("old")
	c.namespace("below-old")
	c.parent("below-old", "old")
	c.start()
	c.eventually("children", "[below-old]", func() string { return fmt.Sprint(c.children("old")) })
	c.propagator.fresh.mu.Lock()
	c.propagator.fresh.pause = 24 * time.Hour
	c.propagator.fresh.mu.Unlock()
	c.namespace("below-new")
	c.parent("below-new", "new")
	c.eventually("the condition", "ParentMissing", func() string { return c.reason("below-new") })
	c.namespace("new")
	c.eventually("labels", "1", func() string { return c.get("namespaces", "", "below-new").GetLabels()[hnc.TreeLabel("new")] })
	if err := c.propagator.status(t.Context(), "new"); err != nil {
		t.Fatal(err)
	}
	if c.get("hierarchies", "new", hnc.Singleton) != nil {
		t.Error("there is a hierarchy already")
	}
}
