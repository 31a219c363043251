package model

import (
	"cmp"
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

var (
	soak     = flag.Duration("soak", 20*time.Second, "for how long a forest of -namespaces is changed under faults")
	soakSize = flag.Int("namespaces", 0, "the number of namespaces of the soak; by default 2000, or few if it is short")
	samples  = flag.String("samples", "", "the file for what is sampled during the soak")
)

const (
	// churners are the users of the soak, each with namespaces of its own.
	churners = 4
	// pause is the time between two operations of a user, sampling between two samples.
	pause, sampling = 100 * time.Millisecond, 5 * time.Second
	// watchers are clients that watch all hierarchies: in one of three minutes they read, in another one they read
	// nothing, and in the third there are none.
	watchers = 20
)

// churner is a user who changes a part of the forest.
type churner struct {
	*client
	*generator
	world *world
	doubt *doubt
	// took is how long each operation took.
	mu   sync.Mutex
	took []time.Duration
}

// size is the number of namespaces of the soak.
func size() int {
	if *soak < time.Minute {
		return cmp.Or(*soakSize, 80)
	}
	return cmp.Or(*soakSize, 2000)
}

func TestSoak(t *testing.T) {
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed=%d", *seed)
	c := startCluster(t, *seed, "--etcd-compaction-interval=1m")
	users := c.churners(t)
	if t.Failed() {
		return
	}
	s := newSampler(t, c, users)
	before := s.quiet(t, "before", nil)

	churning, stop := context.WithTimeout(t.Context(), *soak)
	defer stop()
	var running sync.WaitGroup
	if !*calm {
		running.Go(func() { c.disturb(churning, rand.New(rand.NewPCG(*seed, 1<<32))) })
	}
	for _, user := range users {
		running.Go(func() {
			if err := user.churn(churning, t.Context()); err != nil {
				t.Errorf("%s %v", user.prefix, err)
			}
		})
	}
	running.Go(func() { s.run(churning) })
	running.Go(func() { s.watchAlternately(churning) })
	running.Wait()
	begin := time.Now()
	for _, user := range users {
		if err := user.matches(t.Context(), user.world, user.doubt); err != nil {
			t.Errorf("%s %v", user.prefix, err)
		}
		t.Logf("%s %d objects; %s", user.prefix, len(user.world.objects), user.overwritten())
	}
	if t.Failed() {
		s.dump(t)
	} else {
		t.Logf("zero differences %s after the last fault", time.Since(begin).Round(100*time.Millisecond))
	}
	after := s.quiet(t, "after", before)
	s.report(t, before, after)
	t.Logf("faults:\n%s", strings.Join(c.injected(), "\n"))
	if err := s.write(); err != nil {
		t.Error(err)
	}
}

// churners builds the forest: each user's part is trees in which a namespace has five children.
func (c *cluster) churners(t *testing.T) []*churner {
	t.Helper()
	var users []*churner
	var building sync.WaitGroup
	begin := time.Now()
	for i := range churners {
		user := &churner{
			client:    newClient(c.admin, fmt.Sprintf("w%d-", i)),
			generator: &generator{Rand: rand.New(rand.NewPCG(*seed, uint64(i))), fulls: size()/churners - 10, subs: 10, churn: true},
			world:     &world{map[string]space{}, map[key]source{}, map[string]mode{configMaps: {name: "Propagate"}, roles: {name: "Propagate"}, roleBindings: {name: "Propagate"}}},
			doubt:     newDoubt(),
		}
		users = append(users, user)
		if i == 0 {
			if err := user.configure(t.Context(), configMaps, user.world.modes[configMaps]); err != nil {
				t.Fatal(err)
			}
		}
		building.Go(func() {
			if err := user.build(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	building.Wait()
	for _, user := range users {
		if err := user.matches(t.Context(), user.world, user.doubt); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d namespaces, built in %s", size(), time.Since(begin).Round(time.Second))
	return users
}

func (u *churner) build(ctx context.Context) error {
	// Trees of 31 namespaces.
	const nodes, fan = 31, 5
	for i := range u.fulls {
		name := fmt.Sprintf("n%d", i)
		if err := u.apply(ctx, u.world, operation{verb: createNamespace, space: name}); err != nil {
			return err
		}
		if in := i % nodes; in > 0 {
			if err := u.apply(ctx, u.world, operation{verb: setParent, space: name, to: fmt.Sprintf("n%d", i-in+(in-1)/fan)}); err != nil {
				return err
			}
		}
	}
	for i := range u.subs {
		if err := u.apply(ctx, u.world, operation{verb: createSub, space: fmt.Sprintf("s%d", i), to: fmt.Sprintf("n%d", i)}); err != nil {
			return err
		}
	}
	u.doubt.note(u.world)
	return nil
}

// churn carries out operations until ctx ends. The last one is completed in another context: what became of it has to
// be known.
func (u *churner) churn(ctx, complete context.Context) error {
	for ctx.Err() == nil {
		o := u.operation()
		begin := time.Now()
		if err := u.apply(complete, u.world, o); err != nil {
			return fmt.Errorf("%s: %w", o, err)
		}
		u.doubt.note(u.world)
		if o.verb != deleteNamespace && o.verb != deleteSub {
			u.mu.Lock()
			u.took = append(u.took, time.Since(begin))
			u.mu.Unlock()
		}
		_ = wait.PollUntilContextTimeout(ctx, pause, pause, false, func(context.Context) (bool, error) { return true, nil })
	}
	return nil
}

// latencies returns how many operations there were since it was called last, and the median in milliseconds.
func latencies(users []*churner) (n int, median float64) {
	var all []time.Duration
	for _, u := range users {
		u.mu.Lock()
		all = append(all, u.took...)
		u.took = nil
		u.mu.Unlock()
	}
	if len(all) == 0 {
		return 0, 0
	}
	slices.Sort(all)
	return len(all), float64(all[len(all)/2].Microseconds()) / 1000
}

// write writes the samples to the file that the flag names.
func (s *sampler) write() error {
	if *samples == "" {
		return nil
	}
	f, err := os.Create(*samples)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	if err := w.Write(columns); err != nil {
		return err
	}
	for _, row := range s.rows {
		var fields []string
		for _, column := range columns {
			fields = append(fields, fmt.Sprintf("%.6g", row[column]))
		}
		if err := w.Write(fields); err != nil {
			return err
		}
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	return f.Close()
}
