package propagator

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/managed"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/client"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/configuration"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

// Config is what a Propagator needs. All fields without a default must be set.
type Config struct {
	Kubernetes kubernetes.Interface
	Hierarchy  versioned.Interface
	// Reader watches the propagated kinds that it can read, Dynamic all others; Copies writes them. Reader may be nil.
	Reader  *client.Reader
	Dynamic dynamic.Interface
	Copies  copies.Client
	Events  record.EventRecorder
	Metrics *metrics.Metrics

	// Metadata watches what tells that there may be other kinds than before.
	Metadata metadata.Interface
	// Discover finds out which kinds there are.
	Discover func(context.Context) (configuration.Cluster, error)

	// Rules say what copies leave out and what is not copied at all, whatever its kind.
	Rules copies.Rules
	// InForce are all rules, as the status of the configuration reports them; nil reports none.
	InForce *v1beta1.Rules
	// Rules say which namespaces take part in hierarchies, and which of their labels and annotations are managed;
	// managed.Default() by default.
	Managed *managed.Rules
	// InheritPodSecurity gives sub-namespaces the Pod Security labels of their parents.
	InheritPodSecurity bool
	// Workers is how many writes are made at a time, and once more as many for new sub-namespaces; 32 by default.
	Workers int
	// StatusWindow is how long changes of a Hierarchy's status are collected before it is written; 100 ms by default. A list of children
	// that keeps changing is written once in ten windows.
	StatusWindow time.Duration
	// ConfigurationWindow is the same for the configuration's status; 1 s by default.
	ConfigurationWindow time.Duration
}

func (c *Config) complete() {
	if c.Managed == nil {
		rules := managed.Default()
		c.Managed = &rules
	}
	if c.Workers <= 0 {
		c.Workers = 32
	}
	if c.StatusWindow <= 0 {
		c.StatusWindow = 100 * time.Millisecond
	}
	if c.ConfigurationWindow <= 0 {
		c.ConfigurationWindow = time.Second
	}
}

// Propagator propagates. Its methods are safe for concurrent use; Watch and Lead are for one call each.
type Propagator struct {
	Config
	urgent, bulk queue.Queue
	roots        *roots
	// urgentSlots and bulkSlots bound the concurrent writes of copies.
	urgentSlots, bulkSlots chan struct{}
	lag                    *queue.Lag
	// pace holds back a list of children after the one before: each write is as large as the list, and while a tree is built there is
	// another child all the time.
	pace *pace
	// fresh holds back Hierarchies in namespaces that have just come after their children: who applies a directory asks whether there is one, is
	// told no, and would fail to create it.
	fresh    *pace
	unsynced sync.WaitGroup
	// unnamed waits for the first lists of what names kinds; configured is called when these are watched.
	unnamed    sync.WaitGroup
	configured func()
	// store is the UID of the configuration in the store that the picture is of, nil until that is known; lost is closed when the API server
	// has another one.
	store atomic.Pointer[types.UID]
	lost  chan struct{}
	// loseStore closes it.
	loseStore func()
	// ready tells whether everything can be watched that decisions are based on.
	ready *readiness
	// reconfigure holds a token while the kinds have to be looked for.
	reconfigure chan struct{}

	mu   sync.RWMutex
	tree *tree.Tree
	// kinds are all that were ever propagated; work names them by their places.
	kinds  []*kind
	places map[schema.GroupResource]int
	// configuration is nil if there is none; resolved, before it was looked at for the first time.
	configuration *v1beta1.HNCConfiguration
	resolved      *configuration.Resolution
	// trees is the same for what hierarchies say.
	trees configuration.Trees
	// newKinds is when something has told that there may be other kinds.
	newKinds time.Time
	// statusDue says that writing the configuration's status is queued.
	statusDue bool
	// summary holds which namespaces have conditions, once this replica leads. It has its own lock.
	summary *configuration.Summary
	// versions holds, by resource, the version up to which the watch has brought the picture.
	versions map[string]string
	// leading says that work may be queued. Before, the picture is kept up to date and nothing else.
	leading bool
	// moving holds the namespaces in which old copies may have to be removed before any new one is written, and the
	// number of the move.
	moving map[string]int
	moves  int
	// settling holds the namespaces whose copies are being written for a new sub-namespace.
	settling map[string]struct{}
	// seen holds when unfinished work of the classes Source and Subnamespace was first asked for.
	seen map[queue.Key]time.Time
}

// New returns a Propagator that does nothing yet.
func New(config Config) *Propagator {
	config.complete()
	above := &roots{above: map[string]string{}}
	p := &Propagator{
		Config:      config,
		urgent:      queue.New(above.of, config.Metrics.QueueLength),
		bulk:        queue.New(above.of, config.Metrics.QueueLength),
		roots:       above,
		urgentSlots: make(chan struct{}, config.Workers),
		bulkSlots:   make(chan struct{}, config.Workers),
		tree:        tree.New(*config.Managed),
		places:      map[schema.GroupResource]int{},
		summary:     configuration.NewSummary(config.Metrics.NamespaceConditions),
		versions:    map[string]string{},
		moving:      map[string]int{},
		settling:    map[string]struct{}{},
		seen:        map[queue.Key]time.Time{},
	}
	if config.InheritPodSecurity {
		p.tree.InheritPodSecurity()
	}
	p.pace = newPace(10 * config.StatusWindow)
	p.fresh = newPace(20 * config.StatusWindow)
	p.reconfigure = make(chan struct{}, 1)
	p.ready = newReadiness()
	p.lost = make(chan struct{})
	p.loseStore = sync.OnceFunc(func() { close(p.lost) })
	p.lag = queue.NewLag(func(kind int, d time.Duration) { config.Metrics.Lag(p.kindName(kind), d) })
	return p
}

// grace is how long a write that is under way when the propagator stops may take. What it has done must still be told, as by the event
// about an overwritten object; and it has to end before a lost lease is somebody else's.
const grace = 2 * time.Second

// Lead writes until the context ends, and returns when the last write has. Nothing is decided before every watch has brought
// its first list: a list that is late must not look like an empty one. Configured kinds that can't be read are not waited for, and nothing is
// decided about them.
func (p *Propagator) Lead(ctx context.Context) {
	logger := klog.FromContext(ctx)
	synced := make(chan struct{})
	go func() {
		p.unsynced.Wait()
		close(synced)
	}()
	select {
	case <-ctx.Done():
		return
	case <-synced:
	}
	if !p.recognizeStore(ctx) {
		return
	}
	p.start()
	p.requestReleases(ctx)
	p.Metrics.Leading(true)
	defer p.Metrics.Leading(false)
	logger.Info("Propagating", "namespaces", p.known(), "workers", p.Workers)

	writing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(grace, stop) })()
	var workers sync.WaitGroup
	for _, q := range []queue.Queue{p.urgent, p.bulk} {
		for range p.Workers {
			workers.Go(func() { p.work(ctx, writing, q) })
		}
	}
	<-ctx.Done()
	p.urgent.ShutDown()
	p.bulk.ShutDown()
	workers.Wait()
	logger.Info("Stopped propagating")
}

func (p *Propagator) known() int {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.tree.Len()
}
