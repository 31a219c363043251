package propagator

import (
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestTheRootOfANamespaceFollowsItsMoves(t *testing.T) {
	c := newTrees(t)
	c.start()
	root := func(namespace string) func() string {
		return func() string { return c.propagator.roots.of(namespace) }
	}
	c.eventually("root of root", "root", root("root"))
	c.eventually("root of leaf", "root", root("leaf"))
	c.eventually("root of below", "other", root("below"))
	c.parent("mid", "below")
	c.eventually("root of leaf after its parent's move", "other", root("leaf"))
	c.do("DELETE", ours+"/namespaces/mid/hierarchies/"+hnc.Singleton, "")
	c.eventually("root of leaf below a root", "mid", root("leaf"))
	c.eventually("root of a root", "mid", root("mid"))
	c.parent("other", "leaf")
	c.eventually("root of below after the other way round", "mid", root("below"))
	c.propagator.roots.mu.RLock()
	defer c.propagator.roots.mu.RUnlock()
	if _, ok := c.propagator.roots.above["mid"]; ok {
		t.Error("a root is remembered")
	}
}
