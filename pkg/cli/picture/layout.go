package picture

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/goccy/go-graphviz"
)

// render has Graphviz lay out the drawing and write it in a format of its own.
func (d *drawing) render(ctx context.Context, format graphviz.Format, w io.Writer) error {
	g, err := graphviz.New(ctx)
	if err != nil {
		return fmt.Errorf("starting Graphviz: %w", err)
	}
	graph, err := graphviz.ParseBytes([]byte(d.dot()))
	if err != nil {
		return fmt.Errorf("reading the graph: %w", err)
	}
	if err := g.Render(ctx, graph, format, w); err != nil {
		return fmt.Errorf("drawing: %w", err)
	}
	if err := graph.Close(); err != nil {
		return err
	}
	return g.Close()
}

func (d *drawing) svg(ctx context.Context, w io.Writer) error { return d.render(ctx, graphviz.SVG, w) }

func (d *drawing) plain(ctx context.Context) (string, error) {
	var b bytes.Buffer
	err := d.render(ctx, "plain", &b)
	return b.String(), err
}
