package propagator

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/configrules"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/configuration"
	copiescontroller "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/copyrelease"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/hierarchy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/namespace"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/quota"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/restore"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/subnamespace"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/tenantview"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/viewdefinition"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// Manager runs the cache, the queues and the controllers. Its methods are safe for concurrent use; Watch and Lead are
// for one call each.
type Manager struct {
	Config
	cache        *cache.Cache
	urgent, bulk queue.Queue
	leading      atomic.Bool
	// busy is how many keys are being reconciled, and worked when the last one but the configuration ended, in
	// nanoseconds since 1970.
	busy, worked atomic.Int64
	// resyncPeriod is resyncPeriod except in tests.
	resyncPeriod time.Duration
	// outdated is closed when the configuration defines other rules. Nothing may be decided any more.
	outdated chan struct{}

	namespaces     *namespace.Controller
	hierarchies    *hierarchy.Controller
	subnamespaces  *subnamespace.Controller
	copies         *copiescontroller.Controller
	configuration  *configuration.Controller
	releases       *copyrelease.Controller
	views          *tenantview.Controller
	definitions    *viewdefinition.Controller
	quotas         *quota.Controller
	restore        *restore.Controller
	reconcileClass map[queue.Class]func(context.Context, queue.Key) error
}

// New returns a Manager that does nothing yet.
func New(config Config) *Manager {
	config.complete()
	m := &Manager{Config: config, resyncPeriod: resyncPeriod, outdated: make(chan struct{})}
	m.cache = cache.New(cache.Config{
		Kubernetes: config.Kubernetes, Hierarchy: config.Hierarchy, Metadata: config.Metadata, Reader: config.Reader, Dynamic: config.Dynamic,
		CopyRules: &config.InForce.Copies, Managed: config.InForce.Managed, InheritPodSecurity: config.InheritPodSecurity,
		CheckStore: config.store.Check, CheckCluster: config.store.CheckCluster,
	})
	m.urgent = queue.New(m.cache.Root, config.Metrics.QueueLength)
	m.bulk = queue.New(m.cache.Root, config.Metrics.QueueLength)

	d := controller.Dependencies{
		Cache: m.cache, Kubernetes: config.Kubernetes, Hierarchy: config.Hierarchy, Dynamic: config.Dynamic, Bindings: config.Reader,
		Events: config.Events, DryRun: config.Assumed != "", Metrics: config.Metrics, Urgent: m.urgent, Queue: m.bulk,
	}
	m.configuration = configuration.New(d, configuration.Config{
		Discover: config.Discover, Initial: config.Initial, Window: config.ConfigurationWindow,
		Failures: func(kind int, groups func(string) []string) map[string]string { return m.copies.Failures(kind, groups) },
	})
	m.copies = copiescontroller.New(d, copiescontroller.Config{
		Client: config.Copies, Workers: config.Workers, PolicyWindow: config.ConfigurationWindow, FailuresChanged: m.configuration.Enqueue,
	})
	m.namespaces = namespace.New(d, func(s *cache.State, name string) bool { return m.quotas.Held(s, name) })
	m.hierarchies = hierarchy.New(d, config.StatusWindow, m.configuration.ObserveConditions)
	m.quotas = quota.New(d, quota.Config{
		Window: config.StatusWindow, Mode: config.QuotaEnforcement,
		Held: func(s *cache.State, namespace string) {
			if !s.Tree.LimitsPending(namespace) {
				return
			}
			m.namespaces.Enqueue(namespace)
			if parent := s.Tree.Namespace(namespace).SubnamespaceOf; parent != "" {
				m.subnamespaces.Enqueue(tree.Key{Parent: parent, Name: namespace})
			}
		},
	})
	m.subnamespaces = subnamespace.New(d, subnamespace.Controllers{
		Namespaces: m.namespaces, Hierarchies: m.hierarchies, Copies: m.copies, Quotas: m.quotas,
	}, config.InheritPodSecurity)
	m.releases = copyrelease.New(d, config.Discover)
	m.views = tenantview.New(d, config.StatusWindow)
	m.definitions = viewdefinition.New(d)
	m.restore = restore.New(d, config.store, restore.Config{Parallelism: config.Workers, Assumed: config.Assumed, Differs: m.differs})
	m.reconcileClass = map[queue.Class]func(context.Context, queue.Key) error{
		queue.Subnamespace:   counted(config.Metrics.Reconciling, m.subnamespaces.Reconcile),
		queue.Namespace:      counted(config.Metrics.Reconciling, m.namespaces.Reconcile),
		queue.Quota:          m.quotas.Reconcile,
		queue.QuotaStatus:    m.quotas.Reconcile,
		queue.QuotaAdmission: m.quotas.Reconcile,
		queue.Status:         counted(config.Metrics.Reconciling, m.hierarchies.Reconcile),
		queue.Release:        m.releases.Reconcile,
		queue.View:           m.views.Reconcile,
		queue.Definitions:    m.definitions.Reconcile,
		queue.Configuration:  m.configuration.Reconcile,
		queue.Source:         m.copies.Reconcile,
		queue.OrphanedCopies: m.copies.Reconcile,
		queue.Destination:    m.copies.Reconcile,
		queue.Revocation:     m.copies.Reconcile,
		queue.Copy:           m.copies.Reconcile,
	}
	m.cache.Update(func(s *cache.State) {
		s.AddEventHandlers(m.configuration.KindHandlers())
		s.AddEventHandlers(cache.EventHandlers{ConfigurationChanged: m.followRules()})
		s.AddEventHandlers(cache.EventHandlers{
			TreeChanged: func(s *cache.State, _ tree.Affected) { config.Metrics.Namespaces(s.Tree.Len()) },
		})
	})
	return m
}

