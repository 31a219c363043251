package chaos

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/history"
)

const (
	// clientsOfReplicas are as many clients, each of which makes a change, and rests.
	clientsOfReplicas = 4
	// The short form has longer rests: the suite runs beside others, and what it asks for shall not be what fails.
	pause, longPause = 40 * time.Millisecond, 200 * time.Millisecond
	// calm is longer than what a request takes that a fault has hit: etcd gives up after 7 s.
	calm = 10 * time.Second
	// mostElections is how many rolling restarts are not judged because members of etcd elected a leader meanwhile, as
	// they do on a busy machine.
	mostElections = 3
	// canaries is the namespace below canaryRoot whose copies show how long a fault delays propagation.
	canaries, canaryRoot = "canaries", "canary-root"
)

var duration = flag.Duration("duration", 0, "how long replicas are subjected to faults; by default, to each of them once")

var only = flag.String("faults", "", "the faults with this text in their names, instead of all")

func TestNothingIsLostWhenReplicasFail(t *testing.T) {
	if *duration == 0 && *only == "" {
		suite.OnlyLong(t)
	}
	t.Parallel()
	t.Logf("-seed=%d", *seed)
	r := startReplicas(t)
	recorded := r.record(t)
	names := []string{canaryRoot, canaries}
	for i := range roots {
		names = append(names, fmt.Sprintf("root-%d", i))
	}
	for w := range clientsOfReplicas {
		for i := range fulls {
			names = append(names, fullName(w, i))
		}
	}
	for _, name := range names {
		if _, err := r.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	promised := newPromise(names)
	promised.parents[canaries] = canaryRoot
	h := &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton}, Spec: v1beta1.HierarchySpec{Parent: canaryRoot}}
	if err := poll(t.Context(), func() error {
		_, err := r.client.hnc.HncV1beta1().Hierarchies(canaries).Create(t.Context(), h, metav1.CreateOptions{})
		return err
	}); err != nil {
		t.Fatal(err)
	}

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	load, err := newClients(r.cp.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	rest := longPause
	if *duration > 0 {
		rest = pause
	}
	var all []*worker
	var working sync.WaitGroup
	for w := range clientsOfReplicas {
		worker := newWorker(w, load, names[2:], rand.New(rand.NewPCG(*seed, uint64(w))))
		all = append(all, worker)
		working.Go(func() {
			for ctx.Err() == nil && !t.Failed() {
				// A change that has begun is completed: what became of it has to be known.
				if err := worker.change(t.Context()); err != nil {
					t.Errorf("worker %d: %v", w, err)
				}
				_ = after(ctx, rest)
			}
		})
	}
	r.stayReady(t)
	r.subject(t, promised, load, all)
	stop()
	working.Wait()
	for _, worker := range all {
		promised.add(worker)
		t.Log(worker)
	}
	t.Logf("failed requests, all of which were repeated: %s", retries(all))
	if unexpected := unretriable(all); len(unexpected) > 0 {
		t.Errorf("requests failed for reasons that no retry is for: %v", unexpected)
	}
	if t.Failed() {
		return
	}
	begin := time.Now()
	converged(t, r.client, promised)
	t.Logf("right after %s", time.Since(begin).Round(100*time.Millisecond))
	moves, cyclic := recorded.Finish(t.Context())
	if len(cyclic) > 0 {
		t.Errorf("%d revisions with cycles, such as %s", len(cyclic), cyclic[0])
	}
	if moves < len(all) {
		t.Errorf("the history contains %d moves only", moves)
	}
	t.Logf("%d moves in etcd's history, no cycle", moves)
}

