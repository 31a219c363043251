package main

import (
	"context"
)

func measureResident(ctx context.Context, b *bench) error { return b.populate(ctx) }

// populate gives each namespace of the whole forest ten copies, which stay there for all further rows.
func (b *bench) populate(ctx context.Context) error {
	if err := b.wholeForest(ctx); err != nil || b.filled != nil {
		return err
	}
	full := b.full()
	root := b.forest.root()
	descendants, err := b.below(ctx, root)
	if err != nil {
		return err
	}
	n := len(b.kinds()) * full.Objects * len(descendants)
	b.sayf("writing %d copies", n)
	took, err := propagation{full}.copied(ctx, root, "resident", "resident", descendants)
	if err != nil {
		return err
	}
	if b.filled, err = (restarts{b}).memory(); err != nil {
		return err
	}
	if err := (propagation{full}).verifyCopies(ctx, root, descendants); err != nil {
		return err
	}
	return b.report("resident", "copies/s", n, series{values: []float64{float64(n) / took.Seconds()}}, none,
		"sources in the root of the whole forest; the copies stay for the rows below")
}

// full is the bench with ten sources of each kind: 100 000 copies at 10 000 namespaces.
func (b *bench) full() *bench {
	full := *b
	full.Objects = b.pick(10, 2)
	return &full
}
