// Package graph prints trees of namespaces in the languages of programs that draw graphs.
package graph

import (
	"fmt"
	"io"
	"strings"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// Formats lists the supported formats.
var Formats = []string{"dot", "mermaid"}

// maxObjects limits the objects that are named in a namespace.
const maxObjects = 8

// Write prints the trees below the roots in one of Formats.
func Write(w io.Writer, t *tree.Tree, roots []string, format string) error {
	d := newDrawing(t, roots)
	switch format {
	case "dot":
		_, err := io.WriteString(w, d.dot())
		return err
	case "mermaid":
		_, err := io.WriteString(w, d.mermaid())
		return err
	}
	return fmt.Errorf("unknown format %q; use one of %s", format, strings.Join(Formats, ", "))
}

// drawing is the content of a graph, independent of its format.
type drawing struct {
	boxes []box
	lines []line
	// subs, problems and flow say which marks the legend has to explain.
	subs, problems, flow bool
}

// box is a namespace.
type box struct {
	name string
	// sub says that it is a sub-namespace, problem that it has conditions that report a problem.
	sub, problem bool
	// notes are the lines below the name.
	notes []string
	// conditions is the full text of the conditions.
	conditions []string
}

// line leads from a parent to a child.
type line struct {
	parent, child string
	// flow says that the child has copies, which were propagated along the line.
	flow bool
}

func newDrawing(t *tree.Tree, roots []string) *drawing {
	d := &drawing{}
	drawn := map[string]bool{}
	for _, root := range roots {
		t.Walk(root, func(v tree.Visit) bool {
			if v.Depth > 0 {
				d.connect(v)
			}
			if !drawn[v.Name] {
				drawn[v.Name] = true
				d.add(v)
			}
			return true
		})
	}
	return d
}

func (d *drawing) add(v tree.Visit) {
	b := box{name: names.Printable(v.Name), sub: v.Subnamespace, problem: len(v.Conditions) > 0}
	if len(v.AbstractAncestors) > 0 {
		b.notes = append(b.notes, "below abstract "+strings.Join(v.AbstractAncestors, ", "))
	}
	if v.Deleting {
		b.notes = append(b.notes, "deleting")
	}
	for _, c := range v.Conditions {
		b.notes = append(b.notes, "▲ "+c.Reason)
		b.conditions = append(b.conditions, names.Printable(tree.FormatCondition(c)))
	}
	for i, o := range v.Objects {
		if i == maxObjects {
			b.notes = append(b.notes, fmt.Sprintf("and %d more", len(v.Objects)-i))
			break
		}
		b.notes = append(b.notes, formatObject(o))
	}
	for i := range b.notes {
		b.notes[i] = names.Printable(b.notes[i])
	}
	d.boxes = append(d.boxes, b)
	d.subs, d.problems = d.subs || b.sub, d.problems || b.problem
}

func formatObject(o tree.Object) string {
	name := names.Shorten(o.Name)
	if o.InheritedFrom == "" {
		return "● " + name
	}
	return "↓ " + name + " (" + o.InheritedFrom + ")"
}

func (d *drawing) connect(v tree.Visit) {
	l := line{parent: names.Printable(v.Parent), child: names.Printable(v.Name)}
	for _, o := range v.Objects {
		l.flow = l.flow || o.InheritedFrom != ""
	}
	for _, other := range d.lines[max(0, len(d.lines)-1):] {
		if other == l {
			return
		}
	}
	d.lines = append(d.lines, l)
	d.flow = d.flow || l.flow
}

// legend explains the marks in use.
func (d *drawing) legend() string {
	var parts []string
	if d.subs {
		parts = append(parts, "dashed: sub-namespace")
	}
	if d.problems {
		parts = append(parts, "red: condition")
	}
	if d.flow {
		parts = append(parts, "green: copies flow")
	}
	return strings.Join(parts, "   ")
}

// style is how a box or a line is drawn. Colors are #rrggbb.
type style struct {
	fill, edge string
	width      float64
	dashed     bool
}

func (b box) style() style {
	l := style{fill: "#eaf1fb", edge: "#3b6ea8", width: 1.3, dashed: b.sub}
	if b.sub {
		l.fill = "#f7fafe"
	}
	if b.problem {
		l.fill, l.edge = "#fdecea", "#c0392b"
	}
	return l
}

func (l line) style() style {
	if l.flow {
		return style{edge: "#2e8b57", width: 2.2}
	}
	return style{edge: "#8a94a3", width: 1.3}
}
