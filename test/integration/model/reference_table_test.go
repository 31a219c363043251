package model

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// family is a tree root > mid > leaf, a full namespace other below root, and an orphan with a child.
func family() *world {
	return &world{
		spaces: map[string]space{
			"root": {}, "mid": {parent: "root", sub: true, env: "prod"}, "leaf": {parent: "mid", sub: true}, "other": {parent: "root"},
			"orphan": {parent: "gone"}, "child": {parent: "orphan"},
		},
		objects: map[key]source{}, modes: map[string]mode{"x": {name: "Propagate"}},
	}
}

func TestReferenceSaysWhichCopiesThereAre(t *testing.T) {
	for name, test := range map[string]struct {
		mode    mode
		objects map[string]source
		want    string
	}{
		"all below":                        {mode{"Propagate", false}, map[string]source{"mid": {}}, "leaf<mid"},
		"the topmost wins":                 {mode{"Propagate", false}, map[string]source{"root": {}, "mid": {}}, "leaf<root mid<root other<root"},
		"kept":                             {mode{"Propagate", true}, map[string]source{"root": {}, "mid": {}}, "leaf<root other<root"},
		"none of what does not ask":        {mode{"AllowPropagate", false}, map[string]source{"root": {}}, ""},
		"what asks":                        {mode{"AllowPropagate", false}, map[string]source{"root": {exception: hnc.AnnotationAll}}, "leaf<root mid<root other<root"},
		"removed":                          {mode{"Remove", false}, map[string]source{"root": {}}, ""},
		"none":                             {mode{"Propagate", false}, map[string]source{"root": {exception: hnc.AnnotationNone}}, ""},
		"selected":                         {mode{"Propagate", false}, map[string]source{"root": {exception: hnc.AnnotationSelect, argument: "prod"}}, "mid<root"},
		"a subtree":                        {mode{"Propagate", false}, map[string]source{"root": {exception: hnc.AnnotationTreeSelect, argument: "mid"}}, "leaf<root mid<root"},
		"all but a subtree":                {mode{"Propagate", false}, map[string]source{"root": {exception: hnc.AnnotationTreeSelect, argument: "!mid"}}, "other<root"},
		"what is overwritten isn't copied": {mode{"Propagate", false}, map[string]source{"root": {exception: hnc.AnnotationSelect, argument: "prod"}, "mid": {}}, "mid<root"},
		"an override":                      {mode{"Propagate", false}, map[string]source{"root": {allows: true}, "mid": {overrides: true}}, "leaf<mid other<root"},
		"an override without permission":   {mode{"Propagate", false}, map[string]source{"root": {}, "mid": {overrides: true}}, "leaf<root mid<root other<root"},
		"of an override":                   {mode{"Propagate", false}, map[string]source{"root": {allows: true}, "mid": {overrides: true}, "leaf": {overrides: true}}, "leaf<mid other<root"},
		"an override of its own only":      {mode{"Propagate", false}, map[string]source{"root": {allows: true}, "mid": {overrides: true, exception: hnc.AnnotationNone}}, "leaf<root other<root"},
		"nothing of an orphan":             {mode{"Propagate", false}, map[string]source{"orphan": {}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := family()
			w.modes["x"] = test.mode
			for space, s := range test.objects {
				w.objects[key{"x", space, "a"}] = s
			}
			var got []string
			for k, from := range w.copies() {
				got = append(got, k.space+"<"+from)
			}
			slices.Sort(got)
			if text := strings.Join(got, " "); text != test.want {
				t.Errorf("copies %s, want %s", text, test.want)
			}
		})
	}
}

func TestReferenceDeletesSubNamespacesOnly(t *testing.T) {
	w := family()
	w.spaces["full"] = space{parent: "leaf"}
	w.objects[key{"x", "leaf", "a"}], w.objects[key{"x", "full", "a"}] = source{}, source{}
	removed := w.remove("root")
	slices.Sort(removed)
	if got := strings.Join(removed, " "); got != "leaf mid root" {
		t.Errorf("removed %s", got)
	}
	if got := slices.Sorted(maps.Keys(w.spaces)); strings.Join(got, " ") != "child full orphan other" || len(w.objects) != 1 {
		t.Errorf("left %v, %v", got, w.objects)
	}
	if _, orphaned := w.chain("full"); !orphaned {
		t.Error("its parent is gone")
	}
}
