package graph

import (
	"context"
	"io"

	"github.com/fogleman/gg"
	"github.com/golang/freetype/truetype"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
)

const (
	// inch and pt are the pixels of an inch and of a typographic point.
	inch = 144.0
	pt   = inch / 72
	// margin surrounds the image, and radius is that of the corners of a box.
	margin = 0.25 * inch
	radius = 6 * pt
	// lead is the height of a line of text, relative to its font size.
	lead = 1.3
)

// png draws with Go's own fonts: Graphviz' PNG renderer needs fonts of the machine, and draws neither dashes nor thin lines.
func (d *drawing) png(ctx context.Context, w io.Writer) error {
	plain, err := d.plain(ctx)
	if err != nil {
		return err
	}
	positions, err := parsePlain(plain)
	if err != nil {
		return err
	}
	c, err := newCanvas(positions)
	if err != nil {
		return err
	}
	for _, l := range d.lines {
		c.line(positions.routes[ends{l.parent, l.child}], l.style())
	}
	for _, b := range d.boxes {
		c.box(b, positions.boxes[b.name])
	}
	c.text(d.legend(), c.note, float64(c.Width())/2, float64(c.Height())-margin/2, 0.5, "#5b6470")
	return c.EncodePNG(w)
}

// canvas is the image that a drawing is rendered to.
type canvas struct {
	*gg.Context
	height     float64
	name, note font.Face
}

func newCanvas(p *layout) (*canvas, error) {
	c := &canvas{Context: gg.NewContext(int(p.width*inch+2*margin), int(p.height*inch+2*margin)), height: p.height}
	for face, of := range map[*font.Face]struct {
		ttf  []byte
		size float64
	}{&c.name: {gobold.TTF, nameSize - 1}, &c.note: {goregular.TTF, noteSize - 0.5}} {
		parsed, err := truetype.Parse(of.ttf)
		if err != nil {
			return nil, err
		}
		*face = truetype.NewFace(parsed, &truetype.Options{Size: of.size * pt, Hinting: font.HintingNone})
	}
	c.SetHexColor("#ffffff")
	c.Clear()
	return c, nil
}

// at converts inches from the bottom to pixels from the top.
func (c *canvas) at(p point) (x, y float64) {
	return margin + p.x*inch, margin + (c.height-p.y)*inch
}

// line draws the curve that Graphviz has laid out.
func (c *canvas) line(route []point, l style) {
	if len(route) == 0 {
		return
	}
	c.SetHexColor(l.edge)
	c.SetLineWidth(l.width * pt)
	c.SetDash()
	c.MoveTo(c.at(route[0]))
	for i := 1; i+2 < len(route); i += 3 {
		x1, y1 := c.at(route[i])
		x2, y2 := c.at(route[i+1])
		x3, y3 := c.at(route[i+2])
		c.CubicTo(x1, y1, x2, y2, x3, y3)
	}
	c.Stroke()
}

// box draws a namespace.
func (c *canvas) box(b box, r rectangle) {
	l := b.style()
	x, y := c.at(r.point)
	wide, high := r.width*inch, r.height*inch
	c.DrawRoundedRectangle(x-wide/2, y-high/2, wide, high, radius)
	c.SetHexColor(l.fill)
	c.FillPreserve()
	c.SetHexColor(l.edge)
	c.SetLineWidth(l.width * pt)
	c.SetDash()
	if l.dashed {
		c.SetDash(4*pt, 3*pt)
	}
	c.Stroke()
	total := nameSize*lead + float64(len(b.notes))*noteSize*lead
	top := y - total*pt/2
	middle := top + nameSize*lead*pt/2
	c.text(b.name, c.name, x, middle, 0.5, "#1f2933")
	left := x - wide/2 + 0.16*inch
	for i, note := range b.notes {
		c.text(note, c.note, left, top+(nameSize+(float64(i)+0.5)*noteSize)*lead*pt, 0, "#3c4654")
	}
}

// text writes s in the middle of height y. anchor is 0 if x is its left end, and 0.5 if x is its middle.
func (c *canvas) text(s string, face font.Face, x, y, anchor float64, color string) {
	c.SetFontFace(face)
	c.SetHexColor(color)
	c.DrawStringAnchored(s, x, y, anchor, 0.35)
}
