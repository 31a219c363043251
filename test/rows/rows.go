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
type row struct{ id, gist string }

// group returns the part of an id that it has in common with its neighbours.
func group(id string) string {
	return strings.TrimRight(strings.SplitN(id, "-", 2)[0], "0123456789")
}

// parseRows reads the list of rows: an id and its gist in each line that is neither empty nor begins with #.
func parseRows(text string) ([]row, error) {
	var rows []row
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		id, gist, _ := strings.Cut(line, " ")
		if slices.ContainsFunc(rows, func(r row) bool { return r.id == id }) {
			return nil, fmt.Errorf("%s is there twice", id)
		}
		rows = append(rows, row{id, strings.TrimSpace(gist)})
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

// documented returns the ids that rows of tables in a document begin with, each with its line, and all words that look like ids and are
// none.
func documented(document string, rows []row) (found map[string]int, unknown []string) {
	found = map[string]int{}
	scanner := bufio.NewScanner(strings.NewReader(document))
	for line := 1; scanner.Scan(); line++ {
		_, wrong := idsIn(scanner.Text(), rows)
		unknown = append(unknown, wrong...)
		if cell, ok := strings.CutPrefix(scanner.Text(), "|"); ok {
			first, _, _ := strings.Cut(cell, "|")
			known, _ := idsIn(first, rows)
			for _, id := range known {
				found[id] = line
			}
		}
	}
	return found, unknown
}

// coverage is where each row is tested and documented.
type coverage struct {
	rows   []row
	tests  map[string][]string
	docs   map[string]int
	wrongs []string
}

// cover finds the rows in the names of tests and in the document of this path and content.
func cover(rows []row, names []testName, path, document string) coverage {
	c := coverage{rows: rows, tests: map[string][]string{}}
	for _, name := range names {
		known, unknown := idsIn(name.text, rows)
		if name.function {
			known, unknown = idsInFunction(name.text, rows), nil
		}
		for _, id := range known {
			c.tests[id] = append(c.tests[id], name.where)
		}
		for _, id := range unknown {
			c.wrongs = append(c.wrongs, fmt.Sprintf("%s: %q names the row %s, which there is not", name.where, name.text, id))
		}
	}
	var unknown []string
	c.docs, unknown = documented(document, rows)
	for _, id := range unknown {
		c.wrongs = append(c.wrongs, fmt.Sprintf("%s names the row %s, which there is not", path, id))
	}
	return c
}

// missing returns the rows that are nowhere.
func (c coverage) missing() []row {
	return slices.DeleteFunc(slices.Clone(c.rows), func(r row) bool { return len(c.tests[r.id]) > 0 || c.docs[r.id] > 0 })
}

// summary has a line for each group: how many rows are tested, and how many only documented.
func (c coverage) summary() string {
	type count struct{ all, tested, documented int }
	counts := map[string]*count{}
	for _, r := range c.rows {
		g := group(r.id)
		if counts[g] == nil {
			counts[g] = &count{}
		}
		counts[g].all++
		switch {
		case len(c.tests[r.id]) > 0:
			counts[g].tested++
		case c.docs[r.id] > 0:
			counts[g].documented++
		}
	}
	var text strings.Builder
	for _, g := range slices.Sorted(maps.Keys(counts)) {
		n := counts[g]
		fmt.Fprintf(&text, "%-20s %3d of %3d tested", g, n.tested, n.all)
		if n.documented > 0 {
			fmt.Fprintf(&text, ", %d documented", n.documented)
		}
		text.WriteString("\n")
	}
	return text.String()
}
