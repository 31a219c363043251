package main

import (
	"image/color"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// line is one thing at several sizes.
type line struct {
	name   string
	color  color.Color
	dashed bool
	shape  draw.GlyphDrawer
	points plotter.XYs
	// labels are written above the points, unless there are none.
	labels []string
}

// addLines adds lines to a plot and its legend, and returns the sizes that there are.
func addLines(p *plot.Plot, lines []line) (sizes []float64, err error) {
	for _, l := range lines {
		if len(l.points) == 0 {
			continue
		}
		drawn, points, err := plotter.NewLinePoints(l.points)
		if err != nil {
			return nil, err
		}
		drawn.Color, drawn.Width = l.color, 1.8
		if l.dashed {
			drawn.Dashes = []vg.Length{5, 3}
		}
		points.Color, points.Radius, points.Shape = l.color, 3.5, l.shape
		p.Add(drawn, points)
		if l.name != "" {
			p.Legend.Add(l.name, drawn, points)
		}
		p.Add(l.notes()...)
		for _, xy := range l.points {
			sizes = append(sizes, xy.X)
		}
	}
	return sizes, nil
}

// note is a text beside a point. Who draws it leaves room for it.
type note struct {
	at     plotter.XY
	text   string
	style  text.Style
	offset vg.Point
}

// Plot draws it.
func (n note) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	c.FillText(n.style, vg.Point{X: x(n.at.X), Y: y(n.at.Y)}.Add(n.offset), n.text)
}

// notes returns the labels where the line is not: before its first point, after its last one, and above or below the
// others.
func (l line) notes() (notes []plot.Plotter) {
	last := len(l.points) - 1
	for i, label := range l.labels {
		n := note{at: l.points[i], text: label, style: letters(small, l.color)}
		switch {
		case i == last:
			n.offset = vg.Point{X: 8, Y: 2}
		case i == 0:
			n.style.XAlign, n.offset = text.XRight, vg.Point{X: -8, Y: 2}
		case n.at.Y >= (l.points[i-1].Y+l.points[i+1].Y)/2:
			n.style.XAlign, n.offset = text.XCenter, vg.Point{Y: 13}
		default:
			n.style.XAlign, n.offset = text.XCenter, vg.Point{Y: -12}
		}
		notes = append(notes, n)
	}
	return notes
}

// growthPlot shows what one leaf and one object cost by the size of the forest.
func growthPlot(g *group) (drawing, bool) {
	leaf := line{name: "one leaf gets a parent", color: blue, shape: draw.CircleGlyph{}}
	object := line{name: "one object is copied to one namespace", color: orange, shape: draw.BoxGlyph{}}
	high := 0.0
	for _, r := range g.rows() {
		for prefix, l := range map[string]*line{"growth-leaf-": &leaf, "growth-object-": &object} {
			size, err := strconv.ParseFloat(strings.TrimPrefix(r.Name, prefix), 64)
			if !strings.HasPrefix(r.Name, prefix) || err != nil || r.Skipped {
				continue
			}
			l.points = append(l.points, plotter.XY{X: size, Y: r.Value})
			l.labels = append(l.labels, number(r.Value)+" "+r.Unit)
			high = max(high, r.Value)
		}
	}
	if len(leaf.points)+len(object.points) == 0 {
		return drawing{}, false
	}
	p := newPlot("namespaces in the forest, logarithmic", "milliseconds until it has arrived")
	sizes, err := addLines(p, []line{leaf, object})
	if err != nil {
		return drawing{}, false
	}
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, sizeTicks(sizes)
	p.X.Min, p.X.Max = p.X.Min/2, p.X.Max*2
	p.Y.Min, p.Y.Max, p.Y.Tick.Marker = 0, high*1.45, evenTicks{}
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.XOffs, p.Legend.YOffs = 8, -4
	return drawing{
		title: "What one leaf and one object cost, by the size of the forest", width: 760, height: 340,
		draw: func(c draw.Canvas) { p.Draw(c) },
	}, true
}
