package copies

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/modes"
)

// annotated returns a role of root with annotations.
func annotated(t *testing.T, name string, annotations map[string]string) *Object {
	t.Helper()
	u := parse(t, `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{}}`)
	u.SetNamespace("root")
	u.SetName(name)
	u.SetUID(types.UID("root/" + name))
	u.SetResourceVersion(next())
	u.SetAnnotations(annotations)
	o, err := NewObject(u, &Rules{})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// The names carry the rows of docs/spec/hnc.md 3.11. In leaf there are a local object in the way, a copy that is right,
// one that is outdated and a unrelated.
func TestModes(t *testing.T) {
	all := map[string]string{hnc.AnnotationAll: "true"}
	for name, test := range map[string]struct {
		policy          modes.Policy
		removed, wanted string
	}{
		"MODE-Propagate": {modes.Policy{Mode: v1beta1.Propagate}, "delete unrelated",
			"update asked from root over a local one, create new from root, update outdated from root, update way from root over a local one"},
		"MODE-AllowPropagate": {modes.Policy{Mode: v1beta1.AllowPropagate}, "delete outdated, delete right, delete unrelated",
			"update asked from root over a local one"},
		"MODE-Remove EXCL-Remove": {modes.Policy{Mode: v1beta1.Remove}, "delete outdated, delete right, delete unrelated", ""},
		"MODE-Ignore":             {modes.Policy{Mode: v1beta1.Ignore}, "", ""},
		"MODE-Propagate, Keep": {modes.Policy{Mode: v1beta1.Propagate, Keep: true}, "delete unrelated",
			"keep asked from root, create new from root, update outdated from root, keep way from root"},
		"MODE-AllowPropagate, Keep": {modes.Policy{Mode: v1beta1.AllowPropagate, Keep: true}, "delete outdated, delete right, delete unrelated", "keep asked from root"},
		"MODE-Remove, Keep":         {modes.Policy{Mode: v1beta1.Remove, Keep: true}, "delete outdated, delete right, delete unrelated", ""},
	} {
		t.Run(name, func(t *testing.T) {
			index := NewIndex(Roles)
			index.Policy = test.policy
			for _, name := range []string{"new", "outdated", "right", "way"} {
				index.Set(annotated(t, name, nil))
			}
			index.Set(annotated(t, "asked", all))
			for _, name := range []string{"way", "asked"} {
				index.Set(role(t, "leaf", name, "get"))
			}
			index.Set(stored(t, index.Get("root", "right"), "leaf", nil))
			index.Set(role(t, "leaf", "outdated", "get", from+"root"))
			index.Set(role(t, "leaf", "unrelated", "get", from+"gone"))
			removals, writes := index.DecideAll(belowRoot)
			if got := show(removals); got != test.removed {
				t.Errorf("removed %q, want %q", got, test.removed)
			}
			if got := show(writes); got != test.wanted {
				t.Errorf("written %q, want %q", got, test.wanted)
			}
		})
	}
}

// A restore does not pause because of objects that stay as they are.
func TestWhatIsKeptIsNotWritten(t *testing.T) {
	terminating := func(o *Object) *Object {
		o.Terminating = true
		return o
	}
	for name, test := range map[string]struct {
		local         *Object
		keep          bool
		right, writes bool
	}{
		"nothing is there":                  {nil, true, false, true},
		"a local object is kept":            {role(t, "leaf", "x", "get"), true, false, false},
		"a local object is overwritten":     {role(t, "leaf", "x", "get"), false, false, true},
		"a local object is being deleted":   {terminating(role(t, "leaf", "x", "get")), false, false, false},
		"a copy of another one is replaced": {role(t, "leaf", "x", "list", from+"root"), true, false, true},
	} {
		index := NewIndex(Roles)
		index.Policy = modes.Policy{Mode: v1beta1.Propagate, Keep: test.keep}
		index.Set(role(t, "root", "x", "get"))
		if test.local != nil {
			index.Set(test.local)
		}
		if right, writes := index.Right(belowRoot), index.Writes(belowRoot); right != test.right || writes != test.writes {
			t.Errorf("%s: right %v, writes %v", name, right, writes)
		}
	}
}

func TestTheTopmostSourceThatIsSelectedGoverns(t *testing.T) {
	index := NewIndex(Roles)
	index.Set(annotated(t, "x", map[string]string{hnc.AnnotationSelect: "env=prod"}))
	index.Set(role(t, "mid", "x", "list"))
	env := "prod"
	leaf := Destination{Namespace: "leaf", Ancestors: []string{"root", "mid"}, Labels: func(string) map[string]string { return map[string]string{"env": env} }}
	if o := index.Governing(leaf, "x"); o == nil || o.Namespace != "root" {
		t.Errorf("in prod %+v governs", o)
	}
	env = "dev"
	if o := index.Governing(leaf, "x"); o == nil || o.Namespace != "mid" {
		t.Errorf("in dev %+v governs", o)
	}
}

func TestLabelsAreAskedForOnlyWhereTheyMatter(t *testing.T) {
	index := NewIndex(Roles)
	index.Set(annotated(t, "x", map[string]string{hnc.AnnotationAll: "true"}))
	if index.Selective() {
		t.Error("they matter to all=true")
	}
	if w := index.Decide(belowRoot, "x"); w == nil { // belowRoot has no function to ask
		t.Error("not written")
	}
	index.Set(annotated(t, "x", map[string]string{hnc.AnnotationTreeSelect: "leaf"}))
	if !index.Selective() {
		t.Error("they don't matter to a selector")
	}
	index.Set(annotated(t, "x", nil))
	if index.Selective() {
		t.Error("they matter when the annotation is gone")
	}
}

func TestASourceThatCanNotBeReadIsPropagatedNowhere(t *testing.T) {
	good, bad := annotated(t, "x", nil), annotated(t, "x", map[string]string{hnc.AnnotationTreeSelect: "a,"})
	if good.Unreadable() != nil || bad.Unreadable() == nil || bad.Fit() {
		t.Fatal("it can be read")
	}
	worse := annotated(t, "x", map[string]string{hnc.AnnotationTreeSelect: "a,,"})
	for name, test := range map[string]struct {
		old, o           *Object
		same, remarkable bool
	}{
		"as it was":        {good, annotated(t, "x", nil), true, false},
		"new":              {nil, good, false, false},
		"gone":             {good, nil, false, false},
		"made bad":         {good, bad, false, true},
		"made good":        {bad, good, false, false},
		"new and bad":      {nil, bad, true, true},
		"bad as it was":    {bad, annotated(t, "x", map[string]string{hnc.AnnotationTreeSelect: "a,"}), true, false},
		"bad in other way": {bad, worse, true, true},
		"selected":         {good, annotated(t, "x", map[string]string{hnc.AnnotationTreeSelect: "a"}), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.o.SameCopies(test.old); got != test.same {
				t.Errorf("same copies: %v", got)
			}
			if got := test.o.Notable(test.old); got != test.remarkable {
				t.Errorf("remarkable: %v", got)
			}
		})
	}
}

func TestCount(t *testing.T) {
	index := NewIndex(Roles)
	all := func(string) bool { return true }
	expect := func(counts func(string) bool, sources, copies int) {
		t.Helper()
		if s, c := index.Count(counts); s != sources || c != copies {
			t.Errorf("%d sources and %d copies, want %d and %d", s, c, sources, copies)
		}
	}
	expect(all, 0, 0)
	index.Set(role(t, "a", "x", "get"))
	index.Set(role(t, "a", "y", "get", from+"b"))
	index.Set(role(t, "b", "x", "get"))
	expect(all, 2, 1)
	expect(func(ns string) bool { return ns != "a" }, 1, 0)
	index.Set(role(t, "a", "x", "get", from+"b"))
	expect(all, 1, 2)
	index.Set(role(t, "a", "x", "list", from+"b"))
	expect(all, 1, 2)
	for _, name := range []string{"x", "y"} {
		index.Delete("a", name, index.Get("a", name).UID)
	}
	expect(all, 1, 0)
	index.Wrote(index.Get("b", "x"), "a", Written{UID: "u", ResourceVersion: next()}, true)
	expect(all, 1, 1)
}
