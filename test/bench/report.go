package main

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/bench/result"
)

// series holds one measurement's rounds.
type series struct{ values, raws []float64 }

func (s *series) add(value, raw float64) {
	s.values, s.raws = append(s.values, value), append(s.raws, raw)
}

// against compares all values with one.
func (s *series) against(raw float64) {
	s.raws = slices.Repeat([]float64{raw}, len(s.values))
}

// difference returns by how much the values are above the raw ones.
func (s series) difference() (more series) {
	for i := range s.values {
		more.values = append(more.values, s.values[i]-s.raws[i])
	}
	return more
}

// target says what a value or a ratio is compared with.
type target struct {
	what   string // "value" or "ratio"; "" for no target
	atMost bool
	limit  float64
}

var none target

func ratioAtLeast(limit float64) target { return target{"ratio", false, limit} }
func ratioAtMost(limit float64) target  { return target{"ratio", true, limit} }
func valueAtMost(limit float64) target  { return target{"value", true, limit} }

func (t target) String() string {
	switch {
	case t.what == "":
		return ""
	case t.atMost:
		return fmt.Sprintf("%s <= %v", t.what, t.limit)
	}
	return fmt.Sprintf("%s >= %v", t.what, t.limit)
}

// report prints a measurement. A series without raw values has no ratio.
func (b *bench) report(name, unit string, n int, s series, t target, notes ...string) error {
	r := result.Result{Name: name, Unit: unit, N: n, Rounds: len(s.values), Value: round(median(s.values)), Target: t.String()}
	for _, note := range notes {
		r.Note += note
	}
	if len(s.raws) > 0 && !slices.Contains(s.raws, 0) {
		ratios := make([]float64, len(s.values))
		for i := range s.values {
			ratios[i] = s.values[i] / s.raws[i]
		}
		raw, ratio := round(median(s.raws)), round(median(ratios))
		r.Raw, r.Ratio = &raw, &ratio
		if low, high, ok := interval(ratios); ok {
			low, high = round(low), round(high)
			r.Low, r.High = &low, &high
		}
	}
	compared := r.Value
	if t.what == "ratio" && r.Ratio != nil {
		compared = *r.Ratio
	}
	if t.what == "value" || (t.what == "ratio" && r.Ratio != nil) {
		met := compared <= t.limit
		if !t.atMost {
			met = compared >= t.limit
		}
		r.Met = &met
	}
	return b.print(r)
}

// skip prints why there is no measurement.
func (b *bench) skip(name, why string) error {
	return b.print(result.Result{Name: name, Skipped: true, Note: why})
}

func (b *bench) print(r result.Result) error {
	r.Machine, r.Namespaces, r.Topology = b.machine, b.Namespaces, b.Topology
	encoder := json.NewEncoder(b.out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(r)
}

func (b *bench) sayf(format string, args ...any) {
	_, _ = fmt.Fprintf(b.progress, "%s "+format+"\n", append([]any{time.Now().Format(time.TimeOnly)}, args...)...)
}

// median returns the middle value; of an even number, the mean of the two in the middle.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// interval returns the interval in which the mean of ratios is with a confidence of 95 %, by Student's distribution of
// their logarithms: a ratio of two is as far from one as a ratio of a half. It needs two positive ratios.
func interval(ratios []float64) (low, high float64, ok bool) {
	if len(ratios) < 2 || slices.Min(ratios) <= 0 {
		return 0, 0, false
	}
	logs := make([]float64, len(ratios))
	for i, r := range ratios {
		logs[i] = math.Log(r)
	}
	mean, deviation := stat.MeanStdDev(logs, nil)
	n := float64(len(logs))
	t := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.975)
	half := t * stat.StdErr(deviation, n)
	return math.Exp(mean - half), math.Exp(mean + half), true
}

// percentile returns the value that a share of all values, from 0 to 1, is at or below.
func percentile(values []float64, share float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(int(math.Ceil(share*float64(len(sorted))))-1, 0)]
}

// round keeps four significant digits: more would be noise.
func round(x float64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	scale := math.Pow(10, 3-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}

func milliseconds(durations []time.Duration) []float64 {
	ms := make([]float64, len(durations))
	for i, d := range durations {
		ms[i] = float64(d) / float64(time.Millisecond)
	}
	return ms
}
