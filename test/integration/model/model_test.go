// Package model has a user carry out random operations while the connections of our servers fail, and compares the
// cluster in the end with what a reference model says.
package model

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

var (
	seed     = flag.Uint64("seed", 0, "what the operations follow from; by default another one each time")
	first    = flag.Int("round", 0, "the first round: with the seed, the one that has failed")
	duration = flag.Duration("duration", 0, "for how long rounds begin; by default one round, or five with -long")
	calm     = flag.Bool("calm", false, "inject no faults")
	search   = flag.Duration("search", 0, "for how long a smaller list of operations that fails is searched; by default 3m, or 20m with -long")
)

// length is the number of operations of a round, and longest the time after which it ends on a slow machine.
func length() int            { return suite.Size(60, 120) }
func longest() time.Duration { return time.Duration(suite.Size(25, 300)) * time.Second }

func TestModelOfRandomOperationsWithFaults(t *testing.T) {
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed=%d", *seed)
	c := startCluster(t, *seed)
	begin := time.Now()
	for round := *first; round < *first+suite.Size(1, 5) || time.Since(begin) < *duration; round++ {
		list := (&generator{Rand: rand.New(rand.NewPCG(*seed, uint64(round))), fulls: 6, subs: 4}).operations(length())
		err := c.run(t, fmt.Sprintf("r%d-", round), list)
		if err == nil {
			continue
		}
		t.Errorf("-seed=%d -round=%d: %v", *seed, round, err)
		tries := 0
		least := shrink(list, time.Now().Add(searchTime()), func(part []operation) bool {
			tries++
			return c.run(t, fmt.Sprintf("t%d-", tries), part) != nil
		})
		t.Fatalf("%d of %d operations fail, too:\n%s", len(least), len(list), text(least))
	}
	t.Logf("faults:\n%s", strings.Join(c.injected(), "\n"))
}

func searchTime() time.Duration {
	return cmp.Or(*search, time.Duration(suite.Size(3, 20))*time.Minute)
}

// run carries out operations in namespaces with a prefix, and returns an error if the cluster does not match the model
// in the end.
func (c *cluster) run(t *testing.T, prefix string, list []operation) (err error) {
	ctx := t.Context()
	user := newClient(c.admin, prefix)
	w := &world{map[string]space{}, map[key]source{}, map[string]mode{configMaps: {name: "Propagate"}, roles: {name: "Propagate"}, roleBindings: {name: "Propagate"}}}
	if err := user.configure(ctx, configMaps, w.modes[configMaps]); err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(*seed, 1<<32))
	disturbed, stop := context.WithCancel(ctx)
	var disturbing sync.WaitGroup
	if !*calm {
		disturbing.Go(func() { c.disturb(disturbed, random) })
	}
	defer func() {
		stop()
		disturbing.Wait()
		err = errors.Join(err, user.clear(ctx, w))
	}()
	d := newDoubt()
	begin, accepted := time.Now(), 0
	for i, o := range list {
		if time.Since(begin) > longest() {
			list = list[:i]
			break
		}
		before := w.clone()
		if o.verb == await {
			err = user.matches(ctx, w, d)
			d = newDoubt()
		} else {
			err = user.apply(ctx, w, o)
		}
		if err != nil {
			return fmt.Errorf("operation %d: %w", i, err)
		}
		if !before.equal(w) {
			accepted++
		}
		d.note(w)
	}
	stop()
	disturbing.Wait()
	done := time.Now()
	if err := user.matches(ctx, w, d); err != nil {
		return err
	}
	t.Logf("%s %d operations, %d of which changed something, in %s, %d requests repeated; matches %s after the last fault: %d namespaces, %d objects, %d copies; %s",
		prefix, len(list), accepted, done.Sub(begin).Round(time.Second), user.retried, time.Since(done).Round(100*time.Millisecond), len(w.spaces), len(w.objects), len(w.copies()), user.overwritten())
	return nil
}

// matches returns when the cluster matches the model. What doubt covers and is not there any more is removed from the
// model: a record must contain it.
func (c *client) matches(ctx context.Context, w *world, d *doubt) error {
	var last *found
	if err := poll(ctx, func() error {
		f, err := c.observe(ctx)
		if err != nil {
			return err
		}
		if lines := f.compare(w, d); len(lines) > 0 {
			return fmt.Errorf("%d differences:\n%s", len(lines), strings.Join(lines, "\n"))
		}
		last = f
		return nil
	}); err != nil {
		return err
	}
	var errs []error
	for k, s := range w.objects {
		if u := last.objects[k]; u == nil || isCopy(u) {
			if !d.consistent[k] {
				c.doubtful++
			}
			f, err := c.fateOf(ctx, k, s)
			errs = append(errs, err)
			c.fates[f]++
			delete(w.objects, k)
		}
	}
	return errors.Join(errs...)
}

// clear deletes the namespaces of a world, and returns when they are gone.
func (c *client) clear(ctx context.Context, w *world) error {
	for name, s := range w.spaces {
		if s.parent == "" || !s.sub {
			if err := c.hierarchy(ctx, operation{verb: setCascading, space: name}, "allowCascadingDeletion", true); err != nil {
				return fmt.Errorf("clearing: %w", err)
			}
		}
	}
	var names []string
	for name := range w.spaces {
		names = append(names, name)
	}
	return poll(ctx, func() error {
		for name, s := range w.spaces {
			if !s.sub && c.exists(ctx, c.full(name)) {
				if err := c.request(ctx, &world{}, operation{verb: deleteNamespace, space: name}); err != nil {
					return err
				}
			}
		}
		return c.still(ctx, names...)
	})
}