// subject injects faults, one after another, and measures how long each delays writes and propagation. What was created
// is promised. load are the clients of the workers.
func (r *replicas) subject(t *testing.T, promised *promise, load *clients, workers []*worker) {
	t.Helper()
	random := rand.New(rand.NewPCG(*seed, clientsOfReplicas))
	begin := time.Now()
	elections := 0
	faults := slices.DeleteFunc(slices.Clone(injectable), func(f fault) bool { return !strings.Contains(f.name, *only) })
	for n := 0; n < len(faults) || time.Since(begin) < *duration; n++ {
		fault := faults[n%len(faults)]
		if n >= len(faults) {
			fault = faults[random.IntN(len(faults))]
		}
		if err := poll(t.Context(), func() error { return r.healthy(t.Context()) }); err != nil {
			t.Errorf("before %q: %v", fault.name, err)
			return
		}
		term := uint64(0)
		if fault.name == rolling {
			awaitFailures(t, workers)
			term = r.etcdTerm(t)
		}
		failures, refused := faulty(workers), load.refused.since(nil)
		injected := make(chan error, 1)
		start := time.Now()
		go func() { injected <- fault.inject(t.Context(), r, random) }()
		key := types.NamespacedName{Namespace: canaryRoot, Name: fmt.Sprintf("canary-%d", n)}
		promised.bindings[key] = binding{Role: "view", Subject: "canary"}
		written, propagated, err := canary(t.Context(), load, key, promised.bindings[key], start)
		if err == nil {
			err = <-injected
		}
		if err != nil {
			t.Errorf("%s: %v", fault.name, err)
			return
		}
		t.Logf("%s: hierarchy written after %s, object propagated after %s; so far failed and repeated: %s", fault.name,
			written.Round(10*time.Millisecond), propagated.Round(10*time.Millisecond), retries(workers))
		if fault.name != rolling {
			continue
		}
		t.Logf("attempts that were refused during the rolling restart: %s", listed(load.refused.since(refused)))
		if elections < mostElections && r.etcdTerm(t) != term {
			t.Log("members of etcd elected a leader during the rolling restart, which says nothing about hns-apiserver, and is repeated")
			elections++
			faults = append(faults, fault)
			continue
		}
		if more := faulty(workers) - failures; more > 0 {
			t.Errorf("%d requests failed during a rolling restart: %s", more, retries(workers))
		}
		if err := load.rollingRefusals(refused); err != nil {
			t.Errorf("attempts that client-go does not repeat were refused during a rolling restart: %v", err)
		}
	}
}

// awaitFailures returns when requests that the fault before has hit have failed.
func awaitFailures(t *testing.T, workers []*worker) {
	t.Helper()
	failures, since := faulty(workers), time.Now()
	if err := poll(t.Context(), func() error {
		if now := faulty(workers); now != failures {
			failures, since = now, time.Now()
		}
		if time.Since(since) < calm {
			return fmt.Errorf("%d requests have failed, the last one within %s", failures, calm)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// canary writes a hierarchy and a source, and returns how long after start the hierarchy was written, and the source
// was propagated.
func canary(ctx context.Context, client *clients, key types.NamespacedName, content binding, start time.Time) (written, propagated time.Duration, err error) {
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/canary":%q}}}`, key.Name)
	if err := poll(ctx, func() error {
		_, err := client.hnc.HncV1beta1().Hierarchies(canaries).Patch(ctx, hnc.Singleton, types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	}); err != nil {
		return 0, 0, err
	}
	written = time.Since(start)
	if err := poll(ctx, func() error {
		_, err := client.RbacV1().RoleBindings(key.Namespace).Create(ctx, content.object(key), metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	}); err != nil {
		return 0, 0, err
	}
	err = poll(ctx, func() error {
		_, err := client.RbacV1().RoleBindings(canaries).Get(ctx, key.Name, metav1.GetOptions{})
		return err
	})
	return written, time.Since(start), err
}

// etcdClient returns a client of all members of etcd.
func (r *replicas) etcdClient() (*clientv3.Client, error) {
	tls, err := r.etcd.TLS()
	if err != nil {
		return nil, err
	}
	return clientv3.New(clientv3.Config{Endpoints: r.etcd.Endpoints, TLS: tls, Logger: zap.NewNop()})
}

// etcdLeader returns the process of the member that leads.
func (r *replicas) etcdLeader(ctx context.Context) (process string, err error) {
	client, err := r.etcdClient()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	for i, endpoint := range r.etcd.Endpoints {
		status, err := client.Status(ctx, endpoint)
		if err != nil {
			return "", err
		}
		if status.Leader == status.Header.MemberId {
			return r.members[i].Process, nil
		}
	}
	return "", errors.New("no member of etcd leads")
}

// etcdTerm returns the highest of the members' terms, each of which begins with an election.
func (r *replicas) etcdTerm(t *testing.T) (term uint64) {
	t.Helper()
	client, err := r.etcdClient()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	for _, endpoint := range r.etcd.Endpoints {
		status, err := client.Status(t.Context(), endpoint)
		if err != nil {
			t.Fatal(err)
		}
		term = max(term, status.RaftTerm)
	}
	return term
}

// record replays etcd's history from now on.
func (r *replicas) record(t *testing.T) *history.History {
	t.Helper()
	client, err := r.etcdClient()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return history.Record(t, client, path.Join(controlplane.EtcdPrefix, hnc.GroupName))
}
