// Package reposync keeps the cluster equal to the repositories that RepositorySyncs name. Each has a worker, which
// reads the source, compiles it, plans what to write, and writes it as the ServiceAccount of the RepositorySync.
package reposync

import (
	"context"
	"errors"
	"runtime/debug"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/informers/externalversions"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/git"
)

// Config is what a Manager needs.
type Config struct {
	// Client is the configuration of the process's own requests.
	Client     *rest.Config
	Kubernetes kubernetes.Interface
	Hierarchy  versioned.Interface
	Events     record.EventRecorder
	Metrics    *Metrics
	// LocalRepositories is the directory that contains local repositories. Empty allows none.
	LocalRepositories string
	// Scratch is a directory for temporary files.
	Scratch string
	// MaxRepositoryBytes limits what is stored of a repository.
	MaxRepositoryBytes int64
}

// Manager runs a worker for each RepositorySync.
type Manager struct {
	Config
	now     func() time.Time
	scratch *git.Budget
	memory  *space
	synced  atomic.Bool
	queue   workqueue.TypedRateLimitingInterface[string]
	workers map[string]*running
}

// scratchRepositories is how many repositories of the maximum size would fit at a time if nothing were reserved for
// small ones. The volume of the manifests has space for them.
const scratchRepositories = 3

// running is a worker that runs.
type running struct {
	uid    types.UID
	spec   v1alpha3.RepositorySyncSpec
	cancel context.CancelFunc
	done   chan struct{}
	// kept is the memory of the revision that was in force when the worker ended. The next worker of the RepositorySync
	// replaces it within keptFor, so that others do not take it in between. A paused one needs none.
	kept share
}

// keptFor is how long the memory of a revision is kept that is not in force any more. A source may never be readable.
const keptFor = 30 * time.Minute

// NewManager returns a manager that does nothing yet.
func NewManager(config Config) *Manager {
	git.RestrictProtocols(config.MaxRepositoryBytes)
	return &Manager{
		Config: config, now: time.Now, workers: map[string]*running{}, scratch: git.NewBudget(scratchRepositories * config.MaxRepositoryBytes),
		memory: newSpace(debug.SetMemoryLimit(-1)),
		// A rate for all would let RepositorySyncs that cannot start delay the others.
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[string](minRetry, maxRetry)),
	}
}

// Synced returns an error until the RepositorySyncs have been listed.
func (m *Manager) Synced() error {
	if !m.synced.Load() {
		return errors.New("the RepositorySyncs have not been listed yet")
	}
	return nil
}

// Run works until the context ends, and returns when all workers have stopped.
func (m *Manager) Run(ctx context.Context) {
	if err := git.RemoveScratch(m.Scratch); err != nil {
		klog.FromContext(ctx).Error(err, "Cannot remove what was left in the directory for temporary files")
	}
	m.Metrics.leading.Set(1)
	defer m.Metrics.leading.Set(0)
	factory := externalversions.NewSharedInformerFactory(m.Hierarchy, 0)
	syncs := factory.Hnc().V1alpha3().RepositorySyncs()
	enqueue := func(o any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(o); err == nil {
			m.queue.Add(key)
		}
	}
	_, err := syncs.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: enqueue, UpdateFunc: func(_, o any) { enqueue(o) }, DeleteFunc: enqueue,
	})
	if err != nil {
		klog.FromContext(ctx).Error(err, "Cannot watch RepositorySyncs")
		return
	}
	factory.StartWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), syncs.Informer().HasSynced) {
		return
	}
	m.synced.Store(true)
	defer m.stopAll()
	defer factory.Shutdown()
	stop := context.AfterFunc(ctx, m.queue.ShutDown)
	defer stop()
	for {
		name, shutdown := m.queue.Get()
		if shutdown {
			return
		}
		if err := m.reconcile(ctx, name); err != nil {
			klog.FromContext(ctx).Error(err, "Cannot start; trying again", "repositorySync", name)
			m.queue.AddRateLimited(name)
		} else {
			m.queue.Forget(name)
		}
		m.queue.Done(name)
	}
}

// reconcile starts or stops the worker of a RepositorySync. Two never write for the same one, and none waits for that
// of another: a worker that has ended enqueues its RepositorySync, for the next to start. reconcile reads the object
// itself: the status of the watch may be older than what the worker has written.
func (m *Manager) reconcile(ctx context.Context, name string) error {
	old := m.workers[name]
	ended := old != nil && old.ended()
	s, err := m.Hierarchy.HncV1alpha3().RepositorySyncs().Get(ctx, name, metav1.GetOptions{})
	switch {
	case err != nil && !apierrors.IsNotFound(err):
		return err
	case err != nil && (old == nil || ended):
		m.drop(name)
		m.Metrics.forget(name)
		return nil
	case old != nil && !ended:
		if err != nil || old.uid != s.UID || !equality.Semantic.DeepEqual(old.spec, s.Spec) {
			old.cancel()
		}
		return nil
	}
	w, err := newWorker(m, s)
	if err != nil {
		return err
	}
	if ended && old.uid == s.UID && old.spec.ServiceAccount == s.Spec.ServiceAccount && !s.Spec.Paused {
		w.source.applied = &old.kept
	} else {
		m.drop(name)
	}
	working, cancel := context.WithCancel(ctx)
	r := &running{uid: s.UID, spec: *s.Spec.DeepCopy(), cancel: cancel, done: make(chan struct{})}
	m.workers[name] = r
	go func() {
		defer m.queue.Add(name)
		defer close(r.done)
		w.run(working)
		r.kept = w.drop()
	}()
	return nil
}

// drop forgets a worker that has ended, if there is one, and releases its memory.
func (m *Manager) drop(name string) {
	if old := m.workers[name]; old != nil {
		old.kept.release()
	}
	delete(m.workers, name)
}

// ended reports whether the worker has returned.
func (r *running) ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// stopAll ends all workers and waits for them.
func (m *Manager) stopAll() {
	for _, r := range m.workers {
		r.cancel()
		<-r.done
	}
}
