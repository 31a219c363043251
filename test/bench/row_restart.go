package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"k8s.io/client-go/rest"
)

// limit of the memory of each server.
const megabytes = 250

// measureRestart fills the whole forest with copies, and restarts each server.
func measureRestart(ctx context.Context, b *bench) error {
	if err := b.wholeForest(ctx); err != nil {
		return err
	}
	probe := plan("probe", "wide", 11)
	if err := b.createNamespaces(ctx, probe.names); err != nil {
		return err
	}
	if _, err := b.setParents(ctx, probe, 0); err != nil {
		return err
	}
	if err := b.populate(ctx); err != nil {
		return err
	}
	for _, server := range []struct {
		name   string
		change func(context.Context, *bench, tree, int) (*observation, func(context.Context) error, error)
	}{{propagator, changedSource}, {apiserver, changedParent}} {
		if err := (restarts{b}).restart(ctx, server.name, probe, server.change); err != nil {
			return fmt.Errorf("%s: %w", server.name, err)
		}
	}
	root := b.forest.root()
	descendants, err := b.below(ctx, root)
	if err != nil {
		return err
	}
	if err := (propagation{b.full()}).verifyCopies(ctx, root, descendants); err != nil {
		return err
	}
	restarted, err := restarts{b}.memory()
	if err != nil {
		return err
	}
	var errs []error
	for _, server := range []string{propagator, apiserver} {
		peak := series{values: []float64{max(b.filled[server], restarted[server])}}
		note := fmt.Sprintf("peak RSS: %.0f while the copies were written, %.0f since the last restart", b.filled[server], restarted[server])
		errs = append(errs, b.report("memory-"+server, "MB", b.forest.len(), peak, valueAtMost(megabytes), note))
	}
	return errors.Join(errs...)
}

// restarts measures servers that are started again.
type restarts struct{ *bench }

// memory returns the most that each of our servers has had resident, in MB.
func (b restarts) memory() (map[string]float64, error) {
	peaks := map[string]float64{}
	var errs []error
	for _, server := range []string{propagator, apiserver} {
		var err error
		peaks[server], err = b.metered().peakMemory(server)
		errs = append(errs, err)
	}
	return peaks, errors.Join(errs...)
}

// restart measures what a server writes after a restart, and how long a change takes that is made then.
func (b restarts) restart(ctx context.Context, server string, probe tree,
	change func(context.Context, *bench, tree, int) (*observation, func(context.Context) error, error),
) error {
	var writes, ready, arrival series
	which := ""
	err := b.each(func(round int) error {
		// Requests are counted once they are answered, which is after a watch has delivered what they write.
		if err := b.metered().idle(ctx); err != nil {
			return err
		}
		before, err := b.metered().writes(ctx)
		if err != nil {
			return err
		}
		if err := b.again(ctx, server); err != nil {
			return err
		}
		if err := b.metered().idle(ctx); err != nil {
			return err
		}
		after, err := b.metered().writes(ctx)
		if err != nil {
			return err
		}
		n, written := since(before, after)
		writes.values = append(writes.values, n)
		if n > 0 {
			which = written
		}

		list, err := b.listOnce(ctx)
		if err != nil {
			return err
		}
		observed, ask, err := change(ctx, b.bench, probe, round)
		if err != nil {
			return err
		}
		if err := b.cp.StopProcess(ctx, server); err != nil {
			return err
		}
		begun := time.Now()
		if _, err := b.start(ctx, server); err != nil {
			return err
		}
		ready.add(time.Since(begun).Seconds(), 0)
		// It runs already, so there is nothing to wait for first.
		return profiler(b).profile(ctx, "restart-"+server, func() error {
			if err := until(ctx, b.Timeout, ask); err != nil {
				return err
			}
			took, err := b.waitAll(ctx, begun, []*observation{observed})
			arrival.add(took.Seconds(), list.Seconds())
			return err
		})
	})
	if err != nil {
		return err
	}
	note := fmt.Sprintf("from the start of the process; raw is the time to list namespaces, hierarchies and %s once", b.Kinds)
	return errors.Join(
		b.report("restart-"+server+"-writes", "writes", b.forest.len(), writes, valueAtMost(0), which),
		b.report("restart-"+server+"-ready", "s", b.forest.len(), ready, valueAtMost(3), "from the start of the process"),
		b.report("restart-"+server+"-change", "s", b.forest.len(), arrival, ratioAtMost(1.5), note))
}

// again stops a server and starts it.
func (b restarts) again(ctx context.Context, server string) error {
	if err := b.cp.StopProcess(ctx, server); err != nil {
		return err
	}
	_, err := b.start(ctx, server)
	return err
}

// changedSource returns how to change a source in the probe's root, and the observation of its copies.
func changedSource(ctx context.Context, b *bench, probe tree, round int) (*observation, func(context.Context) error, error) {
	k, value := b.kinds()[0], fmt.Sprint("restart", round)
	o, err := b.observeCopies(ctx, k, probe.root(), value, probe.len()-1)
	return o, func(ctx context.Context) error { return k.create(ctx, b.kube, k.named(probe.root(), value, value)) }, err
}

// changedParent returns how to move a leaf of the probe below another leaf, and the observation of its labels.
func changedParent(ctx context.Context, b *bench, probe tree, round int) (*observation, func(context.Context) error, error) {
	leaf, parent := probe.names[1], probe.names[2+round%(probe.len()-2)]
	o, err := b.observeLabels(ctx, map[string]chain{leaf: {leaf, parent, probe.root()}})
	return o, func(ctx context.Context) error { return b.changeParent(ctx, leaf, parent) }, err
}

// listOnce returns how long it takes to read all that the servers have to know, as they read it, without decoding it.
func (b restarts) listOnce(ctx context.Context) (time.Duration, error) {
	paths := []string{path(namespacesResource, ""), path(hierarchiesResource, "")}
	for _, k := range b.kinds() {
		paths = append(paths, path(k.GroupVersionResource, ""))
	}
	begun := time.Now()
	for _, path := range paths {
		// In protobuf, unless the server has JSON only.
		if _, err := read(ctx, b.kube.CoreV1().RESTClient(), path+"?resourceVersion=0"); err != nil {
			return 0, err
		}
	}
	return time.Since(begun), nil
}

// readJSON returns the bytes that the API server answers a GET with, in JSON.
func (b *bench) readJSON(ctx context.Context, uri string) ([]byte, error) {
	return read(ctx, b.hierarchy.HncV1beta1().RESTClient(), uri)
}

func read(ctx context.Context, client rest.Interface, uri string) ([]byte, error) {
	body, err := client.Get().RequestURI(uri).Stream(ctx)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return io.ReadAll(body)
}
