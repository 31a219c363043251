package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/bench/result"
)

// group holds what was measured on forests of one size and shape.
type group struct {
	namespaces int
	topology   string
	results    []result.Result
}

func (g *group) title() string {
	if g.namespaces == 0 {
		return ""
	}
	return fmt.Sprintf("%s namespaces, topology %s", thousands(g.namespaces), g.topology)
}

// find returns the measurement of that name.
func (g *group) find(name string) (result.Result, bool) {
	i := slices.IndexFunc(g.results, func(r result.Result) bool { return r.Name == name && !r.Skipped })
	if i < 0 {
		return result.Result{}, false
	}
	return g.results[i], true
}

// rows returns the measurements that are compared with targets, in the order in which they were made.
func (g *group) rows() []result.Result {
	return slices.DeleteFunc(slices.Clone(g.results), func(r result.Result) bool {
		return strings.HasPrefix(r.Name, "decide-") || strings.HasPrefix(r.Name, "size-")
	})
}

// readFiles returns the results in files.
func readFiles(files []string) (groups []*group, err error) {
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		groups, err = read(groups, f)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return groups, nil
}

// write writes all results to a file, as the bench prints them.
func write(file string, groups []*group) error {
	var b bytes.Buffer
	lines := json.NewEncoder(&b)
	lines.SetEscapeHTML(false)
	for _, g := range groups {
		for _, r := range g.results {
			if err := lines.Encode(r); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(file, b.Bytes(), 0o644) //nolint:gosec // documents are for everybody
}

// read adds the results that a reader brings to groups.
func read(groups []*group, from io.Reader) ([]*group, error) {
	lines := json.NewDecoder(from)
	for {
		var r result.Result
		if err := lines.Decode(&r); errors.Is(err, io.EOF) {
			return groups, nil
		} else if err != nil {
			return nil, err
		}
		groups = add(groups, r)
	}
}

func add(groups []*group, r result.Result) []*group {
	i := slices.IndexFunc(groups, func(g *group) bool { return g.namespaces == r.Namespaces && g.topology == r.Topology })
	if i < 0 {
		i = len(groups)
		groups = append(groups, &group{namespaces: r.Namespaces, topology: r.Topology})
	}
	g := groups[i]
	if known := slices.IndexFunc(g.results, func(k result.Result) bool { return k.Name == r.Name }); known >= 0 {
		g.results[known] = r
	} else {
		g.results = append(g.results, r)
	}
	return groups
}

// anywhere returns the last measurement of that name, whatever the forest was: some don't depend on it.
func anywhere(groups []*group, name string) (result.Result, bool) {
	for _, g := range slices.Backward(groups) {
		if r, ok := g.find(name); ok {
			return r, true
		}
	}
	return result.Result{}, false
}

// largest returns the group of the largest forest of which there are results that a function counts.
func largest(groups []*group, count func(*group) int) *group {
	return slices.MaxFunc(groups, func(a, b *group) int {
		return cmp.Or(cmp.Compare(min(count(a), 1), min(count(b), 1)), cmp.Compare(a.namespaces, b.namespaces), cmp.Compare(count(a), count(b)))
	})
}

// machines returns where the measurements were made.
func machines(groups []*group) string {
	var all []string
	for _, g := range groups {
		for _, r := range g.results {
			if r.Machine != "" && !slices.Contains(all, r.Machine) {
				all = append(all, r.Machine)
			}
		}
	}
	return strings.Join(all, "; ")
}

// thousands writes a whole number with commas.
func thousands(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// number writes a value as it is read best: three significant digits, or all of a large one.
func number(x float64) string {
	if x >= 100 || x == math.Trunc(x) {
		return thousands(int(math.RoundToEven(x)))
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}
