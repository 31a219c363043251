package hnc_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// FuzzTreeLabel checks that a namespace name and its tree label determine each other, and that a tree label is a valid
// key for every valid name.
func FuzzTreeLabel(f *testing.F) {
	for _, seed := range []string{
		"", "a", "team-a", strings.Repeat("a", 63), strings.Repeat("a", 64), "a.b", ".tree.hnc.x-k8s.io/depth", "a.tree.hnc.x-k8s.io/depth",
		"a.tree.hnc.x-k8s.io/depth.tree.hnc.x-k8s.io/depth", "A", "tree.hnc.x-k8s.io/depth", "\x00", "\xff/", "a.tree.hnc.x-k8s.io/Depth",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		label := hnc.TreeLabel(text)
		if ancestor, ok := hnc.TreeLabelAncestor(label); !ok || ancestor != text {
			t.Fatalf("the ancestor in %q is %q, %t", label, ancestor, ok)
		}
		if len(validation.IsDNS1123Label(text)) == 0 {
			if problems := validation.IsQualifiedName(label); len(problems) > 0 {
				t.Fatalf("%q is a valid name, but %q no valid key: %v", text, label, problems)
			}
		}
		if ancestor, ok := hnc.TreeLabelAncestor(text); ok && hnc.TreeLabel(ancestor) != text {
			t.Fatalf("%q is the tree label of %q, whose tree label is %q", text, ancestor, hnc.TreeLabel(ancestor))
		} else if ok != strings.HasSuffix(text, ".tree.hnc.x-k8s.io/depth") {
			t.Fatalf("%q is a tree label: %t", text, ok)
		}
	})
}
