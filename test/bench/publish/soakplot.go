package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// panels are the plots of a soak, and the columns of its samples that they show.
var panels = []struct {
	y      string
	series []series
}{
	{"goroutines", []series{{"apiserver-goroutines", "hns-apiserver", blue}, {"propagator-goroutines", "hns-propagator", orange}}},
	{"memory, MB", []series{{"apiserver-memory", "hns-apiserver", blue}, {"propagator-memory", "hns-propagator", orange}}},
	{"open watches", []series{{"watches-out", "of kube-apiserver", blue}, {"watches-in", "of hns-apiserver", orange}}},
	{"queued", []series{{"queue", "namespaces and objects", blue}}},
	{"etcd, MB", []series{{"etcd-file", "file", blue}, {"etcd-used", "in use", orange}}},
	{"median operation, ms", []series{{"latency", "with faults and retries", blue}}},
}

type series struct {
	column, name string
	color        color.Color
}

// publishSoak draws what was sampled during a soak.
func publishSoak(file, docs, png string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	rows, err := csv.NewReader(f).ReadAll()
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if len(rows) < 3 {
		return fmt.Errorf("%s has no samples", file)
	}
	d, err := soakPlot(rows[0], rows[1:])
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if err := d.save(filepath.Join(docs, "performance", "soak.svg")); err != nil || png == "" {
		return err
	}
	return d.save(filepath.Join(png, "soak.png"))
}

func soakPlot(header []string, rows [][]string) (drawing, error) {
	columns := map[string]plotter.XYs{}
	for _, row := range rows {
		x, err := strconv.ParseFloat(row[0], 64)
		if err != nil {
			return drawing{}, err
		}
		for i, column := range header {
			y, err := strconv.ParseFloat(row[i], 64)
			if err != nil {
				return drawing{}, err
			}
			columns[column] = append(columns[column], plotter.XY{X: x / 60, Y: y})
		}
	}
	var plots []*plot.Plot
	for _, panel := range panels {
		p := newPlot("minutes", panel.y)
		high := 0.0
		for _, s := range panel.series {
			if columns[s.column] == nil {
				return drawing{}, fmt.Errorf("no column %s", s.column)
			}
			drawn, err := plotter.NewLine(columns[s.column])
			if err != nil {
				return drawing{}, err
			}
			drawn.Color, drawn.Width = s.color, 1.4
			p.Add(drawn)
			p.Legend.Add(s.name, drawn)
			for _, xy := range columns[s.column] {
				high = max(high, xy.Y)
			}
		}
		p.Y.Min, p.Y.Max, p.Y.Tick.Marker, p.X.Tick.Marker = 0, max(high, 1)*1.35, evenTicks{}, evenTicks{}
		p.Legend.Top, p.Legend.Left = true, true
		p.Legend.XOffs, p.Legend.YOffs = 6, -2
		plots = append(plots, p)
	}
	const height = vg.Length(190)
	lines := (len(plots) + 1) / 2
	return drawing{
		title: "What both servers use while a forest is changed and connections fail", width: 760, height: titleHeight + captionHeight + height*vg.Length(lines),
		caption: "make soak; etcd also holds what copies have overwritten, for a week.",
		draw: func(c draw.Canvas) {
			tiles := draw.Tiles{Rows: lines, Cols: 2, PadX: 16, PadY: 8}
			for i, p := range plots {
				p.Draw(tiles.At(c, i%2, i/2))
			}
		},
	}, nil
}
