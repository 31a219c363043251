package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const sample = `package sample

// A1 is not tested by a comment.
func TestA2AndCondInCycle(t *testing.T) {
	for name := range map[string]int{"A3 a row of a table": 1, "A4 " + name: 2} {
	}
	for _, test := range []struct{ name string }{{name: "A5 by its field"}} {
	}
	for _, test := range []struct {
		name string
		n    int
	}{{"A6 by its place", 1}} {
	}
	t.Run(fmt.Sprintf("A7 %d", 1), nil)
	fmt.Println("A8 is printed")
	_ = []string{"A9 is said"}
}

var _ = ginkgo.It("is a spec (A10)", nil)

func TestA11b(t *testing.T) {}
`

const listed = `
# A group.
A1  first
A2
A3
A4
A5
A6
A7
A8
A9
A10
A11
COND-InCycle  a cycle
`

func covered(t *testing.T, text, document string) coverage {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "sample_test.go"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	rows, err := parseRows(listed)
	if err != nil {
		t.Fatal(err)
	}
	names, err := testNames(dir)
	if err != nil {
		t.Fatal(err)
	}
	return cover(rows, names, "doc.md", document)
}

func TestNamesOfTestsCoverRows(t *testing.T) {
	c := covered(t, sample, "")
	var missing []string
	for _, r := range c.missing() {
		missing = append(missing, r.id)
	}
	if got := strings.Join(missing, " "); got != "A1 A8 A9 A11" {
		t.Errorf("missing: %s", got)
	}
	if len(c.wrongs) > 0 {
		t.Errorf("wrong: %v", c.wrongs)
	}
}

func TestTheFirstCellOfATableDocumentsRows(t *testing.T) {
	c := covered(t, sample, "A8 is mentioned\n| A1, A9 | A11 is not in the first cell |\n| --- | --- |\n")
	if len(c.missing()) != 2 || c.docs["A1"] != 2 || c.docs["A9"] != 2 {
		t.Errorf("missing %v, documented %v", c.missing(), c.docs)
	}
}

func TestUnknownRowsAreFound(t *testing.T) {
	for _, test := range []struct{ text, where string }{
		{`package sample; func f() { t.Run("A12 none", nil) }`, "sample_test.go:1"},
		{`package sample; func f() { t.Run("COND-Cycle", nil) }`, "sample_test.go:1"},
		{`package sample; func f() { t.Run("a COND, or B1, or A", nil) }`, ""},
	} {
		c := covered(t, test.text, "")
		if found := len(c.wrongs) == 1; found != (test.where != "") || found && !strings.HasPrefix(c.wrongs[0], test.where) {
			t.Errorf("%s: %v", test.text, c.wrongs)
		}
	}
	if c := covered(t, sample, "See A99.\n"); len(c.wrongs) != 1 || !strings.Contains(c.wrongs[0], "doc.md names the row A99") {
		t.Errorf("%v", c.wrongs)
	}
}

func TestARowIsListedOnce(t *testing.T) {
	if _, err := parseRows("A1\nA1 again\n"); err == nil {
		t.Error("A1 is there twice")
	}
	if _, err := parseRows(list); err != nil {
		t.Error(err)
	}
}
