package main

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// plots returns the plots of which there are results, by name.
func plots(groups []*group) map[string]drawing {
	g := largest(groups, func(g *group) int { return len(g.rows()) })
	caption := machines(groups)
	made := map[string]drawing{}
	for name, make := range map[string]func(*group) (drawing, bool){"ratios": ratiosPlot, "growth": growthPlot, "memory": memoryPlot} {
		if p, ok := make(g); ok {
			if title := g.title(); title != "" {
				p.caption = title + ". "
			}
			p.caption += caption
			made[name] = p
		}
	}
	if p, ok := decidePlot(groups); ok {
		p.caption += caption
		made["decide"] = p
	}
	return made
}

// bars are horizontal lines from a base to values, each with its limit marked, one below another.
type bars struct {
	base float64
	bars []bar
}

type bar struct {
	name, label string
	value       float64
	limit       float64
	unmet       bool
}

// Plot draws them; bar i lies at height -i.
func (b bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i := range b.bars {
		at := y(-float64(i))
		c.StrokeLine2(draw.LineStyle{Color: pale, Width: 0.6}, c.Min.X, at, c.Max.X, at)
	}
	c.StrokeLine2(draw.LineStyle{Color: grey, Width: 1}, x(b.base), c.Min.Y, x(b.base), c.Max.Y)
	for i, bar := range b.bars {
		at, fill := y(-float64(i)), blue
		if bar.unmet {
			fill = orange
		}
		c.StrokeLine2(draw.LineStyle{Color: fill, Width: 7}, x(b.base), at, x(bar.value), at)
		c.DrawGlyph(draw.GlyphStyle{Color: fill, Radius: 5, Shape: draw.CircleGlyph{}}, vg.Point{X: x(bar.value), Y: at})
		if bar.limit > 0 {
			c.StrokeLine2(draw.LineStyle{Color: black, Width: 2.2}, x(bar.limit), at-9, x(bar.limit), at+9)
		}
	}
}

// drawBars draws a plot of bars with the labels of the bars in a column to its right.
func drawBars(c draw.Canvas, p *plot.Plot, b bars, column vg.Length) {
	p.Add(b)
	p.Y.Min, p.Y.Max = -float64(len(b.bars))+0.4, 0.6
	var names []plot.Tick
	for i, bar := range b.bars {
		names = append(names, plot.Tick{Value: -float64(i), Label: bar.name})
	}
	p.Y.Tick.Marker = plot.ConstantTicks(names)
	p.Y.Tick.Length, p.Y.Width = 0, 0
	key := draw.Crop(c, 0, 0, c.Max.Y-c.Min.Y-20, 0)
	c = draw.Crop(c, 0, 0, 0, -24)
	left := draw.Crop(c, 0, -column, 0, 0)
	p.Draw(left)
	area := p.DataCanvas(left)
	_, y := p.Transforms(&area)
	for i, bar := range b.bars {
		fill := black
		if bar.unmet {
			fill = orange
		}
		c.FillText(letters(small, fill), vg.Point{X: area.Max.X + 10, Y: y(-float64(i)) + 2}, bar.label)
	}
	drawKey(key, area.Min.X)
}

// drawKey says what colours and marks mean, in one line from a position on.
func drawKey(c draw.Canvas, at vg.Length) {
	dot := func(fill color.Color) func(x, y vg.Length) {
		return func(x, y vg.Length) {
			c.DrawGlyph(draw.GlyphStyle{Color: fill, Radius: 5, Shape: draw.CircleGlyph{}}, vg.Point{X: x, Y: y})
		}
	}
	mark := func(x, y vg.Length) { c.StrokeLine2(draw.LineStyle{Color: black, Width: 2.2}, x, y-7, x, y+7) }
	style, y := letters(small, black), c.Center().Y
	for _, k := range []struct {
		name string
		draw func(x, y vg.Length)
	}{{"target met", dot(blue)}, {"target not met", dot(orange)}, {"target", mark}} {
		k.draw(at+5, y)
		c.FillText(style, vg.Point{X: at + 15, Y: y + 2}, k.name)
		at += 15 + style.Width(k.name) + 20
	}
}

