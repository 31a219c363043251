package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// metrics are samples by name and labels, as a server prints them.
type metrics map[string]float64

// sum adds up the samples of a metric whose labels are of interest.
func (m metrics) sum(name string, interests func(labels string) bool) float64 {
	total := 0.0
	for series, value := range m {
		if rest, ok := strings.CutPrefix(series, name); ok && (rest == "" || rest[0] == '{') && interests(rest) {
			total += value
		}
	}
	return total
}

func everything(string) bool { return true }

// metering reads the metrics of the servers.
type metering struct{ *cluster }

func (c *cluster) metered() metering { return metering{c} }

// of returns the metrics of a process of the cluster.
func (c metering) of(ctx context.Context, process string) (metrics, error) {
	return c.cp.Metrics(ctx, process)
}

// watches counts the watches that hns-apiserver serves.
func (c metering) watches(ctx context.Context) (float64, error) {
	m, err := c.of(ctx, apiserver)
	return m.sum("apiserver_longrunning_requests", everything), err
}

// collections counts kube-apiserver's garbage collections.
func (c metering) collections(ctx context.Context) float64 {
	m, err := c.of(ctx, kubeAPIServer)
	if err != nil {
		c.sayf("kube-apiserver's metrics: %v", err)
	}
	return m.sum("go_gc_duration_seconds_count", everything)
}

// idle returns when the propagator leads and has had nothing to do for a while: the delays with which it collects
// changes are shorter.
func (c metering) idle(ctx context.Context) error {
	const calm = 1500 * time.Millisecond
	last, since := -1.0, time.Now()
	return until(ctx, c.options.Timeout, func(ctx context.Context) error {
		m, err := c.of(ctx, propagator)
		if err != nil {
			return err
		}
		if m.sum("hns_propagator_leading", everything) != 1 {
			return errors.New("the propagator does not lead")
		}
		waiting, writes := m.sum("hns_propagation_queue_length", everything), m.sum("hns_propagation_writes_total", everything)
		if waiting > 0 || writes != last {
			last, since = writes, time.Now()
		}
		if time.Since(since) < calm {
			return fmt.Errorf("the propagator is busy: %v pieces of work are waiting, %v writes were made", waiting, writes)
		}
		return nil
	})
}

// writes counts kube-apiserver's write requests by resource, but for those that are not writes of the cluster's
// objects: leases, reviews of access and of tokens, and what kube-apiserver says about APIs that come and go.
func (c metering) writes(ctx context.Context) (map[string]float64, error) {
	m, err := c.of(ctx, kubeAPIServer)
	if err != nil {
		return nil, err
	}
	counts := map[string]float64{}
	for series, value := range m {
		labels, ok := strings.CutPrefix(series, "apiserver_request_total")
		if !ok || !slices.Contains([]string{"POST", "PUT", "PATCH", "APPLY", "DELETE", "DELETECOLLECTION"}, label(labels, "verb")) {
			continue
		}
		switch resource := label(labels, "resource"); resource {
		case "leases", "subjectaccessreviews", "selfsubjectaccessreviews", "tokenreviews", "apiservices":
		default:
			counts[label(labels, "verb")+" "+resource] += value
		}
	}
	return counts, nil
}

// propagated counts the propagator's own writes by verb and kind since it was started; there are none while it does not
// run.
func (c metering) propagated(ctx context.Context) map[string]float64 {
	counts := map[string]float64{}
	m, err := c.of(ctx, propagator)
	if err != nil {
		return counts
	}
	for series, value := range m {
		if labels, ok := strings.CutPrefix(series, "hns_propagation_writes_total"); ok {
			counts[strings.TrimSpace(label(labels, "verb")+" "+label(labels, "kind"))] += value
		}
	}
	return counts
}

// since returns how many more there are than before, and which, in words.
func since(before, after map[string]float64) (n float64, which string) {
	var words []string
	for _, key := range slices.Sorted(maps.Keys(after)) {
		if more := after[key] - before[key]; more > 0 {
			n += more
			words = append(words, fmt.Sprintf("%v %s", more, key))
		}
	}
	return n, strings.Join(words, ", ")
}

// label returns the value of a label in {a="b",c="d"}, which holds no quotes.
func label(labels, name string) string {
	for _, before := range []string{"{", ","} {
		if _, rest, ok := strings.Cut(labels, before+name+`="`); ok {
			value, _, _ := strings.Cut(rest, `"`)
			return value
		}
	}
	return ""
}

// peakMemory returns the most memory that a process has had resident, in MB, since its start or the last reset.
func (c metering) peakMemory(process string) (float64, error) {
	dir, err := c.procDir(process)
	if err != nil {
		return 0, err
	}
	var kilobytes float64
	text := field(dir+"/status", "VmHWM", "")
	if _, err := fmt.Sscan(text, &kilobytes); err != nil {
		return 0, fmt.Errorf("peak memory of %s: %q: %w", process, text, err)
	}
	return kilobytes * 1024 / 1e6, nil
}

// resetPeakMemory makes the memory that a process has resident now its peak.
func (c metering) resetPeakMemory(process string) error {
	dir, err := c.procDir(process)
	if err != nil {
		return err
	}
	return os.WriteFile(dir+"/clear_refs", []byte("5"), 0) // proc(5)
}

func (c metering) procDir(process string) (string, error) {
	pid, err := os.ReadFile(filepath.Join(c.dir, process+".pid"))
	return "/proc/" + strings.TrimSpace(string(pid)), err
}
