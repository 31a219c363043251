package propagator

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// held returns the message of the condition about copies that finalizers keep, "" if there is none.
func (c *cluster) held(namespace string) string {
	h := c.get("hierarchies", namespace, hnc.Singleton)
	if h == nil {
		return ""
	}
	list, _, _ := unstructured.NestedSlice(h.Object, "status", "conditions")
	for _, entry := range list {
		if e := entry.(map[string]any); e["type"] == hnc.ConditionOutOfSync && e["reason"] == hnc.ReasonFinalizersRemain {
			return e["message"].(string)
		}
	}
	return ""
}

func TestCopiesThatFinalizersKeepAreReportedUntilTheyAreGone(t *testing.T) {
	const path = "/api/v1/namespaces/leaf/configmaps/"
	terminate := `{"metadata":{"finalizers":["example.com/hold"],"deletionTimestamp":"2026-01-02T03:04:05Z"}}`
	c := newTree(t)
	c.configure("configmaps Propagate")
	for _, name := range []string{"a", "b"} {
		c.put("configmaps", "root", name, "1")
	}
	c.put("configmaps", "leaf", "own", "1")
	c.start()
	c.eventuallyObjects("configmaps", "leaf", "a=1<root b=1<root own=1")
	for _, name := range []string{"a", "b", "own"} {
		c.do("PATCH", path+name, terminate)
	}
	c.eventually("condition", `configmaps "a", configmaps "b"`, func() string {
		_, list, _ := strings.Cut(c.held("leaf"), "keep them: ")
		list, _, _ = strings.Cut(list, ";")
		return list
	})
	// It is known after a restart, too.
	c.stop()
	c.do("PATCH", path+"a", `{"metadata":{"finalizers":null}}`)
	c.start()
	c.eventually("condition", `copies in namespace "leaf" no longer apply, but finalizers keep them: configmaps "b"; clear metadata.finalizers of these objects`,
		func() string { return c.held("leaf") })
	c.do("PATCH", path+"b", `{"metadata":{"finalizers":null}}`)
	c.eventually("condition", "", func() string { return c.held("leaf") })

	// The same is true of what the propagator itself deletes.
	c.do("PATCH", path+"own", `{"metadata":{"finalizers":null}}`)
	c.eventuallyObjects("configmaps", "leaf", "a=1<root b=1<root")
	c.do("PATCH", path+"b", `{"metadata":{"finalizers":["example.com/hold"]}}`)
	c.do("DELETE", "/api/v1/namespaces/root/configmaps/b", "")
	c.eventually("condition", "true", func() string { return boolean(strings.Contains(c.held("leaf"), `configmaps "b"`)) })
	c.do("PATCH", path+"b", `{"metadata":{"finalizers":null}}`)
	c.eventually("condition", "", func() string { return c.held("leaf") })

	// Nothing is known of a kind that is not watched any more.
	c.do("PATCH", path+"a", terminate)
	c.eventually("condition", "true", func() string { return boolean(c.held("leaf") != "") })
	c.configure("configmaps Ignore")
	c.eventually("condition", "", func() string { return c.held("leaf") })
}

func boolean(b bool) string {
	if b {
		return "true"
	}
	return "false"
}
