package reposync

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/testutil"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/fake"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/git"
)

// TestAStuckWorkerHoldsNoOtherSync has workers of a changed and of a deleted RepositorySync that do not end.
func TestAStuckWorkerHoldsNoOtherSync(t *testing.T) {
	ctx := t.Context()
	paused := func(name string) *v1alpha3.RepositorySync {
		return &v1alpha3.RepositorySync{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha3.RepositorySyncSpec{Paused: true}}
	}
	client := fake.NewClientset(paused("changed"), paused("other"))
	syncs := client.HncV1alpha3().RepositorySyncs()
	m := NewManager(Config{
		Client: &rest.Config{Host: "http://127.0.0.1:1"}, Hierarchy: client, Events: record.NewFakeRecorder(100),
		Metrics: NewMetrics(func(...metrics.Registerable) {}), MaxRepositoryBytes: 1 << 20,
	})
	reconcile := func(name string) {
		t.Helper()
		done := make(chan error, 1)
		go func() { done <- m.reconcile(ctx, name) }()
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%s holds all others", name)
		}
	}
	stuck := map[string]*running{}
	for _, name := range []string{"changed", "deleted"} {
		canceled := false
		stuck[name] = &running{cancel: func() { canceled = true }, done: make(chan struct{})}
		m.workers[name] = stuck[name]
		reconcile(name)
		reconcile(name)
		if !canceled || m.workers[name] != stuck[name] {
			t.Errorf("%s: canceled: %t; another worker runs beside the one that has not ended: %t", name, canceled, m.workers[name] != stuck[name])
		}
	}
	reconcile("other")
	other := m.workers["other"]
	if other == nil {
		t.Fatal("the other RepositorySync has no worker")
	}
	reconcile("other")
	if m.workers["other"] != other || other.ended() {
		t.Error("an unchanged RepositorySync gets another worker")
	}

	// A worker that ends leads to the next one.
	for name, worker := range stuck {
		close(worker.done)
		reconcile(name)
	}
	if next := m.workers["changed"]; next == nil || next == stuck["changed"] || !next.spec.Paused {
		t.Error("the changed RepositorySync has no new worker")
	}
	if m.workers["deleted"] != nil {
		t.Error("the deleted RepositorySync has a worker")
	}
	if err := syncs.Delete(ctx, "other", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	reconcile("other")
	select {
	case <-other.done:
	case <-time.After(30 * time.Second):
		t.Fatal("the worker does not end")
	}
	for deadline := time.Now().Add(30 * time.Second); m.queue.Len() == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nothing is done after the end of the worker")
		}
	}
	if name, _ := m.queue.Get(); name != "other" {
		t.Errorf("got %s", name)
	}
	reconcile("other")
	if m.workers["other"] != nil {
		t.Error("the deleted RepositorySync has a worker")
	}

	m.stopAll()
	for name, worker := range m.workers {
		if !worker.ended() {
			t.Errorf("%s runs", name)
		}
	}
}

