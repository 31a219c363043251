package main

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// plotted is a step of the simulation that a plot shows.
type plotted struct {
	step, name string
	color      color.Color
}

// decidePlot shows the time and the memory of the propagator's decisions by the size of the cluster.
func decidePlot(groups []*group) (drawing, bool) {
	left, ok := logarithmic(groups, "seconds", map[string]float64{"s": 1, "ms": 1e-3, "µs": 1e-6}, []plotted{
		{"read", "read the list", grey}, {"all", "decide about all", blue}, {"change", "one changed source", orange},
	})
	right, also := logarithmic(groups, "megabytes", map[string]float64{"MB": 1}, []plotted{{"memory", "heap", green}})
	// The names of the lines stand to the right of them.
	const width, names = vg.Length(900), vg.Length(110)
	return drawing{
		title: "The propagator's decisions alone, ten copies in each namespace", width: width, height: 360,
		draw: func(c draw.Canvas) {
			left.Draw(draw.Crop(c, 0, -width/2-names, 0, 0))
			right.Draw(draw.Crop(c, width/2+20, -names+30, 0, 0))
		},
		caption: "Solid: trees of 100 namespaces; dashed: one tree. Processor time, simulated without any server. ",
	}, ok && also
}

// logarithmic returns a plot whose axes are logarithmic, with a line for each step and shape, and the names of the
// steps at their right ends.
func logarithmic(groups []*group, y string, scale map[string]float64, steps []plotted) (*plot.Plot, bool) {
	p := newPlot("namespaces", y)
	var lines []line
	for _, t := range steps {
		var ends []float64
		for j, shape := range shapes[:2] {
			l := line{color: t.color, shape: draw.CircleGlyph{}, dashed: j == 1}
			for _, size := range sizesSimulated {
				if r, ok := anywhere(groups, decideName(shape.name, t.step, size)); ok && r.Value > 0 {
					l.points = append(l.points, plotter.XY{X: float64(size), Y: r.Value * scale[r.Unit]})
				}
			}
			if n := len(l.points); n > 0 {
				ends = append(ends, l.points[n-1].Y)
				lines = append(lines, l)
			}
		}
		if len(ends) > 0 {
			end := lines[len(lines)-1].points
			// Between the ends of the lines, on this scale.
			at := plotter.XY{X: end[len(end)-1].X, Y: math.Sqrt(ends[0] * ends[len(ends)-1])}
			p.Add(note{at: at, text: t.name, style: letters(small, t.color), offset: vg.Point{X: 10, Y: 2}})
		}
	}
	sizes, err := addLines(p, lines)
	if err != nil || len(sizes) == 0 {
		return nil, false
	}
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, sizeTicks(sizes)
	p.X.Min, p.X.Max = p.X.Min/1.4, p.X.Max*1.4
	low, high := math.Floor(math.Log10(p.Y.Min)), math.Ceil(math.Log10(p.Y.Max))
	p.Y.Min, p.Y.Max = math.Pow(10, low), math.Pow(10, high)
	var ticks plot.ConstantTicks
	for e := low; e <= high; e++ {
		ticks = append(ticks, plot.Tick{Value: math.Pow(10, e), Label: fmt.Sprint(math.Pow(10, e))})
	}
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, ticks
	return p, true
}
