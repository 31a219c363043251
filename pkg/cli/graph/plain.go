package graph

import (
	"fmt"
	"strings"
)

// layout holds the positions that Graphviz has computed, in inches from the lower left corner.
type layout struct {
	width, height float64
	boxes         map[string]rectangle
	// routes are the control points of the lines.
	routes map[ends][]point
}

// ends are the parent and the child of a line.
type ends struct{ parent, child string }

type point struct{ x, y float64 }

// rectangle has its point in its middle.
type rectangle struct {
	point
	width, height float64
}

// parsePlain parses Graphviz' format "plain". Names of namespaces contain no spaces, so the fields of a line can be split at spaces.
func parsePlain(text string) (*layout, error) {
	p := &layout{boxes: map[string]rectangle{}, routes: map[ends][]point{}}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		var err error
		switch word, rest, _ := strings.Cut(line, " "); word {
		case "graph":
			var scale float64
			_, err = fmt.Sscan(rest, &scale, &p.width, &p.height)
		case "node":
			var name string
			var r rectangle
			_, err = fmt.Sscan(rest, &name, &r.x, &r.y, &r.width, &r.height)
			p.boxes[bare(name)] = r
		case "edge":
			var parent, child string
			var n int
			reader := strings.NewReader(rest)
			_, err = fmt.Fscan(reader, &parent, &child, &n)
			route := make([]point, n)
			for i := 0; i < n && err == nil; i++ {
				_, err = fmt.Fscan(reader, &route[i].x, &route[i].y)
			}
			p.routes[ends{bare(parent), bare(child)}] = route
		}
		if err != nil {
			return nil, fmt.Errorf("unexpected output of Graphviz: %q: %w", line, err)
		}
	}
	return p, nil
}

// bare removes the quotes around a name.
func bare(name string) string { return strings.Trim(name, `"`) }
