package main

import (
	"fmt"
	"image/color"
	"io"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Colors that people with color blindness can distinguish.
var (
	blue   = color.RGBA{R: 0x1f, G: 0x6f, B: 0xb4, A: 0xff}
	orange = color.RGBA{R: 0xd9, G: 0x5f, B: 0x02, A: 0xff}
	green  = color.RGBA{R: 0x1b, G: 0x8a, B: 0x5a, A: 0xff}
	grey   = color.RGBA{R: 0x70, G: 0x70, B: 0x70, A: 0xff}
	pale   = color.RGBA{R: 0xe2, G: 0xe2, B: 0xe2, A: 0xff}
	black  = color.RGBA{R: 0x22, G: 0x22, B: 0x22, A: 0xff}
	white  = color.RGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xff}
)

// dark are the colors in a dark color scheme. The background is among them, because the page around a drawing may have
// another scheme than the system, which the drawing follows.
var dark = []struct {
	light color.RGBA
	dark  string
}{{blue, "#5AA9E6"}, {orange, "#F08A3C"}, {green, "#3CB88A"}, {grey, "#A0A0A0"}, {pale, "#3A3A3A"}, {black, "#DDDDDD"}, {white, "#111111"}}

// darkStyle returns the style sheet of an SVG that replaces its colors in a dark color scheme.
func darkStyle() string {
	var rules strings.Builder
	for _, c := range dark {
		for _, property := range []string{"fill", "stroke"} {
			fmt.Fprintf(&rules, "[style*=\"%[1]s:#%02[2]X%02[3]X%02[4]X\"]{%[1]s:%[5]s!important}\n", property, c.light.R, c.light.G, c.light.B, c.dark)
		}
	}
	return "<style>@media (prefers-color-scheme: dark) {\n" + rules.String() + "}</style>\n"
}

const (
	small, medium, large = vg.Length(11), vg.Length(12), vg.Length(15)
	margin               = vg.Length(14)
	titleHeight          = vg.Length(30)
	captionHeight        = vg.Length(24)
)

// letters returns a style of text.
func letters(size vg.Length, c color.Color) text.Style {
	return text.Style{
		Color: c, Font: font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size), Handler: plot.DefaultTextHandler,
		XAlign: text.XLeft, YAlign: text.YCenter,
	}
}

// newPlot returns an empty plot in our style.
func newPlot(x, y string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Color, axis.Tick.Color = grey, grey
		axis.Padding = 4
		axis.Label.TextStyle.Font, axis.Label.TextStyle.Color = letters(medium, black).Font, black
		axis.Tick.Label.Font, axis.Tick.Label.Color = letters(small, black).Font, black
	}
	p.X.Label.Text, p.Y.Label.Text = x, y
	p.X.Label.Padding, p.Y.Label.Padding = 4, 4
	p.Legend.TextStyle.Font = letters(small, black).Font
	p.Legend.TextStyle.Color = black
	p.Legend.Padding, p.Legend.ThumbnailWidth = 3, 24
	return p
}

// drawing is a drawing with a title and a caption.
type drawing struct {
	title, caption string
	width, height  vg.Length
	draw           func(draw.Canvas)
}

// save writes the drawing in the format that the name of the file ends with: svg or png.
func (p drawing) save(file string) error {
	format := strings.TrimPrefix(filepath.Ext(file), ".")
	var canvas interface {
		vg.CanvasSizer
		io.WriterTo
	}
	switch format {
	case "svg":
		canvas = vgsvg.New(p.width, p.height)
	case "png":
		canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(p.width, p.height), vgimg.UseDPI(144))}
	default:
		return fmt.Errorf("%s: neither svg nor png", file)
	}
	c := draw.New(canvas)
	c.FillPolygon(white, []vg.Point{{X: c.Min.X, Y: c.Min.Y}, {X: c.Max.X, Y: c.Min.Y}, {X: c.Max.X, Y: c.Max.Y}, {X: c.Min.X, Y: c.Max.Y}})
	c.FillText(letters(large, black), vg.Point{X: margin, Y: c.Max.Y - titleHeight/2 - 2}, p.title)
	c.FillText(letters(small, grey), vg.Point{X: margin, Y: captionHeight / 2}, p.caption)
	p.draw(draw.Crop(c, margin, -margin, captionHeight, -titleHeight))
	var text strings.Builder
	if _, err := canvas.WriteTo(&text); err != nil {
		return err
	}
	// Most readers don't have the font; these are as wide.
	content := strings.ReplaceAll(text.String(), "font-family:Liberation Sans;", "font-family:Liberation Sans,Arial,Helvetica,sans-serif;")
	if format == "svg" {
		content = strings.Replace(content, "<g ", darkStyle()+"<g ", 1)
	}
	return os.WriteFile(file, []byte(content), 0o644) //nolint:gosec // documents are for everybody
}
