package tree

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestObjectsWithTheSameBeginningAreCountedEach(t *testing.T) {
	tree := chain()
	for _, test := range []struct {
		set func(namespace, resource, name string, member bool) bool
		get func(namespace string, most int) ([]string, int)
	}{{tree.SetHeld, tree.Held}, {tree.SetUncopied, tree.Uncopied}, {tree.SetUnreported, tree.Unreported}} {
		long := strings.Repeat("x", 300)
		if !test.set("a", "roles", long+"1", true) || !test.set("a", "roles", long+"2", true) || test.set("a", "roles", long+"1", true) {
			t.Error("one object counts as another")
		}
		for i := range 10 {
			test.set("a", "configmaps", fmt.Sprint("map ", i), true)
		}
		first, number := test.get("a", 2)
		if want := []string{`configmaps "map 0"`, `configmaps "map 1"`}; number != 12 || !slices.Equal(first, want) {
			t.Errorf("got %q and %d, want %q and 12", first, number, want)
		}
		for i := range 10 {
			test.set("a", "configmaps", fmt.Sprint("map ", i), false)
		}
		if !test.set("a", "roles", long+"2", false) {
			t.Error("an object was forgotten along with another one")
		}
		first, number = test.get("a", 5)
		if want := []string{fmt.Sprintf("roles %q", long[:250]+"…")}; number != 1 || !slices.Equal(first, want) {
			t.Errorf("got %q and %d, want %q", first, number, want)
		}
		if test.set("a", "roles", long+"1", false); len(tree.held["a"])+len(tree.uncopied["a"])+len(tree.unreported["a"]) > 0 {
			t.Error("an object remains")
		}
	}
}
