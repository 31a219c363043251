package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/bench/result"
)

// unmetHeading is the section of performance.md that says of each row that misses its target where the rest goes.
const unmetHeading = "## What is not met"

// tables writes all tables, and says which unmet row the documents say nothing of.
func tables(groups []*group, docs string, progress io.Writer) error {
	var unmet []string
	var rows strings.Builder
	for _, g := range groups {
		table := ratios(g)
		if table == "" {
			continue
		}
		if title := g.title(); title != "" {
			fmt.Fprintf(&rows, "**%s**\n\n", title)
		}
		rows.WriteString(table + "\n")
		for _, r := range g.rows() {
			if r.Unmet() {
				unmet = append(unmet, r.Name)
			}
		}
	}
	if rows.Len() > 0 {
		fmt.Fprintf(&rows, "Measured on %s.\n", machines(groups))
	}
	performance, err := replace(filepath.Join(docs, "performance.md"), map[string]string{"results": rows.String()})
	if err != nil {
		return err
	}
	_, explained, _ := strings.Cut(performance, unmetHeading)
	explained, _, _ = strings.Cut(explained, "\n## ")
	for _, name := range unmet {
		if !strings.Contains(explained, "`"+name+"`") {
			_, _ = fmt.Fprintf(progress, "performance.md says nothing of `%s` in %q\n", name, unmetHeading)
		}
	}
	_, err = replace(filepath.Join(docs, "scale.md"), map[string]string{"decide": decisions(groups), "size": sizes(groups)})
	return err
}

// ratios returns the table of what is compared with targets, "" if there is nothing.
func ratios(g *group) string {
	var b strings.Builder
	for _, r := range g.rows() {
		if b.Len() == 0 {
			b.WriteString("| Row | HNS | Compared with | Ratio | Target | |\n| --- | --- | --- | --- | --- | --- |\n")
		}
		if r.Skipped {
			fmt.Fprintf(&b, "| `%s` | not measured: %s | | | | |\n", r.Name, r.Note)
			continue
		}
		raw, ratio, verdict := "", "", ""
		if r.Raw != nil {
			raw = quantity(*r.Raw, r.Unit)
		}
		if r.Ratio != nil {
			ratio = number(*r.Ratio)
			if r.Low != nil && r.High != nil {
				ratio += fmt.Sprintf(" (%s–%s)", number(*r.Low), number(*r.High))
			}
		}
		switch {
		case r.Unmet():
			verdict = "**not met**"
		case r.Met != nil:
			verdict = "met"
		}
		if r.Undecided() {
			verdict += ", interval crosses"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", r.Name, quantity(r.Value, r.Unit), raw, ratio, targetText(r), verdict)
	}
	return b.String()
}

func quantity(value float64, unit string) string { return number(value) + " " + unit }

// targetText returns "≤ 1.5" or, of a target for the value itself, "≤ 250 MB".
func targetText(r result.Result) string {
	limit, atLeast, ok := r.Limit()
	if !ok {
		return ""
	}
	text := "≤ "
	if atLeast {
		text = "≥ "
	}
	if strings.HasPrefix(r.Target, "value") {
		return text + quantity(limit, r.Unit)
	}
	return text + number(limit)
}

// replace puts tables between the marker comments of a document that bear their names, and returns the whole. An empty
// table leaves what is there.
func replace(file string, tables map[string]string) (string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	text := string(content)
	for name, table := range tables {
		begin, end := fmt.Sprintf("<!-- begin %s -->\n", name), fmt.Sprintf("<!-- end %s -->", name)
		head, rest, found := strings.Cut(text, begin)
		_, tail, closed := strings.Cut(rest, end)
		switch {
		case !found || !closed:
			return "", fmt.Errorf("%s: there has to be a line %q, and after it %q", file, strings.TrimSpace(begin), end)
		case table != "":
			text = head + begin + table + end + tail
		}
	}
	if text == string(content) {
		return text, nil
	}
	return text, os.WriteFile(file, []byte(text), 0o644) //nolint:gosec // documents are for everybody
}
