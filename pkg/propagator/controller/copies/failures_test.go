package copies

import (
	"strings"
	"testing"
)

// A tenant must not read in their hierarchy what fails in the namespaces of another one.
func TestFailuresAreThoseOfTheTree(t *testing.T) {
	f := &failures{known: map[int]map[string]map[string]failure{0: {
		"ann-dev": {"a": {message: "ann's a"}, "b": {message: "ann's b"}}, "ann-prod": {"c": {message: "ann's c"}}, "eve-dev": {"d": {message: "eve's d"}},
	}, 1: {"eve-dev": {"e": {message: "eve's e"}}}}}
	tree := func(namespace string) []string { return []string{namespace, strings.Split(namespace, "-")[0]} }
	got := f.summaries(0, tree)
	for group, want := range map[string]string{
		"ann": "ann's a; and 2 more copies of the kind", "ann-dev": "ann's a; and 1 more copies of the kind", "eve": "eve's d", "bob": "",
	} {
		if got[group] != want {
			t.Errorf("%s: got %q, want %q", group, got[group], want)
		}
	}
	if all := f.summaries(0, func(string) []string { return []string{""} })[""]; all != "ann's a; and 3 more copies of the kind" {
		t.Errorf("all: got %q", all)
	}
}
