package graph

import (
	"fmt"
	"strings"
)

// mermaid returns the drawing in Mermaid's language, which many Markdown viewers render.
func (d *drawing) mermaid() string {
	var s strings.Builder
	s.WriteString("flowchart TD\n")
	id := map[string]string{}
	for i, b := range d.boxes {
		id[b.name] = fmt.Sprintf("n%d", i)
		text := []string{escapeMermaid(b.name)}
		for _, note := range b.notes {
			text = append(text, escapeMermaid(note))
		}
		class := ""
		switch {
		case b.sub && b.problem:
			class = ":::problemsub"
		case b.problem:
			class = ":::problem"
		case b.sub:
			class = ":::sub"
		}
		fmt.Fprintf(&s, "  n%d(\"%s\")%s\n", i, strings.Join(text, "<br/>"), class)
	}
	for _, n := range d.lines {
		arrow := "---"
		if n.flow {
			arrow = "==>"
		}
		fmt.Fprintf(&s, "  %s %s %s\n", id[n.parent], arrow, id[n.child])
	}
	for _, class := range []struct {
		name string
		box  box
	}{{"sub", box{sub: true}}, {"problem", box{problem: true}}, {"problemsub", box{sub: true, problem: true}}} {
		l, dashes := class.box.style(), ""
		if l.dashed {
			dashes = ",stroke-dasharray:4 3"
		}
		fmt.Fprintf(&s, "  classDef %s fill:%s,stroke:%s%s\n", class.name, l.fill, l.edge, dashes)
	}
	return s.String()
}

// escapeMermaid escapes what ends a label, and what Mermaid renders: its own codes (#quot;), HTML, Markdown and line
// breaks (\n).
func escapeMermaid(s string) string {
	return strings.NewReplacer("#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "&", "#amp;", "`", "#96;", `\`, "#92;").Replace(s)
}