// ratiosPlot compares all ratios with their targets.
func ratiosPlot(g *group) (drawing, bool) {
	b := bars{base: 1}
	low, high := 0.5, 2.0
	for _, r := range g.rows() {
		limit, atLeast, ok := r.Limit()
		if r.Ratio == nil || *r.Ratio <= 0 || !ok || strings.HasPrefix(r.Target, "value") {
			continue
		}
		sign := "≤"
		if atLeast {
			sign = "≥"
		}
		b.bars = append(b.bars, bar{r.Name, fmt.Sprintf("%.2f  (%s %s)", *r.Ratio, sign, number(limit)), *r.Ratio, limit, r.Unmet()})
		low, high = min(low, *r.Ratio, limit), max(high, *r.Ratio, limit)
	}
	p := newPlot("ratio to the same without HNS, logarithmic", "")
	p.X.Scale = plot.LogScale{}
	p.X.Min, p.X.Max = low/1.1, high*1.15
	var ticks []plot.Tick
	for _, v := range []float64{0.1, 0.2, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5, 7, 10, 20, 50, 100} {
		if v >= p.X.Min && v <= p.X.Max && (high < 12 || v != 1.5 && v != 7 && v != 0.75) {
			ticks = append(ticks, plot.Tick{Value: v, Label: number(v)})
		}
	}
	p.X.Tick.Marker = plot.ConstantTicks(ticks)
	return drawing{
		title: "With hierarchies, against the same API server without", width: 760, height: titleHeight + captionHeight + 74 + 24*vg.Length(len(b.bars)),
		draw: func(c draw.Canvas) { drawBars(c, p, b, 100) },
	}, len(b.bars) > 0
}

// memoryPlot compares the memory of both servers with its limit.
func memoryPlot(g *group) (drawing, bool) {
	b := bars{}
	high := 0.0
	for _, r := range g.rows() {
		if name, ok := strings.CutPrefix(r.Name, "memory-"); ok && !r.Skipped {
			limit, _, _ := r.Limit()
			b.bars = append(b.bars, bar{name, fmt.Sprintf("%.0f MB  (≤ %s)", r.Value, number(limit)), r.Value, limit, r.Unmet()})
			high = max(high, r.Value, limit)
		}
	}
	p := newPlot("most memory resident, MB", "")
	p.X.Min, p.X.Max, p.X.Tick.Marker = 0, high*1.05, evenTicks{}
	return drawing{
		title: "Memory of both servers, ten sources in the root of the whole forest", width: 760,
		height: titleHeight + captionHeight + 74 + 34*vg.Length(len(b.bars)),
		draw:   func(c draw.Canvas) { drawBars(c, p, b, 110) },
	}, len(b.bars) > 0
}

// sizeTicks labels the sizes that there are on a logarithmic axis.
func sizeTicks(sizes []float64) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for _, s := range slices.Compact(slices.Sorted(slices.Values(sizes))) {
		ticks = append(ticks, plot.Tick{Value: s, Label: thousands(int(math.Round(s)))})
	}
	return ticks
}

// evenTicks are about five steps of a round number.
type evenTicks struct{}

// Ticks returns them.
func (evenTicks) Ticks(low, high float64) (ticks []plot.Tick) {
	step := math.Pow(10, math.Floor(math.Log10((high-low)/4)))
	for _, more := range []float64{2, 2.5, 2} { // 1, 2, 5, 10
		if (high-low)/step <= 6 {
			break
		}
		step *= more
	}
	for v := math.Ceil(low/step) * step; v <= high; v += step {
		ticks = append(ticks, plot.Tick{Value: v, Label: number(v)})
	}
	return ticks
}
