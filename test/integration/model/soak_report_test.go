package model

import (
	"slices"
	"testing"
)

// largest returns the largest value of a column in a part of the samples: from and to are fractions of them.
func (s *sampler) largest(column string, from, to float64) (most float64) {
	n := float64(len(s.rows))
	for _, row := range s.rows[int(from*n):int(to*n)] {
		most = max(most, row[column])
	}
	return most
}

// median returns the median of the operations' medians while there are slow watchers, or while there are none.
func (s *sampler) median(slow bool) float64 {
	var values []float64
	for _, row := range s.rows {
		if row["operations"] > 0 && row["slow-watchers"] > 0 == slow {
			values = append(values, row["latency"])
		}
	}
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// report fails the test if something grows: the last quarter of the soak is compared with the second one, and the end with the beginning.
func (s *sampler) report(t *testing.T, before, after sample) {
	t.Helper()
	for _, column := range columns[1:] {
		t.Logf("%-22s before %8.1f, most in the second quarter %8.1f, in the last quarter %8.1f, after %8.1f",
			column, before[column], s.largest(column, 0.25, 0.5), s.largest(column, 0.75, 1), after[column])
	}
	t.Logf("median of operations' medians without slow watchers %.1f ms, with them %.1f ms", s.median(false), s.median(true))
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
