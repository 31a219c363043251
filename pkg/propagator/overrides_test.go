package propagator

import (
	"strings"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

const allow, ask = hnc.AnnotationAllowOverride, hnc.AnnotationOverride

func TestAnOverrideIsKeptAsLongAsItIsAllowedAndAskedFor(t *testing.T) {
	c := newTrees(t)
	c.configure(widget + "Propagate")
	c.put("widgets", "mid", "x", "mids", ask+"=true")
	c.put("widgets", "root", "x", "roots", allow+"=true")
	c.start()
	kept := func() {
		t.Helper()
		c.eventuallyObjects("widgets", "leaf", "x=mids<mid")
		if got := c.objectsOf("widgets", "mid"); got != "x=mids" {
			t.Errorf("mid has %q", got)
		}
	}
	kept()
	// What changes in it is true below it; what changes in the other is not.
	c.put("widgets", "mid", "x", "new", ask+"=true")
	c.put("widgets", "root", "x", "newer", allow+"=true")
	c.eventuallyObjects("widgets", "leaf", "x=new<mid")
	c.flush()
	if got := c.objectsOf("widgets", "mid"); got != "x=new" {
		t.Errorf("mid has %q", got)
	}
	// It goes with its namespace, and is an ordinary source elsewhere.
	c.parent("mid", "other")
	c.put("widgets", "other", "x", "others")
	c.eventuallyObjects("widgets", "leaf", "x=others<other")
	c.eventuallyObjects("widgets", "mid", "x=others<other")
	c.parent("mid", "root")
	c.eventuallyObjects("widgets", "leaf", "x=newer<root")
}

func TestAnOverrideThatIsNotAllowedAnyMoreIsOverwritten(t *testing.T) {
	for name, change := range map[string]func(c *cluster){
		"the source takes its annotation back": func(c *cluster) { c.annotate("root", "x", allow, "null") },
		"the source allows it no more":         func(c *cluster) { c.annotate("root", "x", allow, `"false"`) },
		"the source says what is no boolean":   func(c *cluster) { c.annotate("root", "x", allow, `"yes"`) },
		"the object does not ask for it":       func(c *cluster) { c.annotate("mid", "x", ask, "null") },
		"the object asks with no boolean":      func(c *cluster) { c.annotate("mid", "x", ask, `"yes"`) },
		"the object goes":                      func(c *cluster) { c.do("DELETE", "/apis/example.com/v1/namespaces/mid/widgets/x", "") },
	} {
		t.Run(name, func(t *testing.T) {
			c := newTrees(t)
			c.configure(widget + "Propagate")
			c.put("widgets", "mid", "x", "mids", ask+"=true")
			c.put("widgets", "root", "x", "roots", allow+"=true")
			c.start()
			c.eventuallyObjects("widgets", "leaf", "x=mids<mid")
			change(c)
			c.eventuallyObjects("widgets", "mid", "x=roots<root")
			c.eventuallyObjects("widgets", "leaf", "x=roots<root")
		})
	}
}

// annotate sets an annotation of a widget to a JSON value.
func (c *cluster) annotate(namespace, name, key, value string) {
	c.t.Helper()
	c.do("PATCH", "/apis/example.com/v1/namespaces/"+namespace+"/widgets/"+name, `{"metadata":{"annotations":{"`+key+`":`+value+`}}}`)
}

func TestAnEventTellsHowAnObjectCouldHaveBeenKept(t *testing.T) {
	for name, test := range map[string]struct {
		annotations []string
		says        []string
	}{
		"it did not ask": {nil, []string{"choose another name", ask + `: "true" if`, allow}},
		"it asked":       {[]string{ask + "=true"}, []string{"does not allow its override", allow}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTrees(t)
			c.configure(widget + "Propagate")
			c.put("widgets", "mid", "x", "mids", test.annotations...)
			c.start()
			c.eventuallyObjects("widgets", "leaf", "x=mids<mid")
			c.put("widgets", "root", "x", "roots")
			c.eventuallyObjects("widgets", "mid", "x=roots<root")
			told := c.told("Warning ObjectOverwritten Overwritten by", 1)
			for _, part := range test.says {
				if len(told) != 1 || !strings.Contains(told[0], part) {
					t.Errorf("%q does not say %q", told, part)
				}
			}
		})
	}
}

func TestAnAnnotationAboutOverridesThatCanNotBeReadIsReported(t *testing.T) {
	c := newTrees(t)
	c.configure(widget + "Propagate")
	c.put("widgets", "root", "x", "1", allow+"=yes")
	c.start()
	// It goes where it would have gone.
	c.eventuallyObjects("widgets", "leaf", "x=1<root")
	told := c.told("Warning CannotParseSelector", 1)
	if len(told) != 1 || !strings.Contains(told[0], allow) || !strings.Contains(told[0], "neither allowed nor asked") {
		t.Errorf("events %q", told)
	}
}
