package propagator

import (
	"fmt"
	"slices"
	"testing"
)

func TestOnlyWhatIsWrongIsQueuedAtTheStart(t *testing.T) {
	c := newCluster(t)
	for _, name := range []string{"root", "left", "right"} {
		c.namespace(name)
	}
	c.parent("left", "root")
	c.parent("right", "root")
	c.role("root", "a", "get")
	c.start()
	p := c.propagator
	look := func() string {
		p.mu.Lock()
		defer p.mu.Unlock()
		var words []string
		for _, w := range p.lookAtAll() {
			words = append(words, fmt.Sprintf("%s labels=%v status=%v copies=%v", w.name, w.labels, w.status, w.copies))
		}
		slices.Sort(words)
		return fmt.Sprint(words)
	}
	c.eventuallyRoles("left", "a=get<root")
	c.eventuallyRoles("right", "a=get<root")
	c.eventually("wrong", "[]", look)
	// The server has no more to say, so the picture stays as we spoil it.
	c.stop()
	p.mu.Lock()
	for _, k := range p.kinds {
		if o := k.index.Get("left", "a"); o != nil {
			k.index.Delete(o.Namespace, o.Name, o.UID)
		}
	}
	p.tree.DeleteHierarchy("right", p.tree.Hierarchy("right").UID)
	p.mu.Unlock()
	want := "[left labels=false status=false copies=true right labels=true status=false copies=true root labels=false status=true copies=false]"
	if got := look(); got != want {
		t.Errorf("wrong is %s, want %s", got, want)
	}
}
