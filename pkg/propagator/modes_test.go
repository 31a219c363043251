package propagator

import (
	"strings"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// TestModes has the rows of spec/hnc.md 3.11. Everything starts with a copy that an earlier configuration has left.
func TestModes(t *testing.T) {
	for name, test := range map[string]struct {
		mode string
		// wanted are the objects of leaf in the end, status what the configuration tells.
		wanted, status string
	}{
		"M-Propagate":      {"Propagate", "asked=new<root both=new<root left=new<root own=1 plain=new<root", "Propagate 4/5"},
		"M-AllowPropagate": {"AllowPropagate", "asked=new<root both=local own=1", "AllowPropagate 1/6"},
		"M-Remove":         {"Remove", "both=local own=1", "Remove 0/-"},
		"M-Ignore":         {"Ignore", "both=local left=old<root own=1", "Ignore -/-"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTree(t)
			for _, object := range []string{"plain", "both", "left"} {
				c.put("configmaps", "root", object, "new")
			}
			c.put("configmaps", "root", "asked", "new", hnc.AnnotationAll+"=true")
			c.put("configmaps", "leaf", "both", "local")
			c.put("configmaps", "leaf", "own", "1")
			c.put("configmaps", "leaf", "left", "old")
			c.do("PATCH", "/api/v1/namespaces/leaf/configmaps/left", `{"metadata":{"labels":{"hnc.x-k8s.io/inherited-from":"root"}}}`)
			c.configure("configmaps " + test.mode)
			c.start()
			c.eventuallyConfigured("configmaps", test.status)
			c.eventuallyObjects("configmaps", "leaf", test.wanted)
		})
	}
}

func TestAChangeOfModeTakesEffectAtOnceAndOnAllObjects(t *testing.T) {
	c := newTree(t)
	c.put("widgets", "root", "a", "1")
	c.put("widgets", "root", "b", "1", hnc.AnnotationTreeSelect+"=leaf")
	c.put("widgets", "root", "c", "1", hnc.AnnotationNone+"=true")
	c.start()
	c.eventuallyConfigured("roles", "Propagate 0/0")
	all, some := "a=1<root b=1<root", "b=1<root"
	for _, step := range []struct{ mode, wanted, status string }{
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
		c.configure("widgets.example.com " + step.mode)
		c.eventuallyConfigured("widgets", step.status)
		c.eventuallyObjects("widgets", "leaf", step.wanted)
	}
	// Removed from the configuration is ignored.
	c.configure()
	c.eventuallyConfigured("widgets", "not active")
	c.put("widgets", "root", "a", "2")
	c.role("root", "flush", "get")
	c.eventuallyRoles("leaf", "flush=get<root")
	c.eventuallyObjects("widgets", "leaf", all)
	c.configure("widgets.example.com Propagate")
	c.eventuallyObjects("widgets", "leaf", "a=2<root b=1<root")
}

func TestTheLabelsOfANamespaceDecideOnExceptions(t *testing.T) {
	c := newTree(t)
	c.namespace("other")
	c.parent("other", "root")
	c.put("widgets", "root", "selected", "1", hnc.AnnotationSelect+"=env=prod")
	c.put("widgets", "root", "tree", "1", hnc.AnnotationTreeSelect+"=!leaf")
	c.configure("widgets.example.com Propagate")
	c.start()
	c.eventuallyObjects("widgets", "other", "tree=1<root")
	c.eventuallyObjects("widgets", "leaf", "")
	label := func(value string) {
		c.do("PATCH", "/api/v1/namespaces/leaf", `{"metadata":{"labels":{"env":`+value+`}}}`)
	}
	label(`"prod"`)
	c.eventuallyObjects("widgets", "leaf", "selected=1<root")
	label(`"dev"`)
	c.eventuallyObjects("widgets", "leaf", "")
	label(`"prod"`)
	c.eventuallyObjects("widgets", "leaf", "selected=1<root")
	label("null")
	c.eventuallyObjects("widgets", "leaf", "")
	// A move changes the tree labels.
	c.parent("other", "leaf")
	c.eventuallyObjects("widgets", "other", "")
	c.parent("other", "root")
	c.eventuallyObjects("widgets", "other", "tree=1<root")
	// So does the annotation.
	c.put("widgets", "root", "tree", "1", hnc.AnnotationTreeSelect+"=leaf")
	c.eventuallyObjects("widgets", "other", "")
	c.eventuallyObjects("widgets", "leaf", "tree=1<root")
}

