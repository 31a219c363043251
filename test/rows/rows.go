package main

import (
	"bufio"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// row is a rule that has to be tested or documented.
type row struct{ id, summary string }

// group returns the part of an id that it has in common with its neighbours.
func group(id string) string {
	return strings.TrimRight(strings.SplitN(id, "-", 2)[0], "0123456789")
}

// parseRows reads the list of rows: an id and its summary in each line that is neither empty nor begins with #.
func parseRows(text string) ([]row, error) {
	var rows []row
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		id, summary, _ := strings.Cut(line, " ")
		if slices.ContainsFunc(rows, func(r row) bool { return r.id == id }) {
			return nil, fmt.Errorf("%s is there twice", id)
		}
		rows = append(rows, row{id, strings.TrimSpace(summary)})
	}
	return rows, nil
}

// word is what an id can be written in: COND-InCycle's neighbours are blanks, commas and the like.
var word = regexp.MustCompile(`[A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9]+)*`)

// idsIn returns the known ids in a text, and the words that look like an id of a known group and are none.
func idsIn(text string, rows []row) (known, unknown []string) {
	ids, groups := map[string]bool{}, map[string]bool{}
	for _, r := range rows {
		ids[r.id] = true
		groups[group(r.id)] = true
	}
	for _, w := range word.FindAllString(text, -1) {
		g, numbered := group(w), regexp.MustCompile(`^[A-Z]+-?[0-9]+$`).MatchString(w)
		switch {
		case ids[w]:
			known = append(known, w)
		case groups[g] && (numbered || strings.HasPrefix(w, g+"-") && strings.ToUpper(g) == g):
			unknown = append(unknown, w)
		}
	}
	return known, unknown
}

// idsInFunction returns the ids that the name of a function holds: O5 as itself, COND-InCycle as CondInCycle.
func idsInFunction(name string, rows []row) []string {
	var ids []string
	for _, r := range rows {
		camel := r.id
		if prefix, rest, ok := strings.Cut(r.id, "-"); ok {
			camel = prefix[:1] + strings.ToLower(prefix[1:]) + strings.ToUpper(rest[:1]) + rest[1:]
		}
		if regexp.MustCompile(regexp.QuoteMeta(camel) + `($|[A-Z])`).MatchString(name) {
			ids = append(ids, r.id)
		}
	}
	return ids
}

// difference is where a document says how a row differs, or that it is not served at all.
type difference struct {
	line     int
	unserved bool
}

// unserved is the heading of the rows that are not served.
const unserved = "## Not served yet"

// documented returns the ids that rows of tables in a document begin with, and all words that look like ids and are
// none.
func documented(document string, rows []row) (found map[string]difference, unknown []string) {
	found = map[string]difference{}
	heading := ""
	scanner := bufio.NewScanner(strings.NewReader(document))
	for line := 1; scanner.Scan(); line++ {
		_, invalid := idsIn(scanner.Text(), rows)
		unknown = append(unknown, invalid...)
		if strings.HasPrefix(scanner.Text(), "#") {
			heading = scanner.Text()
		}
		if cell, ok := strings.CutPrefix(scanner.Text(), "|"); ok {
			first, _, _ := strings.Cut(cell, "|")
			known, _ := idsIn(first, rows)
			for _, id := range known {
				found[id] = difference{line, heading == unserved}
			}
		}
	}
	return found, unknown
}

// coverage is where each row is named by a test and documented, and which of them a test bears that passed.
type coverage struct {
	rows   []row
	tests  map[string][]string
	passed map[string]bool
	docs   map[string]difference
	errors []string
}

// cover finds the rows in the names of tests, in those of the tests that passed, and in the document of this path and
// content.
func cover(rows []row, names []testName, passed []string, path, document string) coverage {
	c := coverage{rows: rows, tests: map[string][]string{}, passed: map[string]bool{}}
	for _, name := range names {
		known, unknown := idsIn(name.text, rows)
		if name.function {
			known, unknown = idsInFunction(name.text, rows), nil
		}
		for _, id := range known {
			c.tests[id] = append(c.tests[id], name.where)
		}
		for _, id := range unknown {
			c.errors = append(c.errors, fmt.Sprintf("%s: %q names the row %s, which there is not", name.where, name.text, id))
		}
	}
	for _, test := range passed {
		for _, id := range idsOf(test, rows) {
			c.passed[id] = true
		}
	}
	var unknown []string
	c.docs, unknown = documented(document, rows)
	for _, id := range unknown {
		c.errors = append(c.errors, fmt.Sprintf("%s names the row %s, which there is not", path, id))
	}
	return c
}

// What becomes of a row.
const (
	asHNC     = "as HNC"
	differs   = "differs"
	notServed = "not served"
	untested  = "untested"
)

// category returns what becomes of a row. One that is documented as different is never counted as HNC's, whatever is
// tested of it.
func (c coverage) category(r row) string {
	d, ok := c.docs[r.id]
	switch {
	case ok && d.unserved:
		return notServed
	case ok:
		return differs
	case c.passed[r.id]:
		return asHNC
	}
	return untested
}

// missing returns the rows that are nowhere.
func (c coverage) missing() []row {
	return slices.DeleteFunc(slices.Clone(c.rows), func(r row) bool { return c.category(r) != untested })
}

// summary has a line for each group, and one for all: how many rows are in each category, and of those that differ, how
// many a test bears that passed.
func (c coverage) summary() string {
	const all = "all"
	counts := map[string]map[string]int{}
	for _, r := range c.rows {
		for _, g := range []string{group(r.id), all} {
			if counts[g] == nil {
				counts[g] = map[string]int{}
			}
			counts[g][c.category(r)]++
			if c.category(r) == differs && c.passed[r.id] {
				counts[g][differs+" and tested"]++
			}
		}
	}
	var text strings.Builder
	groups := slices.DeleteFunc(slices.Sorted(maps.Keys(counts)), func(g string) bool { return g == all })
	for _, g := range append(groups, all) {
		n := counts[g]
		fmt.Fprintf(&text, "%-20s %3d tested as HNC", g, n[asHNC])
		if n[differs] > 0 {
			fmt.Fprintf(&text, ", %d differ (%d of them tested)", n[differs], n[differs+" and tested"])
		}
		for _, category := range []string{notServed, untested} {
			if n[category] > 0 {
				fmt.Fprintf(&text, ", %d %s", n[category], category)
			}
		}
		text.WriteString("\n")
	}
	return text.String()
}
