package main

import (
	"context"
	"os/exec"
)

// measurement measures a group of rows.
type measurement = func(context.Context, *bench) error

// row is a group of measurements. It may print several results.
type row struct {
	name, about string
	// cluster says that it needs a control plane.
	cluster bool
	measure measurement
}

// rows are in the order in which they are measured: growth needs the forest to be small at first, and what restart
// makes stays.
var rows = []row{
	{"decide", "deciding alone, without any server, at 100,000 namespaces", false, measureDecide},
	{"compile", "reading and compiling a repository of 1,000 namespaces, without any server", false, measureCompile},
	{"empty", "memory of both servers before there is a tree", true, measureEmpty},
	{"growth", "what one leaf and one object cost in small forests", true, measureGrowth},
	{"idle", "memory and processor time of both servers in a tenth of the forest when nothing changes, and a command", true, measureIdle},
	{"build", "building the whole forest, against labelling its namespaces", true, measureBuild},
	{"resident", "ten copies in each namespace of the whole forest, which stay for the rows below", true, measureResident},
	{"grown", "what one leaf and one object cost in the whole forest, against a tenth of it; after growth", true, measureGrown},
	{"parent", "setting a parent in the whole forest, against changing a ConfigMap", true, measureParent},
	{"tree", "reading the whole tree, against listing the namespaces", true, measureTree},
	{"page", "the page of kubectl hns ui in Chromium, with the whole forest", true, measurePage},
	{"reads", "trees, mynamespaces, lists and watches of subtrees, and plans with all copies resident, against plain lists and watches", true, measureReads},
	{"unrelated", "writes that have nothing to do with HNS, against a cluster without it", true, measureUnrelated},
	{"part", "the same while only parts of HNS are installed", true, measurePart},
	{"copies", "copying sources into new namespaces, against plain writers", true, measureCopies(ratioAtLeast(0.9))},
	{"beside", "changing ConfigMaps while sources are copied, against nothing else going on", true, measureBeside},
	{"change", "one changed source, against updating as many objects", true, measureChange(ratioAtMost(1.25))},
	{"busy-copies", "copies, while two other processes use all processor time that they get", true, busy(measureCopies(ratioAtLeast(0.95)))},
	{"busy-change", "change, while two other processes use all processor time that they get", true, busy(measureChange(ratioAtMost(1.1)))},
	{"move", "moving a subtree with its copies, against the writes that it needs", true, measureMove},
	{"subnamespace", "a sub-namespace until it can be used, against making one by hand", true, measureSubnamespace},
	{"reviews", "reviews of access that watches across subtrees need", true, measureReviews},
	{"view", "requests through a view, against the same requests without it", true, measureView},
	{"views", "what many views cost, idle and with watches", true, measureViews},
	{"cascade", "deleting a tree of sub-namespaces, against deleting as many namespaces by hand, all at once", true, measureCascade},
	{"quota", "creating objects below hierarchical quotas, against ResourceQuotas by hand", true, measureQuota},
	{"sync", "applying a repository by hns-sync, against server-side apply by as many writers", true, measureSync},
	{"size", "bytes in etcd and on the wire of what we write", true, measureSize},
	{"restart", "restart of each server in the whole forest, and its memory", true, measureRestart},
}

// busy returns what measures while two other processes use as much processor time as they get, on both sides of the
// comparison.
func busy(measure measurement) measurement {
	return func(ctx context.Context, b *bench) error {
		others, stop := context.WithCancel(ctx)
		for range 2 {
			other := exec.CommandContext(others, "sh", "-c", "while :; do :; done")
			if err := other.Start(); err != nil {
				stop()
				return err
			}
			defer func() { _ = other.Wait() }()
		}
		defer stop()
		return measure(ctx, b)
	}
}

func rowNames() []string {
	var names []string
	for _, r := range rows {
		names = append(names, r.name)
	}
	return names
}

// each runs f once for each round.
func (b *bench) each(f func(round int) error) error { return rounds(b, b.Rounds, f) }

// often runs f in three times as many rounds: for what takes little time, and differs much from round to round.
func often(b *bench, f func(round int) error) error { return rounds(b, b.Rounds*b.pick(3, 1), f) }

func rounds(b *bench, n int, f func(round int) error) error {
	for round := range n {
		b.sayf("%s, round %d of %d", b.row, round+1, n)
		if err := f(round); err != nil {
			return err
		}
	}
	return nil
}

// inTurns calls functions one after another. In each round, the next of them is the first, so that none of them profits
// from its position.
func inTurns(round int, calls ...func() error) error {
	for i := range calls {
		if err := calls[(i+round)%len(calls)](); err != nil {
			return err
		}
	}
	return nil
}

// pick returns the number for a real measurement or, with -quick, the small one.
func (b *bench) pick(many, few int) int {
	if b.Quick {
		return few
	}
	return many
}
