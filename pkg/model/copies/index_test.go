package copies

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestWhatWeHaveWrittenIsKnownAtOnce(t *testing.T) {
	index := NewIndex(Roles)
	source := role(t, "root", "x", "get")
	index.Set(source)
	echo := stored(t, source, "leaf", nil)
	index.Wrote(source, "leaf", Written{UID: echo.UID, ResourceVersion: echo.ResourceVersion}, true)
	if w := index.Decide(belowRoot, "x"); w != nil {
		t.Fatalf("written again: %v", w.Verb)
	}
	if _, changed := index.Set(echo); changed {
		t.Error("its echo is news")
	}
}

func TestWhatWasDeletedBeforeWeLearntThatItWasWrittenStaysDeleted(t *testing.T) {
	index := NewIndex(Roles)
	source := role(t, "root", "x", "get")
	index.Set(source)
	index.Wrote(source, "leaf", Written{UID: "u", ResourceVersion: next()}, false)
	if w := index.Decide(belowRoot, "x"); w == nil || w.Verb != Create {
		t.Errorf("not created again: %v", w)
	}
}

func TestACopyThatTheServerChangesOnTheWayIsWrittenOnce(t *testing.T) {
	source := role(t, "root", "x", "get")
	changed := func() *Object {
		return stored(t, source, "leaf", func(u *unstructured.Unstructured) { u.SetAnnotations(map[string]string{"injected": "yes"}) })
	}
	for name, learn := range map[string]func(*Index, *Object, Written){
		"the answer first": func(x *Index, echo *Object, written Written) { x.Wrote(source, "leaf", written, true); x.Set(echo) },
		"the watch first":  func(x *Index, echo *Object, written Written) { x.Set(echo); x.Wrote(source, "leaf", written, false) },
	} {
		t.Run(name, func(t *testing.T) {
			index := NewIndex(Roles)
			index.Set(source)
			echo := changed()
			learn(index, echo, Written{UID: echo.UID, ResourceVersion: echo.ResourceVersion})
			if w := index.Decide(belowRoot, "x"); w != nil {
				t.Fatalf("%s again", w.Verb)
			}
			index.Set(changed()) // a later version with the same content
			if w := index.Decide(belowRoot, "x"); w != nil {
				t.Errorf("%s after somebody has touched it", w.Verb)
			}
			index.Set(stored(t, source, "leaf", func(u *unstructured.Unstructured) { u.Object["rules"] = nil }))
			if w := index.Decide(belowRoot, "x"); w == nil || w.Verb != Update {
				t.Error("not reset after somebody has edited it")
			}
			index.Set(echo)
			newer := role(t, "root", "x", "watch")
			index.Set(newer)
			if w := index.Decide(belowRoot, "x"); w == nil || w.Verb != Update {
				t.Error("not updated after the source has changed")
			}
		})
	}
}

func TestAnotherIncarnationIsNotForgotten(t *testing.T) {
	index := NewIndex(Roles)
	o := role(t, "root", "x", "get")
	index.Set(o)
	if index.Delete("root", "x", "before") != nil || index.Get("root", "x") == nil {
		t.Error("forgotten")
	}
	if index.Delete("root", "x", o.UID) != o || index.Get("root", "x") != nil {
		t.Error("not forgotten")
	}
}
