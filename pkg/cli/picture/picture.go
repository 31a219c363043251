// Package picture draws trees of namespaces. Graphviz, which runs inside this process, decides where everything is.
package picture

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/tree"
)

// Formats are what can be drawn. The first two are texts for other programs.
var Formats = []string{"dot", "mermaid", "svg", "png"}

// MaxDrawn is how many namespaces are drawn at most: nobody could read more, and Graphviz would take minutes for it.
const MaxDrawn = 1000

// maxObjects is how many objects are named in a namespace.
const maxObjects = 8

// Write draws the trees below the roots, in one of Formats. It fails if there is too much to draw.
func Write(ctx context.Context, w io.Writer, t *tree.Tree, roots []string, format string) error {
	d := newDrawing(t, roots)
	if (format == "svg" || format == "png") && len(d.boxes) > MaxDrawn {
		return fmt.Errorf("%d namespaces are too many for a picture, which can show %d; name a namespace further down, or take -o dot", len(d.boxes), MaxDrawn)
	}
	switch format {
	case "dot":
		_, err := io.WriteString(w, d.dot())
		return err
	case "mermaid":
		_, err := io.WriteString(w, d.mermaid())
		return err
	case "svg":
		return d.svg(ctx, w)
	case "png":
		return d.png(ctx, w)
	}
	return fmt.Errorf("%q is none of %s", format, strings.Join(Formats, ", "))
}

// drawing is what is drawn, in whatever format.
type drawing struct {
	boxes []box
	lines []line
	// subs, wrong, and flow say what has to be explained.
	subs, wrong, flow bool
}

// box is a namespace.
type box struct {
	name string
	// mark says that it is a sub-namespace, and what is wrong with it.
	sub, wrong bool
	// notes are the lines below the name.
	notes []string
	// says is the full text of the conditions.
	says []string
}

// line leads from a parent to a child.
type line struct {
	parent, child string
	// flow says that the child has copies, which came along the line.
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
	b := box{name: v.Name, sub: v.Subnamespace, wrong: len(v.Conditions) > 0}
	for _, c := range v.Conditions {
		b.notes = append(b.notes, "▲ "+c.Reason)
		b.says = append(b.says, tree.Say(c))
	}
	for i, o := range v.Objects {
		if i == maxObjects {
			b.notes = append(b.notes, fmt.Sprintf("and %d more", len(v.Objects)-i))
			break
		}
		b.notes = append(b.notes, sayObject(o))
	}
	d.boxes = append(d.boxes, b)
	d.subs, d.wrong = d.subs || b.sub, d.wrong || b.wrong
}

func sayObject(o tree.Object) string {
	if o.InheritedFrom == "" {
		return "● " + o.Name
	}
	return "↓ " + o.Name + " (" + o.InheritedFrom + ")"
}

func (d *drawing) connect(v tree.Visit) {
	l := line{parent: v.Parent, child: v.Name}
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

// legend explains the marks that are used.
func (d *drawing) legend() string {
	var parts []string
	if d.subs {
		parts = append(parts, "dashed: sub-namespace")
	}
	if d.wrong {
		parts = append(parts, "red: condition")
	}
	if d.flow {
		parts = append(parts, "green: copies flow")
	}
	return strings.Join(parts, "   ")
}

// look is how a box or a line is drawn. Colours are #rrggbb.
type look struct {
	fill, edge string
	width      float64
	dashed     bool
}

func (b box) look() look {
	l := look{fill: "#eaf1fb", edge: "#3b6ea8", width: 1.3, dashed: b.sub}
	if b.sub {
		l.fill = "#f7fafe"
	}
	if b.wrong {
		l.fill, l.edge = "#fdecea", "#c0392b"
	}
	return l
}

func (l line) look() look {
	if l.flow {
		return look{edge: "#2e8b57", width: 2.2}
	}
	return look{edge: "#8a94a3", width: 1.3}
}