func TestANewSubnamespaceGetsWhatItsTreeSelects(t *testing.T) {
	c := newCluster(t)
	c.namespace("root")
	c.put("widgets", "root", "in", "1", hnc.AnnotationTreeSelect+"=team")
	c.put("widgets", "root", "out", "1", hnc.AnnotationTreeSelect+"=!team")
	c.configure("widgets.example.com AllowPropagate")
	c.start()
	c.eventuallyConfigured("widgets", "AllowPropagate 0/2")
	c.subnamespace("root", "team")
	c.eventually("subnamespace", readyOk, func() string { return c.ready("root", "team") })
	if got := c.objectsOf("widgets", "team"); got != "in=1<root" {
		t.Errorf("it has %q", got)
	}
}

func TestAnAnnotationThatCanNotBeReadIsReported(t *testing.T) {
	c := newTree(t)
	c.put("widgets", "root", "a", "1")
	c.put("widgets", "root", "b", "1", hnc.AnnotationTreeSelect+"=x,,y")
	c.configure("widgets.example.com Propagate")
	c.start()
	c.eventuallyObjects("widgets", "leaf", "a=1<root")
	c.put("widgets", "root", "a", "1", hnc.AnnotationSelect+"=a!=b")
	c.eventuallyObjects("widgets", "leaf", "")
	c.put("widgets", "root", "a", "1", hnc.AnnotationSelect+"=!b")
	c.eventuallyObjects("widgets", "leaf", "a=1<root")
	told := c.told("Warning CannotParseSelector", 2)
	if len(told) != 2 {
		t.Fatalf("events %q", told)
	}
	for i, key := range []string{"/select:", "/treeSelect:"} {
		if !strings.Contains(told[i], key) {
			t.Errorf("%q does not name %s", told[i], key)
		}
	}
}

func TestALocalObjectIsKeptWhereTheConfigurationSaysSo(t *testing.T) {
	c := newTree(t)
	c.namespace("below")
	c.parent("below", "leaf")
	c.put("widgets", "leaf", "a", "local")
	c.configure("widgets.example.com Propagate Keep")
	c.start()
	c.put("widgets", "root", "a", "1")
	c.put("widgets", "root", "b", "1")
	c.eventuallyObjects("widgets", "below", "a=1<root b=1<root")
	c.eventuallyObjects("widgets", "leaf", "a=local b=1<root")
	c.put("widgets", "leaf", "a", "still")
	c.put("widgets", "root", "a", "2")
	c.eventuallyObjects("widgets", "below", "a=2<root b=1<root")
	c.eventuallyObjects("widgets", "leaf", "a=still b=1<root")
	// Without it, the object goes.
	c.do("DELETE", "/apis/example.com/v1/namespaces/leaf/widgets/a", "")
	c.eventuallyObjects("widgets", "leaf", "a=2<root b=1<root")
	told := c.told("Warning ObjectKept", 2)
	if len(told) != 2 || !strings.Contains(told[0], "Kept, although") || !strings.Contains(told[1], "Not propagated to") {
		t.Errorf("events %q", told)
	}
}

func TestAKeptObjectIsOverwrittenOnceThatIsConfigured(t *testing.T) {
	c := newTree(t)
	c.put("widgets", "leaf", "a", "local")
	c.put("widgets", "root", "a", "1")
	c.put("widgets", "root", "b", "1")
	c.configure("widgets.example.com Propagate Keep")
	c.start()
	c.eventuallyObjects("widgets", "leaf", "a=local b=1<root")
	c.configure("widgets.example.com Propagate Overwrite")
	c.eventuallyObjects("widgets", "leaf", "a=1<root b=1<root")
}
