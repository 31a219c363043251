package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// accounted runs what is measured, and says which process has spent how much processor time on it: that shows where
// time goes even where others use the machine as well. It also says how often kube-apiserver, which has the largest
// heap, has collected garbage.
func (c *cluster) accounted(ctx context.Context, name string, measure func() error) error {
	c.calm(ctx)
	collected := c.metered().collections(ctx)
	total, words, err := c.spentOn(measure, time.Duration.Seconds)
	collected = c.metered().collections(ctx) - collected
	c.sayf("%s: %.2f s of processor time: %s; %.0f garbage collections of kube-apiserver", name, total, words, collected)
	return err
}

// eachSpent runs what is measured, n times something, and returns the processor time of all processes for each in
// milliseconds. It says that of each process.
func eachSpent(ctx context.Context, c *cluster, name string, n int, measure func() error) (float64, error) {
	c.calm(ctx)
	total, words, err := c.spentOn(measure, func(spent time.Duration) float64 {
		return float64(spent) / float64(time.Millisecond) / float64(n)
	})
	c.sayf("%s: %.2f ms of processor time each: %s", name, total, words)
	return total, err
}

// spentOn runs what is measured, and returns in a unit what all processes have spent on it, and what each has in words.
func (c *cluster) spentOn(measure func() error, unit func(time.Duration) float64) (total float64, words string, err error) {
	before := c.spent()
	err = measure()
	after := c.spent()
	var each []string
	for _, process := range slices.Sorted(maps.Keys(after)) {
		// A process that was started again has begun anew.
		spent := after[process] - before[process]
		if spent < 0 {
			spent = after[process]
		}
		total += unit(spent)
		each = append(each, fmt.Sprintf("%s %.2f", process, unit(spent)))
	}
	return total, strings.Join(each, ", "), err
}

// calm collects kube-apiserver's garbage, and returns when the processes have little to do. With many objects in its
// caches, a collection takes about as long as what is measured, and whether there is one would be chance.
// kube-apiserver and the controller manager work for seconds on what an API that has come or gone means to them, which
// is neither ours nor plain writers' to pay for. It waits for half a minute at most, and not with -quick.
func (c *cluster) calm(ctx context.Context) {
	const second, little = time.Second, 100 * time.Millisecond
	if c.options.Quick {
		return
	}
	runtime.GC()
	if _, err := c.admin.kube.CoreV1().RESTClient().Get().AbsPath("/debug/pprof/heap").Param("gc", "1").DoRaw(ctx); err != nil {
		c.sayf("garbage collection of kube-apiserver: %v", err)
	}
	for range 30 {
		before := c.spent()
		time.Sleep(second)
		var total time.Duration
		for process, after := range c.spent() {
			total += after - before[process]
		}
		if total < little {
			return
		}
	}
	c.sayf("the processes have something to do all the time")
}

// spent returns the processor time that each process of the cluster, and this one, has spent.
func (c *cluster) spent() map[string]time.Duration {
	spent := map[string]time.Duration{"bench": processorTime()}
	files, _ := filepath.Glob(filepath.Join(c.dir, "*.pid"))
	for _, file := range files {
		pid, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", strings.TrimSpace(string(pid)), "stat")) //nolint:gosec // the number of a process
		if err != nil {
			continue
		}
		// The fields after the name, which is in parentheses: utime and stime are the 14th and 15th of all, in
		// hundredths of a second.
		_, rest, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(rest); len(fields) > 12 {
			user, _ := strconv.Atoi(fields[11])
			system, _ := strconv.Atoi(fields[12])
			spent[strings.TrimSuffix(filepath.Base(file), ".pid")] = time.Duration(user+system) * 10 * time.Millisecond
		}
	}
	return spent
}

// processorTime returns what this process has spent.
func processorTime() time.Duration {
	var own syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &own)
	return time.Duration(own.Utime.Nano() + own.Stime.Nano())
}
