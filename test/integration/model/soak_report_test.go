package model

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"
)

// largest returns the largest value of a column in a part of the samples: from and to are fractions of them.
func (s *sampler) largest(column string, from, to float64) (most float64) {
	n := float64(len(s.rows))
	for _, row := range s.rows[int(from*n):int(to*n)] {
		most = max(most, row[column])
	}
	return most
}

// latency returns the median of the operations' medians in the samples that are selected.
func (s *sampler) latency(selected func(sample) bool) float64 {
	var rows []sample
	for _, row := range s.rows {
		if row["operations"] > 0 && selected(row) {
			rows = append(rows, row)
		}
	}
	return medianOf(rows, "latency")
}

func unwatched(row sample) bool { return row["watchers"] == 0 && row["slow-watchers"] == 0 }

// strictFrom is the shortest soak that the bounds of growth apply to: a shorter one ends before caches and etcd's
// history have their final size.
const strictFrom = 15 * time.Minute

// growth is by how much the median of the last quarter may exceed that of the second one: a factor, and a sum in the
// column's unit.
type growth struct{ factor, sum float64 }

// most returns the largest value that is no growth.
func (g growth) most(before float64) float64 { return before*g.factor + g.sum }

var (
	ofMemory     = growth{1.15, 20}
	ofGoroutines = growth{1.1, 20}
	ofWatches    = growth{1, 2}
)

// bounds are those of the columns that must not grow.
var bounds = map[string]growth{
	"apiserver-memory": ofMemory, "propagator-memory": ofMemory, "apiserver-heap": ofMemory, "propagator-heap": ofMemory,
	"apiserver-goroutines": ofGoroutines, "propagator-goroutines": ofGoroutines, "watches-out": ofWatches, "watches-in": ofWatches,
}

// quarter returns the rows of a quarter of the soak, from 1 to 4, by their time. It leaves out those during watchers,
// which hold watches of their own.
func (s *sampler) quarter(n int) (rows []sample) {
	if len(s.rows) == 0 {
		return nil
	}
	first, last := s.rows[0]["seconds"], s.rows[len(s.rows)-1]["seconds"]
	from, to := first+(last-first)*float64(n-1)/4, first+(last-first)*float64(n)/4
	for _, row := range s.rows {
		if unwatched(row) && row["seconds"] >= from && (row["seconds"] < to || n == 4) {
			rows = append(rows, row)
		}
	}
	return rows
}

func medianOf(rows []sample, column string) float64 {
	var values []float64
	for _, row := range rows {
		values = append(values, row[column])
	}
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// slope returns by how much a column grows per hour: the line with the least squares through its samples.
func slope(rows []sample, column string) float64 {
	var x, y, xx, xy float64
	for _, row := range rows {
		at, v := row["seconds"]/3600, row[column]
		x, y, xx, xy = x+at, y+v, xx+at*at, xy+at*v
	}
	n := float64(len(rows))
	if n < 2 {
		return 0
	}
	return (n*xy - x*y) / (n*xx - x*x)
}

// grown returns a line for each column that grows by more than its bound.
func (s *sampler) grown() (lines []string) {
	second, last := s.quarter(2), s.quarter(4)
	for _, column := range slices.Sorted(maps.Keys(bounds)) {
		b, from, to := bounds[column], medianOf(second, column), medianOf(last, column)
		if most := b.most(from); to > most {
			lines = append(lines, fmt.Sprintf("%s grows: median %.1f in the second quarter, %.1f in the last, more than %.1f", column, from, to, most))
		}
	}
	return lines
}

// report fails the test if something grows: the last quarter of the soak is compared with the second one, and the end
// with the beginning.
func (s *sampler) report(t *testing.T, before, after sample) {
	t.Helper()
	for _, column := range columns[1:] {
		t.Logf("%-22s before %8.1f, most in the second quarter %8.1f, in the last quarter %8.1f, after %8.1f",
			column, before[column], s.largest(column, 0.25, 0.5), s.largest(column, 0.75, 1), after[column])
	}
	second, last := s.quarter(2), s.quarter(4)
	later := slices.Concat(second, s.quarter(3), last)
	for _, column := range slices.Sorted(maps.Keys(bounds)) {
		t.Logf("%-22s median in the second quarter %8.1f, in the last quarter %8.1f, slope from the second quarter on %+.1f per hour",
			column, medianOf(second, column), medianOf(last, column), slope(later, column))
	}
	t.Logf("median of operations' medians without watchers %.1f ms, with watchers that read %.1f ms, with watchers that read nothing %.1f ms",
		s.latency(unwatched), s.latency(func(row sample) bool { return row["watchers"] > 0 }), s.latency(func(row sample) bool { return row["slow-watchers"] > 0 }))
	if *soak >= strictFrom {
		for _, line := range s.grown() {
			t.Error(line)
		}
	}
	for column, slack := range map[string]float64{
		"apiserver-goroutines": 200, "propagator-goroutines": 100, "watches-out": 5, "watches-in": 10,
	} {
		if after[column] > before[column]*1.2+slack {
			t.Errorf("%s: %.0f after the soak, %.0f before", column, after[column], before[column])
		}
	}
	if most, bound := s.largest("queue", 0, 1), float64(max(size(), 500)); most > bound {
		t.Errorf("%.0f things were in queues, more than %.0f", most, bound)
	}
	for column, slack := range map[string]float64{
		"apiserver-memory": 100, "propagator-memory": 100, "apiserver-heap": 100, "propagator-heap": 100, "etcd-used": 30, "etcd-file": 100,
	} {
		if second, last := s.largest(column, 0.25, 0.5), s.largest(column, 0.75, 1); last > second*1.5+slack {
			t.Errorf("%s grows: at most %.0f MB in the second quarter, %.0f MB in the last", column, second, last)
		}
	}
}

func TestGrowthIsReportedByItsBound(t *testing.T) {
	// soaked returns samples of an hour in which a column grows by a number per hour, with watchers in two of three
	// minutes.
	soaked := func(column string, start, perHour float64) *sampler {
		s := &sampler{}
		for at := 0.0; at < 3600; at += 5 {
			row := sample{"seconds": at, column: start + perHour*at/3600}
			if kind := []string{"", "watchers", "slow-watchers"}[int(at/60)%3]; kind != "" {
				row[kind] = watchers
				row[column] += 1000
			}
			s.rows = append(s.rows, row)
		}
		return s
	}
	// The medians of the two quarters are half an hour apart.
	for name, test := range map[string]struct {
		column         string
		start, perHour float64
		grows          bool
	}{
		"memory":                {"propagator-memory", 200, 0, false},
		"memory, a little":      {"propagator-memory", 200, 90, false},
		"memory, much":          {"propagator-memory", 200, 130, true},
		"goroutines, a little":  {"apiserver-goroutines", 500, 120, false},
		"goroutines, much":      {"apiserver-goroutines", 500, 180, true},
		"watches, a few":        {"watches-in", 30, 3, false},
		"watches, one a minute": {"watches-in", 30, 60, true},
		"falling":               {"apiserver-heap", 300, -100, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := soaked(test.column, test.start, test.perHour)
			if lines := s.grown(); (len(lines) > 0) != test.grows {
				t.Errorf("%v, want growth: %t", lines, test.grows)
			}
			if got := slope(s.quarter(3), test.column); math.Abs(got-test.perHour) > 0.01 {
				t.Errorf("slope %f, want %f", got, test.perHour)
			}
		})
	}
}
