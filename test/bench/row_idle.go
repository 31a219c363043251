package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// measureEmpty measures the memory of both servers before there is a tree.
func measureEmpty(ctx context.Context, b *bench) error {
	if err := b.up(ctx); err != nil {
		return err
	}
	memory, err := b.resident(ctx)
	if err != nil {
		return err
	}
	return b.report("empty-memory", "MB", 1, memory, valueAtMost(110), "both servers together")
}

// measureIdle measures both servers in a tenth of the forest when nothing changes: their memory and processor time, and
// the command that prints the tree.
func measureIdle(ctx context.Context, b *bench) error {
	if err := b.forestOf(ctx, b.part()); err != nil {
		return err
	}
	memory, err := b.resident(ctx)
	if err != nil {
		return err
	}
	spent := map[string]*series{propagator: {}, apiserver: {}}
	err = b.each(func(int) error {
		before, begun := b.spent(), time.Now()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(b.pick(60, 5)) * time.Second):
		}
		after, elapsed := b.spent(), time.Since(begun)
		for server, s := range spent {
			_, ran := before[server]
			if _, runs := after[server]; !ran || !runs {
				return fmt.Errorf("the processor time of %s cannot be read", server)
			}
			s.values = append(s.values, 100*float64(after[server]-before[server])/float64(elapsed))
		}
		return nil
	})
	if err != nil {
		return err
	}
	command, err := b.command(ctx)
	if err != nil {
		return err
	}
	n := b.forestSize
	return errors.Join(
		b.report("idle-memory", "MB", n, memory, none, "both servers together"),
		b.report("idle-cpu-"+propagator, "%", n, *spent[propagator], valueAtMost(0.5), "of one processor"),
		b.report("idle-cpu-"+apiserver, "%", n, *spent[apiserver], valueAtMost(0.5), "of one processor"),
		b.report("idle-command", "ms", n, command, ratioAtMost(1.3), "kubectl hns tree; raw is kubectl get namespaces for the same tree"))
}

// resident returns the memory that both servers have resident together when they are idle, in MB.
func (b *bench) resident(ctx context.Context) (s series, err error) {
	if err := b.metered().idle(ctx); err != nil {
		return s, err
	}
	b.calm(ctx)
	total := 0.0
	for _, server := range []string{propagator, apiserver} {
		if err := b.metered().resetPeakMemory(server); err != nil {
			return s, err
		}
		now, err := b.metered().peakMemory(server)
		if err != nil {
			return s, err
		}
		total += now
	}
	s.values = append(s.values, total)
	return s, nil
}

// command returns the median time of processes that print the tree, and of those that list its namespaces.
func (b *bench) command(ctx context.Context) (s series, err error) {
	bin, err := filepath.Abs(filepath.Join(b.Root, "_output/bin"))
	if err != nil {
		return s, err
	}
	root := b.forest.root()
	timed := func(args ...string) (time.Duration, error) {
		cmd := exec.CommandContext(ctx, filepath.Join(bin, "kubectl"), args...)
		// Discovery is cached below the home directory.
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+b.dir, "KUBECONFIG="+b.cp.Kubeconfig())
		begun := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("%v: %w: %.200s", args, err, out)
		}
		return time.Since(begun), nil
	}
	n := b.pick(20, 2)
	err = b.each(func(int) error {
		ours, err := repeat(n, func(int) (time.Duration, error) { return timed("hns", "tree", root) })
		if err != nil {
			return err
		}
		plain, err := repeat(n, func(int) (time.Duration, error) { return timed("get", "namespaces", "-l", hnc.TreeLabel(root)) })
		s.add(ours, plain)
		return err
	})
	return s, err
}
