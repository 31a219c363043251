package main

import (
	"os"
	"path/filepath"
	"slices"
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
	}{{"A6 by its position", 1}} {
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

func covered(t *testing.T, text, document string, passed ...string) coverage {
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
	return cover(rows, names, passed, "doc.md", document)
}

func ids(rows []row) string {
	var ids []string
	for _, r := range rows {
		ids = append(ids, r.id)
	}
	return strings.Join(ids, " ")
}

func TestOnlyTestsThatRanCoverRows(t *testing.T) {
	if got := ids(covered(t, sample, "").missing()); got != "A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11 COND-InCycle" {
		t.Errorf("nothing ran: missing %s", got)
	}
	c := covered(t, sample, "", "TestA2AndCondInCycle", "TestA2AndCondInCycle/A3_a_row_of_a_table", "TestA2AndCondInCycle/group/A4_more#01", "/is a spec (A10)")
	if got := ids(c.missing()); got != "A1 A5 A6 A7 A8 A9 A11" {
		t.Errorf("missing: %s", got)
	}
	if len(c.errors) > 0 {
		t.Errorf("invalid: %v", c.errors)
	}
}

func TestNamesOfTestsAreFound(t *testing.T) {
	c := covered(t, sample, "")
	named := slices.DeleteFunc(c.rows, func(r row) bool { return len(c.tests[r.id]) == 0 })
	if got := ids(named); got != "A2 A3 A4 A5 A6 A7 A10 COND-InCycle" {
		t.Errorf("named: %s", got)
	}
}

func TestTheFirstCellOfATableDocumentsRows(t *testing.T) {
	c := covered(t, sample, "A8 is mentioned\n| A1, A9 | A11 is not in the first cell |\n| --- | --- |\n## Not served yet\n| A2 |\n", "/A1", "/A3", "/A2")
	if c.docs["A1"].line != 2 || c.docs["A9"].line != 2 {
		t.Errorf("documented %v", c.docs)
	}
	for _, want := range []string{"A1 " + differs, "A2 " + notServed, "A3 " + asHNC, "A8 " + untested, "A9 " + differs, "A11 " + untested} {
		id, category, _ := strings.Cut(want, " ")
		if got := c.category(row{id: id}); got != category {
			t.Errorf("%s, not %s", want, got)
		}
	}
	if want := "all                    1 tested as HNC, 2 differ (1 of them tested), 1 not served, 8 untested\n"; !strings.HasSuffix(c.summary(), want) {
		t.Errorf("summary\n%s", c.summary())
	}
}

func TestUnknownRowsAreFound(t *testing.T) {
	for _, test := range []struct{ text, where string }{
		{`package sample; func f() { t.Run("A12 none", nil) }`, "sample_test.go:1"},
		{`package sample; func f() { t.Run("COND-Cycle", nil) }`, "sample_test.go:1"},
		{`package sample; func f() { t.Run("a COND, or B1, or A", nil) }`, ""},
	} {
		c := covered(t, test.text, "")
		if found := len(c.errors) == 1; found != (test.where != "") || found && !strings.HasPrefix(c.errors[0], test.where) {
			t.Errorf("%s: %v", test.text, c.errors)
		}
	}
	if c := covered(t, sample, "See A99.\n"); len(c.errors) != 1 || !strings.Contains(c.errors[0], "doc.md names the row A99") {
		t.Errorf("%v", c.errors)
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

func TestResultsAreShownAsGoTestDoes(t *testing.T) {
	stream := `{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"noise\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"spec passed: one (A1)\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB/A2_x","Output":"    --- FAIL: TestB/A2_x\n"}
{"Action":"fail","Package":"p","Test":"TestB/A2_x"}
{"Action":"output","Package":"p","Test":"TestC","Output":"--- SKIP: TestC\n"}
{"Action":"skip","Package":"p","Test":"TestC"}
{"Action":"output","Package":"p","Test":"TestD","Output":"panic: oh\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p"}
{"Action":"build-output","ImportPath":"q","Output":"q.go:1: oh\n"}
not JSON
{"Action":"output","Package":"r","Output":"PASS\n"}
{"Action":"output","Package":"r","Output":"ok  \tr\t0.1s\n"}
{"Action":"pass","Package":"r"}
`
	var shown strings.Builder
	passed, err := follow(strings.NewReader(stream), &shown)
	if err != nil || strings.Join(passed, ",") != "/one (A1),TestA" {
		t.Errorf("passed %q, %v", passed, err)
	}
	want := "    --- FAIL: TestB/A2_x\nFAIL\tp\t0.1s\npanic: oh\nq.go:1: oh\nnot JSON\nok  \tr\t0.1s\n"
	if shown.String() != want {
		t.Errorf("shown\n%s\nwant\n%s", shown.String(), want)
	}
}
