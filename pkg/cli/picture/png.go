package picture

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
	// pixels is how many of them there are in an inch, and point how many in a printer's point.
	pixels = 144.0
	point  = pixels / 72
	// margin is around everything, and radius that of a box's corners.
	margin = 0.25 * pixels
	radius = 6 * point
	// lead is the height of a line of text, in sizes of its type.
	lead = 1.3
)

// png draws with Go's own type: Graphviz' renderer of pixels needs the machine's, and draws no dashes and thin lines.
func (d *drawing) png(ctx context.Context, w io.Writer) error {
	plain, err := d.plain(ctx)
	if err != nil {
		return err
	}
	places, err := readPlain(plain)
	if err != nil {
		return err
	}
	c, err := newCanvas(places)
	if err != nil {
		return err
	}
	for _, l := range d.lines {
		c.line(places.routes[ends{l.parent, l.child}], l.look())
	}
	for _, b := range d.boxes {
		c.box(b, places.boxes[b.name])
	}
	c.text(d.legend(), c.note, float64(c.Width())/2, float64(c.Height())-margin/2, 0.5, "#5b6470")
	return c.EncodePNG(w)
}

// canvas is where a drawing of known places is drawn.
type canvas struct {
	*gg.Context
	height     float64
	name, note font.Face
}

func newCanvas(p *places) (*canvas, error) {
	c := &canvas{Context: gg.NewContext(int(p.width*pixels+2*margin), int(p.height*pixels+2*margin)), height: p.height}
	for face, of := range map[*font.Face]struct {
		ttf  []byte
		size float64
	}{&c.name: {gobold.TTF, nameSize - 1}, &c.note: {goregular.TTF, noteSize - 0.5}} {
		parsed, err := truetype.Parse(of.ttf)
		if err != nil {
			return nil, err
		}
		*face = truetype.NewFace(parsed, &truetype.Options{Size: of.size * point, Hinting: font.HintingNone})
	}
	c.SetHexColor("#ffffff")
	c.Clear()
	return c, nil
}

// at turns inches from below into pixels from above.
func (c *canvas) at(p spot) (x, y float64) {
	return margin + p.x*pixels, margin + (c.height-p.y)*pixels
}

// line draws the curve that Graphviz has laid out.
func (c *canvas) line(route []spot, l look) {
	if len(route) == 0 {
		return
	}
	c.SetHexColor(l.edge)
	c.SetLineWidth(l.width * point)
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
	l := b.look()
	x, y := c.at(r.spot)
	wide, high := r.width*pixels, r.height*pixels
	c.DrawRoundedRectangle(x-wide/2, y-high/2, wide, high, radius)
	c.SetHexColor(l.fill)
	c.FillPreserve()
	c.SetHexColor(l.edge)
	c.SetLineWidth(l.width * point)
	c.SetDash()
	if l.dashed {
		c.SetDash(4*point, 3*point)
	}
	c.Stroke()
	total := nameSize*lead + float64(len(b.notes))*noteSize*lead
	top := y - total*point/2
	middle := top + nameSize*lead*point/2
	c.text(b.name, c.name, x, middle, 0.5, "#1f2933")
	left := x - wide/2 + 0.16*pixels
	for i, note := range b.notes {
		c.text(note, c.note, left, top+(nameSize+(float64(i)+0.5)*noteSize)*lead*point, 0, "#3c4654")
	}
}

// text writes s in the middle of height y. anchor is 0 if x is its left end, and 0.5 if x is its middle.
func (c *canvas) text(s string, face font.Face, x, y, anchor float64, colour string) {
	c.SetFontFace(face)
	c.SetHexColor(colour)
	c.DrawStringAnchored(s, x, y, anchor, 0.35)
}
