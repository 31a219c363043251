package main

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/bench/result"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// progress passes on what a benchmark says.
type progress struct{ t *testing.T }

func (p progress) Write(line []byte) (int, error) {
	p.t.Log(strings.TrimSuffix(string(line), "\n"))
	return len(line), nil
}

// TestEverythingIsMeasuredAndRight measures everything once, in small: what is measured has to be right, however long
// it takes.
func TestEverythingIsMeasuredAndRight(t *testing.T) {
	suite.OnlyLong(t)
	o := defaults()
	o.Quick, o.Root = true, "../.."
	var out bytes.Buffer
	if err := run(t.Context(), o, &out, progress{t}); err != nil {
		t.Error(err)
	}
	var measured []string
	lines := json.NewDecoder(&out)
	for lines.More() {
		var r result.Result
		if err := lines.Decode(&r); err != nil {
			t.Fatal(err)
		}
		t.Logf("%+v", r)
		measured = append(measured, r.Name)
		switch {
		case r.Machine == "":
			t.Errorf("%s: no machine", r.Name)
		case r.Skipped:
			if r.Note == "" {
				t.Errorf("%s is skipped for no reason", r.Name)
			}
		case r.N == 0 || r.Rounds != 1 || (r.Value <= 0 && r.Unit != "writes" && !strings.HasPrefix(r.Name, "idle-cpu-")):
			t.Errorf("%s: nothing was measured: %+v", r.Name, r)
		case strings.HasPrefix(r.Target, "ratio") && (r.Ratio == nil || r.Met == nil):
			t.Errorf("%s: nothing to compare with: %+v", r.Name, r)
		}
	}
	for _, name := range append(rowNames(), "memory") {
		if name == "grown" {
			// It reports all rows of growth.
			name = "growth"
		}
		if !slices.ContainsFunc(measured, func(m string) bool { return m == name || strings.HasPrefix(m, name+"-") }) {
			t.Errorf("%s is missing", name)
		}
	}
}

func TestShapesOfTrees(t *testing.T) {
	for topology, deep := range map[string]int{"wide": 1, "full": 2, "skewer": deepest, "mixed": 25} {
		big := plan("a", topology, 10_000)
		deepestSeen := 0
		for i := 1; i < big.len(); i++ {
			if big.parents[i] >= i || big.parents[i] < 0 {
				t.Fatalf("%s: parent of %d is %d", topology, i, big.parents[i])
			}
			deepestSeen = max(deepestSeen, big.depths[i])
		}
		if deepestSeen > deep || (topology != "mixed" && deepestSeen != deep) {
			t.Errorf("%s: %d deep, want %d", topology, deepestSeen, deep)
		}
		if topology == "full" {
			continue
		}
		if small := plan("a", topology, 100); !slices.Equal(small.parents, big.first(100).parents) {
			t.Errorf("%s: a small tree is not the begin of a large one", topology)
		}
	}
	small := tree{names: []string{"r", "a", "b"}, parents: []int{-1, 0, 1}}
	if got := small.chains(0, "top")["b"]; !slices.Equal(got, chain{"b", "a", "r", "top"}) {
		t.Errorf("chain %v", got)
	}
	if got := small.leaves(); !slices.Equal(got, []int{2}) {
		t.Errorf("leaves %v", got)
	}
}

func TestTreeLabelErrors(t *testing.T) {
	c := chain{"b", "a"}
	for want, labels := range map[string]map[string]string{
		"":                               {"b.tree.hnc.x-k8s.io/depth": "0", "a.tree.hnc.x-k8s.io/depth": "1", "x": "y"},
		"1 tree labels instead of 2":     {"b.tree.hnc.x-k8s.io/depth": "0"},
		`depth "2" below a instead of 1`: {"b.tree.hnc.x-k8s.io/depth": "0", "a.tree.hnc.x-k8s.io/depth": "2"},
		`depth "" below a instead of 1`:  {"b.tree.hnc.x-k8s.io/depth": "0", "c.tree.hnc.x-k8s.io/depth": "1"},
		`3 tree labels instead of 2`:     {"b.tree.hnc.x-k8s.io/depth": "0", "a.tree.hnc.x-k8s.io/depth": "1", "c.tree.hnc.x-k8s.io/depth": "2"},
	} {
		if got := c.mismatch(labels); got != want {
			t.Errorf("%v: %q, want %q", labels, got, want)
		}
	}
}

