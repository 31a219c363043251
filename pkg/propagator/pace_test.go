package propagator

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestLongListsOfChildrenAreWrittenLessOften(t *testing.T) {
	clock := time.Unix(1000, 0)
	p := newPace(100 * time.Millisecond)
	p.now = func() time.Time { return clock }
	for _, test := range []struct {
		children int
		pause    time.Duration
	}{
		{0, 0}, {100, 0}, {101, 101 * time.Millisecond}, {500, 500 * time.Millisecond}, {1000, time.Second}, {100_000, time.Second},
	} {
		name := fmt.Sprint(test.children)
		if wait := p.wait(name); wait != 0 {
			t.Errorf("%d children: the first write waits for %s", test.children, wait)
		}
		p.wrote(name, test.children)
		if wait := p.wait(name); wait != test.pause {
			t.Errorf("%d children: the next write waits for %s, want %s", test.children, wait, test.pause)
		}
		p.wrote("other", 1000)
		clock = clock.Add(test.pause)
		if wait := p.wait(name); wait != 0 {
			t.Errorf("%d children: after the pause the write waits for %s", test.children, wait)
		}
	}
	clock = clock.Add(time.Hour)
	p.wait("other")
	if len(p.next) > 0 {
		t.Errorf("it remembers what does not matter any more: %v", p.next)
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
	for i := range 200 {
		join(fmt.Sprintf("child-%d", i))
	}
	told := func() string {
		h := c.get("hierarchies", "root", hnc.Singleton)
		if h == nil {
			return "nothing"
		}
		children, _, _ := unstructured.NestedStringSlice(h.Object, "status", "children")
		return fmt.Sprint(len(children))
	}
	c.start()
	c.eventually("children", "200", told)
	join("last")
	c.eventually("children", "201", told)
}

func TestProblemsAreToldWhateverThePace(t *testing.T) {
	c := newCluster(t)
	c.namespace("root")
	c.namespace("child")
	c.parent("child", "root")
	c.start()
	children := func() string {
		h := c.get("hierarchies", "root", hnc.Singleton)
		if h == nil {
			return "nothing"
		}
		children, _, _ := unstructured.NestedStringSlice(h.Object, "status", "children")
		return fmt.Sprint(children)
	}
	c.eventually("children", "[child]", children)
	// As if the list were so long that it may not be written again for a day.
	c.propagator.pace.mu.Lock()
	c.propagator.pace.next["root"] = time.Now().Add(24 * time.Hour)
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
