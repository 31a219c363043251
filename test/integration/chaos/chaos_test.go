// Package chaos changes a forest through many clients while our servers crash, and compares the state in the end with
// what the clients were promised.
package chaos

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const (
	binDir = "../../../_output/bin"
	// workers is how many clients there are, each with fulls full namespaces of its own below the common roots.
	workers, fulls, roots = 8, 2, 3
	// patience limits how long a change is tried, and how long the servers have to get everything right afterwards.
	patience = 2 * time.Minute
	interval = 50 * time.Millisecond
)

// changes is how many are made in all, kills how many times a server crashes meanwhile.
func changes() int { return suite.Size(200, 1000) }
func kills() int   { return suite.Size(4, 12) }

var seed = flag.Uint64("seed", uint64(time.Now().UnixNano()), "what the changes and the crashes follow from; their timing does not")

func TestNothingIsLostWhenServersCrash(t *testing.T) {
	t.Parallel()
	t.Logf("-seed=%d", *seed)
	servers, client := start(t)
	var names []string
	for i := range roots {
		names = append(names, fmt.Sprintf("root-%d", i))
	}
	for w := range workers {
		for i := range fulls {
			names = append(names, fullName(w, i))
		}
	}
	for _, name := range names {
		if _, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}

	var made atomic.Int64
	var all []*worker
	var wg sync.WaitGroup
	for w := range workers {
		worker := newWorker(w, client, names, rand.New(rand.NewPCG(*seed, uint64(w))))
		all = append(all, worker)
		wg.Go(func() {
			for made.Add(1) <= int64(changes()) {
				if err := worker.change(t.Context()); err != nil {
					t.Errorf("worker %d: %v", w, err)
					return
				}
			}
		})
	}
	wg.Go(func() { servers.crash(t, &made, rand.New(rand.NewPCG(*seed, workers))) })
	begin := time.Now()
	wg.Wait()
	promised := newPromise(names)
	for _, worker := range all {
		promised.add(worker)
		t.Log(worker)
	}
	t.Logf("made in %s; %s", time.Since(begin).Round(time.Second), retries(all))
	if t.Failed() {
		return
	}

	begin = time.Now()
	converged(t, client, promised)
	t.Logf("right after %s", time.Since(begin).Round(100*time.Millisecond))

	// Once more, with everything right. What is written afterwards are the copies of one new binding, and nothing else.
	servers.restart(t, apiServer, steady)
	key := types.NamespacedName{Namespace: names[0], Name: "the-last"}
	promised.bindings[key] = binding{Role: "view", Subject: "somebody", Note: "last"}
	if _, err := client.RbacV1().RoleBindings(key.Namespace).Create(t.Context(), promised.bindings[key].object(key), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	converged(t, client, promised)
	copies := map[string]int{}
	if n := len(promised.trees().Descendants(key.Namespace)); n > 0 {
		copies[`kind="RoleBinding",result="done",verb="create"`] = n
	}
	// A write is counted a little after it can be seen.
	writes := servers.writes(t)
	for end := time.Now().Add(patience); !maps.Equal(writes, copies) && time.Now().Before(end); writes = servers.writes(t) {
		time.Sleep(interval)
	}
	if !maps.Equal(writes, copies) {
		t.Errorf("a propagator that was restarted when all was right wrote %v, want the copies of one binding only: %v", writes, copies)
	}
}

// converged returns when the state equals what was promised, and fails with the differences if it doesn't come to that.
func converged(t *testing.T, client *clients, promised *promise) {
	t.Helper()
	begin := time.Now()
	reported := begin
	for {
		var mismatches []string
		if found, err := observe(t.Context(), client); err != nil {
			mismatches = []string{err.Error()}
		} else {
			mismatches = promised.compare(found)
		}
		if len(mismatches) == 0 {
			return
		}
		if time.Since(begin) > patience {
			t.Fatalf("%d mismatches after %s, such as\n%s", len(mismatches), patience, strings.Join(mismatches[:min(len(mismatches), 40)], "\n"))
		}
		if time.Since(reported) > 10*time.Second {
			reported = time.Now()
			t.Logf("%d mismatches after %s, such as %s", len(mismatches), time.Since(begin).Round(time.Second), mismatches[0])
		}
		time.Sleep(10 * interval)
	}
}

// start runs a control plane and our servers on it until the test ends.
func start(t *testing.T) (*crashing, *clients) {
	t.Helper()
	dir, err := os.MkdirTemp("", "chaos")
	if err != nil {
		t.Fatal(err)
	}
	cp, err := controlplane.Start(t.Context(), controlplane.Config{Dir: dir, BinDir: binDir, UnsafeNoFsync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := cp.KillAll(context.WithoutCancel(t.Context()))
		if t.Failed() {
			t.Logf("the servers' logs are in %s", dir)
		} else {
			err = errors.Join(err, os.RemoveAll(dir))
		}
		if err != nil {
			t.Error(err)
		}
	})
	installation, err := cp.Install(t.Context(), "../../../artifacts/dev", "../../../artifacts/policies")
	if err != nil {
		t.Fatal(err)
	}
	client, err := newClients(cp.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	servers := &crashing{cp: cp, installation: installation}
	for _, server := range []controlplane.Server{apiServer, propagator} {
		if err := servers.start(t.Context(), server); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var supervisor sync.WaitGroup
	supervisor.Go(func() { servers.supervise(ctx, t) })
	t.Cleanup(func() {
		cancel()
		supervisor.Wait()
	})
	return servers, client
}
