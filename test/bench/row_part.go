package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// measurePart writes objects that have nothing to do with us while more and more of us is there. Every other round
// begins with everything and ends with nothing, so that none of the states is always the last.
func measurePart(ctx context.Context, b *bench) error {
	states := []struct {
		name  string
		enter func(context.Context) error
	}{
		{"", b.uninstalled},
		{"part-policies", parts{b}.policies},
		{"part-apiserver", parts{b}.apiServer},
		{"part-everything", parts{b}.everything},
		{"part-watches", parts{b}.watches},
	}
	names := make([]string, writers)
	for i := range names {
		names[i] = fmt.Sprintf("part-%02d", i)
	}
	if err := b.createNamespaces(ctx, names); err != nil {
		return err
	}
	k, n := b.kinds()[0], b.pick(4000, 40)
	rates, costs := make([]series, len(states)), make([]series, len(states))
	err := b.each(func(round int) error {
		order := []int{0, 1, 2, 3, 4}
		if round%2 == 1 {
			slices.Reverse(order)
		}
		for _, i := range order {
			if err := states[i].enter(ctx); err != nil {
				return err
			}
			b.calm(ctx)
			before := b.spent()
			_, all, err := load(ctx, n, func(ctx context.Context, j int) error {
				return k.create(ctx, b.kube, k.named(names[j%len(names)], fmt.Sprintf("part-%d", j), fmt.Sprintf("part-%d-%d", round, i)))
			})
			if err != nil {
				return err
			}
			var spent time.Duration
			for process, after := range b.spent() {
				if after > before[process] {
					spent += after - before[process]
				}
			}
			rates[i].values = append(rates[i].values, float64(n)/all.Seconds())
			costs[i].values = append(costs[i].values, float64(spent)/float64(time.Millisecond)/float64(n))
			b.sayf("%s %d: %.0f writes/s, %.2f ms of processor time each", states[i].name, i, float64(n)/all.Seconds(), costs[i].values[len(costs[i].values)-1])
			if err := (rawWriter{b}).removeRaw(ctx, names); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, state := range states[1:] {
		rates[i+1].raws, costs[i+1].raws = rates[0].values, costs[0].values
		err = errors.Join(err,
			b.report(state.name, "writes/s", n, rates[i+1], none),
			b.report(state.name+"-cpu", "ms", n, costs[i+1], none))
	}
	return err
}

// parts runs parts of us.
type parts struct{ *bench }

func (b parts) ensureNamespaces(ctx context.Context, names ...string) error {
	for _, name := range names {
		if err := b.createNamespaces(ctx, []string{name}); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

// policies installs our policies, and stops our servers.
func (b parts) policies(ctx context.Context) error {
	if err := errors.Join(b.stopped(ctx), install(ctx, b.cluster)); err != nil {
		return err
	}
	return until(ctx, b.Timeout, b.protected)
}

// everything runs both servers. No parent has changed since the start of hns-apiserver, so only the propagator watches
// the objects.
func (b parts) everything(ctx context.Context) error {
	if err := b.stopped(ctx); err != nil {
		return err
	}
	return b.up(ctx)
}

// watches has hns-apiserver watch the objects, too, as it does after a change of a parent.
func (b parts) watches(ctx context.Context) error {
	const above, below = "part-above", "part-below"
	if err := errors.Join(b.up(ctx), b.ensureNamespaces(ctx, above, below)); err != nil {
		return err
	}
	return errors.Join(b.setParent(ctx, below, ""), b.setParent(ctx, below, above))
}

// apiServer runs hns-apiserver without the propagator.
func (b parts) apiServer(ctx context.Context) error {
	if err := errors.Join(b.stopped(ctx), install(ctx, b.cluster)); err != nil {
		return err
	}
	port, err := b.start(ctx, apiserver)
	if err != nil {
		return err
	}
	b.state = partly
	return b.cp.Register(ctx, b.installation, port)
}
