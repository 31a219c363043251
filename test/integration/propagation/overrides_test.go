package propagation

import (
	"strings"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

const (
	allow, ask = hnc.AnnotationAllowOverride, hnc.AnnotationOverride
	widget     = "widgets.example.com "
)

func TestOverrideIsKeptAsLongAsItIsAllowedAndAskedFor(t *testing.T) {
	c := newTrees(t)
	c.configure(widget + "Propagate")
	c.put("widgets", "mid", "x", "mids", ask+"=true")
	c.put("widgets", "root", "x", "roots", allow+"=true")
	c.start()
	c.eventuallyObjects("widgets", "leaf", "x=mids<mid")
	c.wantObjects("widgets", "mid", "x=mids")
	// Changes of the override reach the namespaces below it; changes of the overridden object do not.
	c.put("widgets", "mid", "x", "new", ask+"=true")
	c.put("widgets", "root", "x", "newer", allow+"=true")
	c.eventuallyObjects("widgets", "leaf", "x=new<mid")
	c.flush()
	c.wantObjects("widgets", "mid", "x=new")
	// It goes with its namespace, and is an ordinary source elsewhere.
	c.parent("mid", "other")
	c.put("widgets", "other", "x", "others")
	c.eventuallyObjects("widgets", "leaf", "x=others<other")
	c.eventuallyObjects("widgets", "mid", "x=others<other")
	c.parent("mid", "root")
	c.eventuallyObjects("widgets", "leaf", "x=newer<root")
}

func TestOverrideThatIsNoLongerAllowedIsOverwritten(t *testing.T) {
	c := newTrees(t)
	c.configure(widget + "Propagate")
	c.start()
	for name, change := range map[string]func(){
		"the source has no annotation":             func() { c.annotate("widgets", "root", "x", allow, nil) },
		"the source does not allow it":             func() { c.annotate("widgets", "root", "x", allow, "false") },
		"the source's annotation is not a boolean": func() { c.annotate("widgets", "root", "x", allow, "yes") },
		"the object does not ask for it":           func() { c.annotate("widgets", "mid", "x", ask, nil) },
		"the object's annotation is not a boolean": func() { c.annotate("widgets", "mid", "x", ask, "yes") },
		"the object is deleted":                    func() { c.remove("widgets", "mid", "x") },
	} {
		t.Run(name, func(t *testing.T) {
			c.put("widgets", "mid", "x", "mids", ask+"=true")
			c.put("widgets", "root", "x", "roots", allow+"=true")
			c.eventuallyObjects("widgets", "leaf", "x=mids<mid")
			change()
			c.eventuallyObjects("widgets", "mid", "x=roots<root")
			c.eventuallyObjects("widgets", "leaf", "x=roots<root")
			c.remove("widgets", "root", "x")
			c.eventuallyObjects("widgets", "mid", "")
			c.eventuallyObjects("widgets", "leaf", "")
		})
	}
}

func TestEventSaysHowAnObjectCouldHaveBeenKept(t *testing.T) {
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
			events := c.recorded("Warning ObjectOverwritten Overwritten by", 1)
			for _, part := range test.says {
				if len(events) != 1 || !strings.Contains(events[0], part) {
					t.Errorf("%q does not say %q", events, part)
				}
			}
		})
	}
}

func TestUnreadableOverrideAnnotationIsReported(t *testing.T) {
	c := newTrees(t)
	c.configure(widget + "Propagate")
	c.put("widgets", "root", "x", "1", allow+"=yes")
	c.start()
	// It is copied as without the annotation.
	c.eventuallyObjects("widgets", "leaf", "x=1<root")
	events := c.recorded("Warning CannotParseSelector", 1)
	if len(events) != 1 || !strings.Contains(events[0], allow) || !strings.Contains(events[0], "neither allowed nor asked") {
		t.Errorf("events %q", events)
	}
}
