package propagation

import (
	"strings"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// TestModes has the rows of docs/spec/hnc.md 3.11. A copy is left by an earlier configuration.
func TestModes(t *testing.T) {
	for name, test := range map[string]struct {
		mode string
		// want are the objects of leaf in the end, status is that of the configuration.
		want, status string
	}{
		"M-Propagate":      {"Propagate", "asked=new<root both=new<root left=new<root own=1 plain=new<root", "Propagate 4/5"},
		"M-AllowPropagate": {"AllowPropagate", "asked=new<root both=local own=1", "AllowPropagate 1/6"},
		"M-Remove":         {"Remove", "both=local own=1", "Remove 0/-"},
		"M-Ignore":         {"Ignore", "both=local left=old<root own=1", "Ignore -/-"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTree(t)
			// A configuration that would overwrite an object is refused, so it comes first.
			c.configure("secrets " + test.mode)
			for _, object := range []string{"plain", "both", "left"} {
				c.put("secrets", "root", object, "new")
			}
			c.put("secrets", "root", "asked", "new", hnc.AnnotationAll+"=true")
			c.put("secrets", "leaf", "both", "local")
			c.put("secrets", "leaf", "own", "1")
			c.put("secrets", "leaf", "left", "old")
			c.mark("secrets", "leaf", "left", hnc.LabelInheritedFrom, c.full("root"))
			c.start()
			c.eventuallyConfigured("secrets", test.status)
			c.eventuallyObjects("secrets", "leaf", test.want)
		})
	}
}

func TestChangeOfModeTakesEffectOnAllObjects(t *testing.T) {
	c := newTree(t)
	c.put("widgets", "root", "a", "1")
	c.put("widgets", "root", "b", "1", hnc.AnnotationTreeSelect+"="+c.full("leaf"))
	c.put("widgets", "root", "c", "1", hnc.AnnotationNone+"=true")
	c.start()
	const all, some = "a=1<root b=1<root", "b=1<root"
	for _, step := range []struct{ mode, want, status string }{
		{"Propagate", all, "Propagate 2/3"},
		{"AllowPropagate", some, "AllowPropagate 1/3"},
		{"Propagate", all, "Propagate 2/3"},
		{"Ignore", all, "Ignore -/-"},
		{"Remove", "", "Remove 0/-"},
		{"Ignore", "", "Ignore -/-"},
		{"AllowPropagate", some, "AllowPropagate 1/3"},
		{"Remove", "", "Remove 0/-"},
		{"Propagate", all, "Propagate 2/3"},
	} {
		c.configure(widget + step.mode)
		c.eventuallyConfigured("widgets", step.status)
		c.eventuallyObjects("widgets", "leaf", step.want)
	}
	// A kind that is not configured is ignored.
	c.configure()
	c.eventuallyConfigured("widgets", "not active")
	c.put("widgets", "root", "a", "2")
	c.flush()
	c.eventuallyObjects("widgets", "leaf", all)
	c.configure(widget + "Propagate")
	c.eventuallyObjects("widgets", "leaf", "a=2<root b=1<root")
}

func TestLabelsOfANamespaceDecideOnExceptions(t *testing.T) {
	c := newTree(t)
	c.namespaces("other root")
	c.put("widgets", "root", "selected", "1", hnc.AnnotationSelect+"=env=prod")
	c.put("widgets", "root", "tree", "1", hnc.AnnotationTreeSelect+"=!"+c.full("leaf"))
	c.configure(widget + "Propagate")
	c.start()
	c.eventuallyObjects("widgets", "other", "tree=1<root")
	c.eventuallyObjects("widgets", "leaf", "")
	for _, step := range []struct {
		label any
		want  string
	}{{"prod", "selected=1<root"}, {"dev", ""}, {"prod", "selected=1<root"}, {nil, ""}} {
		c.mark("namespaces", "", c.full("leaf"), "env", step.label)
		c.eventuallyObjects("widgets", "leaf", step.want)
	}
	// A move changes the tree labels.
	c.parent("other", "leaf")
	c.eventuallyObjects("widgets", "other", "")
	c.parent("other", "root")
	c.eventuallyObjects("widgets", "other", "tree=1<root")
	// A change of the annotation changes what is selected.
	c.put("widgets", "root", "tree", "1", hnc.AnnotationTreeSelect+"="+c.full("leaf"))
	c.eventuallyObjects("widgets", "other", "")
	c.eventuallyObjects("widgets", "leaf", "tree=1<root")
}

func TestUnreadableSelectorIsReported(t *testing.T) {
	c := newTree(t)
	c.put("widgets", "root", "a", "1")
	c.put("widgets", "root", "b", "1", hnc.AnnotationTreeSelect+"=x,,y")
	c.configure(widget + "Propagate")
	c.start()
	c.eventuallyObjects("widgets", "leaf", "a=1<root")
	c.put("widgets", "root", "a", "1", hnc.AnnotationSelect+"=a!=b")
	c.eventuallyObjects("widgets", "leaf", "")
	c.put("widgets", "root", "a", "1", hnc.AnnotationSelect+"=!b")
	c.eventuallyObjects("widgets", "leaf", "a=1<root")
	events := c.recorded("Warning CannotParseSelector", 2)
	if len(events) != 2 {
		t.Fatalf("events %q", events)
	}
	for i, key := range []string{"/select:", "/treeSelect:"} {
		if !strings.Contains(events[i], key) {
			t.Errorf("%q does not name %s", events[i], key)
		}
	}
}
