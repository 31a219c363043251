package graph

import (
	"fmt"
	"strings"
)

// Font sizes, in points.
const (
	nameSize   = 13.0
	noteSize   = 10.0
	legendSize = 10.0
)

// dot returns the drawing in Graphviz' language.
func (d *drawing) dot() string {
	var s strings.Builder
	s.WriteString("digraph namespaces {\n")
	fmt.Fprintf(&s, "  graph [bgcolor=white nodesep=0.3 ranksep=0.5 pad=0.2 fontname=Helvetica fontsize=%g fontcolor=\"#5b6470\" labelloc=b label=%s]\n",
		legendSize, quote(d.legend()))
	fmt.Fprintf(&s, "  node [shape=box fontname=Helvetica fontsize=%g margin=\"0.16,0.09\"]\n", nameSize)
	s.WriteString("  edge [arrowhead=none]\n")
	for _, b := range d.boxes {
		l := b.style()
		shape := "rounded,filled"
		if l.dashed {
			shape += ",dashed"
		}
		fmt.Fprintf(&s, "  %s [label=%s style=%q fillcolor=%q color=%q penwidth=%g", quote(b.name), b.label(), shape, l.fill, l.edge, l.width)
		if len(b.conditions) > 0 {
			fmt.Fprintf(&s, " tooltip=%s", quote(strings.Join(b.conditions, "\n")))
		}
		s.WriteString("]\n")
	}
	for _, n := range d.lines {
		l := n.style()
		fmt.Fprintf(&s, "  %s -> %s [color=%q penwidth=%g]\n", quote(n.parent), quote(n.child), l.edge, l.width)
	}
	s.WriteString("}\n")
	return s.String()
}

// label returns the name, and below it the notes in a smaller font.
func (b box) label() string {
	if len(b.notes) == 0 {
		return "<<B>" + escape(b.name) + "</B>>"
	}
	var s strings.Builder
	fmt.Fprintf(&s, `<<TABLE BORDER="0" CELLSPACING="0" CELLPADDING="1"><TR><TD><B>%s</B></TD></TR>`, escape(b.name))
	for _, note := range b.notes {
		fmt.Fprintf(&s, `<TR><TD ALIGN="LEFT"><FONT POINT-SIZE="%g">%s</FONT></TD></TR>`, noteSize, escape(note))
	}
	s.WriteString("</TABLE>>")
	return s.String()
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
}
