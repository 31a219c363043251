package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
)

// shards is how many propagators share the trees in one part of the simulation.
const shards = 4

// measureDecide holds a cache of the cluster in memory, as the propagator does, and decides about all of it, at three
// sizes: in many trees and in one; and once what one of several propagators would have that share the trees by their
// roots.
func measureDecide(ctx context.Context, b *bench) error {
	n := b.pick(100_000, 2000)
	var errs []error
	for _, size := range []int{n / 100, n / 10, n} {
		errs = append(errs,
			b.simulate(ctx, "trees", size, max(size/treeSize, 1), 1),
			b.simulate(ctx, "onetree", size, 1, 1))
	}
	return errors.Join(append(errs, b.simulate(ctx, "shard", n, n/treeSize, shards))...)
}

// simulate measures one shape of forest. Of several parts the simulated propagator has the copies of one.
func (b *bench) simulate(ctx context.Context, shape string, size, trees, parts int) error {
	measured := map[string]*series{}
	copied := 0
	err := b.each(func(int) error {
		before := heap()
		s := newSimulation(size, trees, parts)
		steps := []step{{"read", "s", s.read}, {"enter", "s", s.enter}}
		if err := measureSteps(ctx, measured, steps); err != nil {
			return err
		}
		s.listed = nil
		add(measured, "memory", float64(heap()-before)/1e6)
		copied = s.copies
		steps = []step{
			{"all", "s", s.decideAll}, {"change", "ms", s.changeOne}, {"leaf", "µs", s.addLeaves}, {"move", "ms", s.move},
		}
		if parts > 1 {
			steps = append(steps, step{"takeover", "s", s.takeOver})
		}
		err := measureSteps(ctx, measured, steps)
		runtime.KeepAlive(s)
		return err
	})
	if err != nil {
		return err
	}
	note := fmt.Sprintf("%d namespaces in %d trees, %d copies", size, trees, copied)
	if parts > 1 {
		note += fmt.Sprintf("; one of %d propagators that share the trees", parts)
	}
	var errs []error
	for _, m := range []struct{ name, unit, about string }{
		{"read", "s", "turning what the API server lists into records, without any lock"},
		{"enter", "s", "entering the records, and finding the ancestors of all namespaces"},
		{"memory", "MB", "heap of the cache"},
		{"all", "s", "deciding about everything once, as after a restart"},
		{"change", "ms", fmt.Sprintf("deciding about the %d copies of a changed source", size/trees-1)},
		{"leaf", "µs", "deciding about a new leaf"},
		{"move", "ms", fmt.Sprintf("deciding about a subtree of %d that moves", subtreeOf(size))},
		{"takeover", "s", "reading, entering and deciding about the trees of another shard"},
	} {
		if s := measured[m.name]; s != nil {
			errs = append(errs, b.report(fmt.Sprintf("decide-%s-%s-%d", shape, m.name, size), m.unit, size, *s, none, m.about, "; ", note))
		}
	}
	return errors.Join(errs...)
}

// step is one part of a simulation. It returns how often it has done what is timed.
type step struct {
	name, unit string
	do         func() (times int, err error)
}

func measureSteps(ctx context.Context, measured map[string]*series, steps []step) error {
	perSecond := map[string]float64{"s": 1, "ms": 1e3, "µs": 1e6}
	for _, s := range steps {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		// What the step before has left behind is not this one's.
		runtime.GC()
		begun := processorTime()
		times, err := s.do()
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		add(measured, s.name, (processorTime()-begun).Seconds()*perSecond[s.unit]/float64(times))
	}
	return nil
}

func add(measured map[string]*series, name string, value float64) {
	if measured[name] == nil {
		measured[name] = &series{}
	}
	measured[name].values = append(measured[name].values, value)
}

// heap returns the bytes in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