// followRules returns a handler that recognizes other rules.
func (m *Manager) followRules() func(*cache.State, *v1beta1.HNCConfiguration) {
	outdate := sync.OnceFunc(func() { close(m.outdated) })
	return func(s *cache.State, old *v1beta1.HNCConfiguration) {
		if s.Configuration == nil {
			return // created again soon, or the store was lost
		}
		if old != nil && old.UID == s.Configuration.UID && old.Generation == s.Configuration.Generation {
			return // The status has changed, as it does all the time.
		}
		if rules, errs := configrules.Of(s.Configuration.Spec.Rules); len(errs) > 0 || !rules.Equal(m.InForce) {
			outdate()
		}
	}
}

func counted(begin func() (done func()), reconcile func(context.Context, queue.Key) error) func(context.Context, queue.Key) error {
	return func(ctx context.Context, key queue.Key) error {
		defer begin()()
		return reconcile(ctx, key)
	}
}

func (m *Manager) isOutdated() bool {
	select {
	case <-m.outdated:
		return true
	default:
		return false
	}
}

// Watch keeps the cache up to date until the context ends. A standby watches too, so that it can take over without
// listing anything.
func (m *Manager) Watch(ctx context.Context) {
	m.cache.Watch(ctx)
	go m.configuration.Run(ctx)
}

// grace is how long a write that is under way when the manager stops may take. Its result must still be recorded, as by
// the event about an overwritten object, and it has to end before another replica can hold a lost lease.
const grace = 2 * time.Second

// Lead reconciles until the context ends or the rules are others, and returns when the last write has ended. It starts
// when everything that decisions are based on is listed.
func (m *Manager) Lead(ctx context.Context) {
	logger := klog.FromContext(ctx)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-m.outdated:
			cancel()
		case <-ctx.Done():
		}
	}()
	if m.cache.WaitForSync(ctx) != nil || m.isOutdated() || m.restore.Run(ctx) != nil {
		return
	}
	m.start()
	m.releases.Start(ctx)
	m.Metrics.Leading(true)
	defer m.Metrics.Leading(false)
	namespaces := 0
	m.cache.Read(func(s *cache.State) { namespaces = s.Tree.Len() })
	logger.Info("Propagating", "namespaces", namespaces, "workers", m.Workers)

	writing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(grace, stop) })()
	var workers sync.WaitGroup
	workers.Go(func() { m.restore.Record(ctx) })
	workers.Go(func() { m.resync(ctx) })
	for _, q := range []queue.Queue{m.urgent, m.bulk} {
		for range m.Workers {
			workers.Go(func() { m.work(ctx, writing, q) })
		}
	}
	<-ctx.Done()
	m.urgent.ShutDown()
	m.bulk.ShutDown()
	workers.Wait()
	logger.Info("Stopped propagating")
}
