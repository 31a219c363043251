package main

import (
	"slices"
	"strings"
	"testing"
)

func TestWordsOfIdentifiers(t *testing.T) {
	for text, want := range map[string]string{
		"inPlace InPlace in_place in-place": "in place in place in place in place",
		"HTTPPlace placeID":                 "http place place id",
		"replace placeholder":               "replace placeholder",
		`"one\ntwo"`:                        "one two",
		"x1place":                           "x place",
		"A":                                 "a",
	} {
		var got []string
		for _, p := range split([]byte(text)) {
			got = append(got, p.text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q splits into %q, want %q", text, got, want)
		}
	}
}

func TestFindings(t *testing.T) {
	l, err := parse(`
# comment
place places = position
"look at all" = enqueue
allow "in place" = a phrase
allow "the wrong place" in pkg/a = a quotation
wrong = invalid
`)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, path, text string
		want             []string
	}{
		{"a word in text", "f.go", "its place.", []string{"f.go:1: place: say position"}},
		{"a part of an identifier", "f.go", "\n\nfunc takePlaces()", []string{"f.go:3: places: say position"}},
		{"a longer word", "f.go", "replace the placeholder", nil},
		{"a phrase in a name", "f.go", "lookAtAll()", []string{"f.go:1: look at all: say enqueue"}},
		{"an allowed phrase", "f.go", "edited in place, inPlace", nil},
		{"an allowed phrase over two lines of a comment", "f.go", "// edited in\n// place", nil},
		{"an allowed phrase in its folder", "pkg/a/f.go", "the wrong place", nil},
		{"an allowed phrase elsewhere", "pkg/ab/f.go", "the wrong place",
			[]string{"pkg/ab/f.go:1: wrong: say invalid", "pkg/ab/f.go:1: place: say position"}},
	} {
		var got []string
		for _, f := range l.find(c.path, []byte(c.text)) {
			got = append(got, f.String())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: found %q, want %q", c.name, got, c.want)
		}
	}
}

func TestMalformedLists(t *testing.T) {
	for _, text := range []string{"place", "place = ", `allow "in place = x`, `"" = x`} {
		if _, err := parse(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

func TestFilesThatAreChecked(t *testing.T) {
	for name, want := range map[string]bool{
		"pkg/a/b.go": true, "docs/a.md": true, "hack/a.sh": true, "artifacts/a.yaml": true,
		"go.sum": false, "pkg/generated/a.go": false, "pkg/a/zz_generated.deepcopy.go": false, "hack/words/main.go": false,
	} {
		if checked(name) != want {
			t.Errorf("%s is checked: %t", name, !want)
		}
	}
}

func TestTheListIsWellFormed(t *testing.T) {
	if _, err := parse(words); err != nil {
		t.Error(err)
	}
}
