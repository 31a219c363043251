package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/bench/result"
)

// What the simulation of the propagator's decisions prints: decide-SHAPE-STEP-SIZE.
var (
	shapes = []struct{ name, about string }{
		{"trees", "trees of 100"},
		{"onetree", "one tree"},
		{"shard", "trees of 100, one shard of 4"},
	}
	steps = []struct{ name, about string }{
		{"read", "read"}, {"enter", "enter"}, {"all", "decide all"}, {"change", "one change"}, {"leaf", "one leaf"}, {"move", "move"},
		{"takeover", "take over"}, {"memory", "heap"},
	}
	sizesSimulated = []int{1000, 10_000, 100_000}
)

func decideName(shape, step string, size int) string {
	return fmt.Sprintf("decide-%s-%s-%d", shape, step, size)
}

// decisions returns the table of the simulation, "" if there is nothing.
func decisions(groups []*group) string {
	var b strings.Builder
	for _, shape := range shapes {
		for _, size := range sizesSimulated {
			var cells []string
			found := false
			for _, step := range steps {
				cell := ""
				if r, ok := anywhere(groups, decideName(shape.name, step.name, size)); ok {
					cell, found = quantity(r.Value, r.Unit), true
				}
				cells = append(cells, cell)
			}
			if !found {
				continue
			}
			if b.Len() == 0 {
				b.WriteString("| Namespaces | |")
				for _, step := range steps {
					b.WriteString(" " + step.about + " |")
				}
				b.WriteString("\n|" + strings.Repeat(" --- |", len(steps)+2) + "\n")
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", thousands(size), shape.about, strings.Join(cells, " | "))
		}
	}
	return b.String()
}

// sizes returns the table of how many bytes things have, "" if there is nothing.
func sizes(groups []*group) string {
	var b strings.Builder
	measured := func(g *group) []result.Result {
		return slices.DeleteFunc(slices.Clone(g.results), func(r result.Result) bool { return !strings.HasPrefix(r.Name, "size-") || r.Skipped })
	}
	for _, r := range measured(largest(groups, func(g *group) int { return len(measured(g)) })) {
		if b.Len() == 0 {
			b.WriteString("| Row | Bytes | Without HNS | What |\n| --- | --- | --- | --- |\n")
		}
		raw := ""
		if r.Raw != nil {
			raw = number(*r.Raw)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.Name, number(r.Value), raw, r.Note)
	}
	return b.String()
}
