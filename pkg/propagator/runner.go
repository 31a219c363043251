package propagator

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/configrules"
)

// Runner runs a Manager, and another one when spec.rules of the configuration changes. Everything that a Manager keeps
// of the cluster depends on the rules, so it reads the cluster again, as after a restart, but keeps leading. Its
// methods are safe for concurrent use; Watch and Lead are for one call each.
type Runner struct {
	config Config
	// leading is held while a Manager leads.
	leading sync.Mutex

	mu sync.Mutex
	// manager is the present one, nil while the rules are being read; changed is closed and replaced when it is
	// another.
	manager *Manager
	changed chan struct{}
}

// NewRunner returns a Runner that does nothing yet. It sets the rules in the configuration of its Managers.
func NewRunner(config Config) *Runner {
	config.complete()
	return &Runner{config: config, changed: make(chan struct{})}
}

// Watch keeps the cache up to date until the context ends. It returns at once.
func (r *Runner) Watch(ctx context.Context) { go r.run(ctx) }

func (r *Runner) run(ctx context.Context) {
	for ctx.Err() == nil {
		rules, err := r.read(ctx)
		if err != nil {
			return
		}
		config := r.config
		config.InForce = rules
		m := New(config)
		watching, stop := context.WithCancel(ctx)
		m.Watch(watching)
		r.set(m)
		select {
		case <-ctx.Done():
		case <-m.outdated:
			klog.FromContext(ctx).Info("The rules in the configuration have changed; reading the cluster again")
		}
		r.set(nil)
		r.leading.Lock() // until the last write has ended
		stop()
		r.leading.Unlock()
	}
}

// read returns the rules of the stored configuration, or of the one that is created if there is none. It fails only
// when the context ends.
func (r *Runner) read(ctx context.Context) (rules *configrules.Rules, err error) {
	err = wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
		// An API that is not served answers a get as if there were no such object.
		list, err := r.config.Hierarchy.HncV1beta1().HNCConfigurations().List(ctx, metav1.ListOptions{})
		if err != nil {
			klog.FromContext(ctx).V(2).Info("Cannot read the configuration; trying again", "reason", err)
			return false, nil
		}
		spec := r.config.Initial.Rules
		for _, c := range list.Items {
			if c.Name == hnc.ConfigurationName {
				spec = c.Spec.Rules
			}
		}
		var errs field.ErrorList
		if rules, errs = configrules.Of(spec); len(errs) > 0 {
			klog.FromContext(ctx).Error(errs.ToAggregate(), "Cannot apply spec.rules of the configuration; not propagating until they are corrected")
		}
		return len(errs) == 0, nil
	})
	return rules, err
}

func (r *Runner) set(m *Manager) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.manager = m
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *Runner) current() (*Manager, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.manager, r.changed
}

// Lead reconciles until the context ends, and returns when the last write has ended.
func (r *Runner) Lead(ctx context.Context) {
	for ctx.Err() == nil {
		m, changed := r.current()
		if m != nil {
			r.leading.Lock()
			m.Lead(ctx)
			r.leading.Unlock()
		}
		select {
		case <-ctx.Done():
		case <-changed:
		}
	}
}

var errRulesUnknown = errors.New("the configuration has not been read yet")

// Synced returns an error that names the required resources that are not listed yet.
func (r *Runner) Synced(*http.Request) error {
	if m, _ := r.current(); m != nil {
		return m.cache.Synced()
	}
	return errRulesUnknown
}

// Watching returns an error that says which required resources cannot be watched now, or that their store was lost.
func (r *Runner) Watching(*http.Request) error {
	m, _ := r.current()
	if m == nil {
		return errRulesUnknown
	}
	if err := m.cache.Watching(); err != nil {
		return err
	}
	return r.Lost()
}

// Leads reports whether this replica writes.
func (r *Runner) Leads() bool {
	m, _ := r.current()
	return m != nil && m.leading.Load()
}

// Paused reports whether this replica leads and writes nothing, because the store and the cluster appear to come from
// different backups.
func (r *Runner) Paused() bool {
	m, _ := r.current()
	return m != nil && m.restore.Paused()
}

// AwaitLoss returns when the API server is found to have another store of hierarchies, or when the context ends.
func (r *Runner) AwaitLoss(ctx context.Context) { r.config.store.AwaitLoss(ctx) }

// Lost returns an error if the API server has another store. The process has to restart then.
func (r *Runner) Lost() error { return r.config.store.Lost() }
