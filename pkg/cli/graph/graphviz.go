package graph

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/goccy/go-graphviz"
)

// render lays out the drawing with Graphviz and writes it in one of its formats.
func (d *drawing) render(ctx context.Context, format graphviz.Format, w io.Writer) error {
	g, err := graphviz.New(ctx)
	if err != nil {
		return fmt.Errorf("initializing Graphviz: %w", err)
	}
	parsed, err := graphviz.ParseBytes([]byte(d.dot()))
	if err != nil {
		return fmt.Errorf("parsing the graph: %w", err)
	}
	if err := g.Render(ctx, parsed, format, w); err != nil {
		return fmt.Errorf("rendering the graph: %w", err)
	}
	if err := parsed.Close(); err != nil {
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
