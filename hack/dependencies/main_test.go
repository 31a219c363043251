package main

import (
	"slices"
	"testing"
)

func TestEachRequirementNeedsARowAndEachRowARequirement(t *testing.T) {
	mod := []byte(`{"Require":[{"Path":"a.org/used"},{"Path":"a.org/also"},{"Path":"a.org/new"},{"Path":"a.org/indirect","Indirect":true}],"Tool":[{"Path":"a.org/tool"}]}`)
	paths, err := direct(mod)
	if err != nil {
		t.Fatal(err)
	}
	const text = "## Programs: `go.mod`\n\n| Module | For |\n| --- | --- |\n| `a.org/used`, `a.org/also` | both |\n| `a.org/gone` | nothing |\n| `a.org/new` | |\n" +
		"## Tools: `hack/x/go.mod`\n\n| `a.org/tool` | the tool of another file |\n"
	got := compare(map[string][]string{"go.mod": paths}, text)
	want := []string{
		"docs/dependencies.md: add a row for a.org/new to the section of go.mod that says what it is for",
		"docs/dependencies.md: add a row for a.org/tool to the section of go.mod that says what it is for",
		"docs/dependencies.md: remove a.org/gone: go.mod does not require it directly",
		"docs/dependencies.md: remove a.org/tool: hack/x/go.mod does not require it directly",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
