package picture

import (
	"fmt"
	"strings"
)

// places are where Graphviz has put everything, in inches from the lower left corner.
type places struct {
	width, height float64
	boxes         map[string]rectangle
	// routes are the control points of the lines.
	routes map[ends][]spot
}

// ends are a line's parent and child.
type ends struct{ parent, child string }

type spot struct{ x, y float64 }

// rectangle has its spot in its middle.
type rectangle struct {
	spot
	width, height float64
}

// readPlain reads Graphviz' format "plain". Names of namespaces hold no spaces, so what matters of a line can be split at spaces.
func readPlain(text string) (*places, error) {
	p := &places{boxes: map[string]rectangle{}, routes: map[ends][]spot{}}
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
			route := make([]spot, n)
			for i := 0; i < n && err == nil; i++ {
				_, err = fmt.Fscan(reader, &route[i].x, &route[i].y)
			}
			p.routes[ends{bare(parent), bare(child)}] = route
		}
		if err != nil {
			return nil, fmt.Errorf("what Graphviz has written can't be read: %q: %w", line, err)
		}
	}
	return p, nil
}

// bare takes the quotes off a name.
func bare(name string) string { return strings.Trim(name, `"`) }
