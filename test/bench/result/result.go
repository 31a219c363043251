// Package result is the format in which measurements are printed and published.
package result

import (
	"strconv"
	"strings"
)

// Result is one measurement.
type Result struct {
	Name string `json:"name"`
	// Value is the median of the rounds, in Unit.
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	// Raw is the same without our servers, in the same unit, from the same run. Ratio is the median of the rounds'
	// ratios of both values.
	Raw   *float64 `json:"raw,omitempty"`
	Ratio *float64 `json:"ratio,omitempty"`
	// Low and High bound the ratio with a confidence of 95 %, according to how much the rounds differ. One round has no
	// bounds.
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`
	// Target is the aim, such as "ratio >= 0.9", and Met whether it is reached.
	Target string `json:"target,omitempty"`
	Met    *bool  `json:"met,omitempty"`
	// N is the number of namespaces, objects or requests in each round.
	N       int    `json:"n"`
	Rounds  int    `json:"rounds"`
	Machine string `json:"machine"`
	// Namespaces and Topology are the size and the shape of the forest.
	Namespaces int    `json:"namespaces"`
	Topology   string `json:"topology"`
	// Note describes what is special about this measurement, or why it was skipped.
	Note    string `json:"note,omitempty"`
	Skipped bool   `json:"skipped,omitempty"`
}

// Unmet reports whether there is a target that is not reached.
func (r Result) Unmet() bool { return r.Met != nil && !*r.Met }

// Undecided reports whether the interval of the ratio contains the target, so that another run may end otherwise.
func (r Result) Undecided() bool {
	limit, _, ok := r.Limit()
	return ok && strings.HasPrefix(r.Target, "ratio") && r.Low != nil && r.High != nil && *r.Low < limit && limit < *r.High
}

// Limit returns the number in the target, and whether values above it are good.
func (r Result) Limit() (limit float64, atLeast, ok bool) {
	words := strings.Fields(r.Target)
	if len(words) != 3 {
		return 0, false, false
	}
	limit, err := strconv.ParseFloat(words[2], 64)
	return limit, words[1] == ">=", err == nil
}