// A RepositorySync that changes does not lose its memory to others before it has read its repository again.
func TestAChangedSyncKeepsItsMemory(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*v1alpha3.RepositorySync)
		kept   bool
	}{
		"another source":              {func(s *v1alpha3.RepositorySync) { s.Spec.Source.URL = "file:///other" }, true},
		"another account":             {func(s *v1alpha3.RepositorySync) { s.Spec.ServiceAccount.Name = "other" }, false},
		"it is paused":                {func(s *v1alpha3.RepositorySync) { s.Spec.Paused = true }, false},
		"another object of that name": {func(s *v1alpha3.RepositorySync) { s.UID = "other" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := &v1alpha3.RepositorySync{ObjectMeta: metav1.ObjectMeta{Name: "policy", UID: "u"}, Spec: v1alpha3.RepositorySyncSpec{
				Source: v1alpha3.RepositorySource{URL: "file:///none"}, ServiceAccount: v1alpha3.ServiceAccountReference{Name: "account"},
			}}
			account := s.Spec.ServiceAccount
			old := &running{uid: s.UID, spec: s.Spec, done: make(chan struct{})}
			close(old.done)
			test.change(s)
			client := fake.NewClientset(s)
			m := NewManager(Config{
				Client: &rest.Config{Host: "http://127.0.0.1:1"}, Hierarchy: client, Events: record.NewFakeRecorder(100),
				Metrics: NewMetrics(func(...metrics.Registerable) {}), MaxRepositoryBytes: 1 << 20,
			})
			m.memory = newSpace(400)
			old.kept = share{of: m.memory, account: account, keptSince: time.Now()}
			if err := old.kept.take(100, nil); err != nil {
				t.Fatal(err)
			}
			m.workers[s.Name] = old
			if err := m.reconcile(t.Context(), s.Name); err != nil {
				t.Fatal(err)
			}
			m.memory.mu.Lock()
			taken := m.memory.taken[account]
			m.memory.mu.Unlock()
			if (taken == 100) != test.kept || !test.kept && taken != 0 {
				t.Errorf("%d bytes are kept", taken)
			}

			next := m.workers[s.Name]
			next.cancel()
			select {
			case <-next.done:
			case <-time.After(30 * time.Second):
				t.Fatal("the worker does not end")
			}
			if (next.kept.bytes == 100) != test.kept {
				t.Errorf("the worker after that would keep %d bytes", next.kept.bytes)
			}
			if err := client.HncV1alpha3().RepositorySyncs().Delete(t.Context(), s.Name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			if err := m.reconcile(t.Context(), s.Name); err != nil {
				t.Fatal(err)
			}
			if len(m.memory.taken) > 0 || len(m.workers) > 0 {
				t.Errorf("after the deletion, %v is taken", m.memory.taken)
			}
		})
	}
}

// Starting may fail for all RepositorySyncs of a cluster.
func TestFailuresOfOneSyncDelayNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewManager(Config{MaxRepositoryBytes: 1 << 20})
		defer m.queue.ShutDown()
		begin := time.Now()
		for i := range 5000 {
			m.queue.AddRateLimited(strconv.Itoa(i))
		}
		m.queue.AddRateLimited("other")
		for name, _ := m.queue.Get(); name != "other"; name, _ = m.queue.Get() {
			m.queue.Done(name)
		}
		if waited := time.Since(begin); waited > 2*minRetry {
			t.Errorf("it has waited for %s", waited)
		}
	})
}

// Without leader election there is no metric of it.
func TestAMetricSaysThatAReplicaWorks(t *testing.T) {
	registry := metrics.NewKubeRegistry()
	m := NewManager(Config{Hierarchy: fake.NewClientset(), Metrics: NewMetrics(registry.MustRegister), MaxRepositoryBytes: 1 << 20})
	expect := func(want float64) {
		t.Helper()
		if got, err := testutil.GetGaugeMetricValue(m.Metrics.leading); err != nil || got != want {
			t.Errorf("got %v and %v, want %v", got, err, want)
		}
	}
	expect(0)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.Run(ctx)
	}()
	for deadline := time.Now().Add(30 * time.Second); m.Synced() != nil; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not work")
		}
	}
	expect(1)
	cancel()
	<-done
	expect(0)
}

// All workers share the budget of the manager, and one that finds nothing left of it reads again soon.
func TestAWorkerWithoutSpaceReadsAgainSoon(t *testing.T) {
	m := NewManager(Config{Client: &rest.Config{Host: "http://127.0.0.1:1"}, Scratch: t.TempDir(), MaxRepositoryBytes: 1 << 20})
	m.scratch = git.NewBudget(0)
	interval := hnc.Duration{Duration: time.Hour}
	w, err := newWorker(m, &v1alpha3.RepositorySync{Spec: v1alpha3.RepositorySyncSpec{
		Interval: &interval, Source: v1alpha3.RepositorySource{URL: "https://127.0.0.1:1/policy", Commit: strings.Repeat("a", 40)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if done := w.synchronize(t.Context(), true); !errors.Is(done.sourceError, git.ErrBudget) {
		t.Fatalf("got %v", done.sourceError)
	}
	if got := w.interval(); got < minRetry || got > (1+crowdedJitter)*minRetry {
		t.Errorf("without space: got %s", got)
	}
	m.scratch = git.NewBudget(1 << 20)
	w.source.reader.Budget = m.scratch
	if done := w.synchronize(t.Context(), true); done.sourceError == nil {
		t.Fatal("nothing answers")
	}
	if got := w.interval(); got != time.Hour {
		t.Errorf("with space: got %s", got)
	}
}