func TestMediansAndPercentiles(t *testing.T) {
	values := []float64{5, 1, 3, 2, 4}
	if m := median(values); m != 3 {
		t.Errorf("median %v", m)
	}
	if m := median([]float64{1, 2, 4, 3}); m != 2.5 {
		t.Errorf("median of an even number %v", m)
	}
	for share, want := range map[float64]float64{0: 1, 0.2: 1, 0.5: 3, 0.99: 5, 1: 5} {
		if got := percentile(values, share); got != want {
			t.Errorf("percentile %v is %v, want %v", share, got, want)
		}
	}
	if got := round(1234567); got != 1235000 {
		t.Errorf("rounded to %v", got)
	}
	if got := round(0.00123456); got != 0.001235 {
		t.Errorf("rounded to %v", got)
	}
}

func TestATargetIsMetOrNot(t *testing.T) {
	s := series{}
	s.add(2, 1)
	s.add(3, 2)
	s.add(9, 3) // ratios 2, 1.5, 3
	for _, test := range []struct {
		target target
		text   string
		met    bool
	}{
		{ratioAtMost(2), "ratio <= 2", true},
		{ratioAtMost(1.9), "ratio <= 1.9", false},
		{ratioAtLeast(2), "ratio >= 2", true},
		{ratioAtLeast(2.1), "ratio >= 2.1", false},
		{valueAtMost(3), "value <= 3", true},
		{valueAtMost(2), "value <= 2", false},
	} {
		var out bytes.Buffer
		b := &bench{out: &out}
		if err := b.report("x", "s", 1, s, test.target); err != nil {
			t.Fatal(err)
		}
		var r result.Result
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		if r.Value != 3 || *r.Raw != 2 || *r.Ratio != 2 || r.Target != test.text || *r.Met != test.met {
			t.Errorf("%s", out.String())
		}
	}
}

func TestMetricsAreSummedUp(t *testing.T) {
	m := metrics{`a{verb="POST",resource="roles"}`: 2, `a{verb="GET"}`: 30, "ab": 7, "b": 1}
	if got := m.sum("a", everything); got != 32 {
		t.Errorf("sum %v", got)
	}
	if got := m.sum("a", func(labels string) bool { return label(labels, "verb") == "POST" }); got != 2 {
		t.Errorf("sum of one %v", got)
	}
	n, which := since(map[string]float64{"POST roles": 2}, map[string]float64{"POST roles": 4, "PUT pods": 1})
	if n != 3 || which != "2 POST roles, 1 PUT pods" {
		t.Errorf("%v: %s", n, which)
	}
}

func TestFlagsThatCanNotWorkAreRefused(t *testing.T) {
	for want, change := range map[string]func(*options){
		"-topology":   func(o *options) { o.Topology = "round" },
		"-kinds":      func(o *options) { o.Kinds = "pods" },
		"-run":        func(o *options) { o.Run = "(" },
		"-namespaces": func(o *options) { o.Namespaces = 1 },
	} {
		o := defaults()
		change(&o)
		if err := o.complete(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	o := defaults()
	if err := o.complete(); err != nil || o.Timeout < time.Minute {
		t.Error(err)
	}
}

func TestIntervalOfRatios(t *testing.T) {
	for name, test := range map[string]struct {
		ratios    []float64
		low, high float64
	}{
		"equal ones":               {[]float64{1.2, 1.2, 1.2}, 1.2, 1.2},
		"a ratio and its inverse":  {[]float64{2, 0.5}, 0.0001496, 6683},
		"three of about one":       {[]float64{0.9, 1, 1.1}, 0.7767, 1.2789},
		"as many again are closer": {[]float64{0.9, 1, 1.1, 0.9, 1, 1.1}, 0.90704, 1.0951},
	} {
		low, high, ok := interval(test.ratios)
		if !ok || math.Abs(low/test.low-1) > 0.001 || math.Abs(high/test.high-1) > 0.001 {
			t.Errorf("%s: %v to %v, %t; want %v to %v", name, low, high, ok, test.low, test.high)
		}
	}
	for _, ratios := range [][]float64{nil, {1}, {1, 0}} {
		if low, high, ok := interval(ratios); ok {
			t.Errorf("%v: %v to %v", ratios, low, high)
		}
	}
}
