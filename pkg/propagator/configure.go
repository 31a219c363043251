package propagator

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/inforce"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/configuration"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

// How often the kinds are looked for: when something has told that they may have changed, for some time often, because discovery is
// late; while one is missing, rather often; otherwise only to be sure.
const (
	resolveAtMostEvery = 250 * time.Millisecond
	resolveWhileNew    = time.Second
	newFor             = 15 * time.Second
	resolveWhileBad    = 10 * time.Second
	resolveAtLeast     = time.Minute
)

// configure keeps the watched kinds those that the configuration and the hierarchies name, until the context ends.
func (p *Propagator) configure(ctx context.Context) {
	defer p.configured()
	known := make(chan struct{})
	go func() {
		p.unnamed.Wait()
		close(known)
	}()
	for ctx.Err() == nil {
		began := time.Now()
		cluster, err := p.discover(ctx)
		// The first time, the lists come meanwhile.
		select {
		case <-ctx.Done():
			return
		case <-known:
		}
		again := resolveWhileNew
		if err == nil {
			again = p.resolve(ctx, cluster)
		}
		if told(ctx, p.reconfigure, again) {
			sleep(ctx, resolveAtMostEvery-time.Since(began))
		}
	}
}

// discover finds out which kinds there are.
func (p *Propagator) discover(ctx context.Context) (configuration.Cluster, error) {
	// What is told from here on takes another look.
	select {
	case <-p.reconfigure:
	default:
	}
	cluster, err := p.Discover(ctx)
	if err != nil {
		klog.FromContext(ctx).Info("Can't find out which kinds there are; trying again", "reason", err)
	}
	return cluster, err
}

// told waits for a token, and says whether one came in time.
func told(ctx context.Context, token <-chan struct{}, timeout time.Duration) bool {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-token:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

func sleep(ctx context.Context, d time.Duration) { told(ctx, nil, d) }

// resolve finds the kinds that the configuration and the hierarchies name, and watches them. It returns when to do so again.
func (p *Propagator) resolve(ctx context.Context, cluster configuration.Cluster) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ctx.Err() != nil {
		return 0
	}
	first := p.resolved == nil
	var old configuration.Resolution
	if !first {
		old = *p.resolved
	}
	resolution := configuration.Resolve(p.configuration, cluster, old)
	p.resolved = &resolution
	var onConflict v1beta1.ConflictPolicy
	if p.configuration != nil {
		onConflict = p.configuration.Spec.OnConflict
	}
	p.trees = configuration.ResolveTrees(p.tree.SayingPropagation(), onConflict, cluster, p.trees)
	p.apply(ctx, resolution.Entries, p.trees, first)
	p.tellTrees()
	p.configured()
	p.configurationChanged()
	switch {
	case time.Since(p.newKinds) < newFor:
		return resolveWhileNew
	case len(resolution.Problems) > 0 || p.trees.Problematic() || cluster.Incomplete != nil:
		return resolveWhileBad
	}
	return resolveAtLeast
}

// reresolve has the kinds looked for again.
func (p *Propagator) reresolve() {
	select {
	case p.reconfigure <- struct{}{}:
	default:
	}
}

// kindsChanged records that there may be other kinds than before. The lock must be held.
func (p *Propagator) kindsChanged() {
	p.newKinds = time.Now()
	p.reresolve()
}

// setConfiguration records the configuration, nil if there is none, unless what is recorded is as new. The lock must be held.
func (p *Propagator) setConfiguration(c *v1beta1.HNCConfiguration) {
	old := p.configuration
	if old != nil && c != nil && old.UID == c.UID && !tree.Newer(c.ResourceVersion, old.ResourceVersion) {
		return
	}
	p.configuration = c
	p.tree.SetCreatorRole("")
	if c != nil {
		p.tree.SetCreatorRole(c.Spec.CreatorRole)
	}
	if (old == nil) != (c == nil) || (c != nil && old.Generation != c.Generation) {
		p.reresolve()
	}
	p.configurationChanged()
}

// configurationChanged has the status of the configuration written soon. The lock must be held.
func (p *Propagator) configurationChanged() {
	if p.leading && !p.statusDue {
		p.statusDue = true
		p.bulk.AddAfter(queue.Key{Class: queue.Configuration}, p.ConfigurationWindow)
	}
}

// configurationStatus makes the status of the configuration right, and creates it if there is none.
func (p *Propagator) configurationStatus(ctx context.Context) error {
	p.mu.Lock()
	p.statusDue = false
	p.tellTrees()
	c, resolved := p.configuration, p.resolved
	if c == nil || resolved == nil {
		p.mu.Unlock()
		if c == nil {
			return p.createConfiguration(ctx)
		}
		return nil
	}
	status := configuration.Status(c, p.withRules(c, *resolved), p.state, p.summary, metav1.Now())
	p.mu.Unlock()
	if configuration.SameStatus(status, c.Status) && (p.InForce == nil || equality.Semantic.DeepEqual(p.InForce, c.Status.InForce.Propagator)) {
		return nil
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": c.UID},
		"status":   map[string]any{"resources": status.Resources, "conditions": status.Conditions, "inForce": p.rulesPatch(c)},
	})
	if err != nil {
		return err
	}
	patched, err := p.Hierarchy.HncV1beta1().HNCConfigurations().Patch(ctx, c.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	return p.result("HNCConfiguration", "patch", c.Name, err, func() { p.enterConfiguration(patched) })
}

// withRules adds to a resolution the problem that the API server acts by other rules than the propagator.
func (p *Propagator) withRules(c *v1beta1.HNCConfiguration, r configuration.Resolution) configuration.Resolution {
	differences := inforce.Differences(v1beta1.InForce{APIServer: c.Status.InForce.APIServer, Propagator: p.InForce})
	if len(differences) > 0 {
		r.Problems = append(slices.Clip(r.Problems), configuration.RulesDiffer(differences))
	}
	return r
}

// rulesPatch returns a merge patch of the rules in force.
func (p *Propagator) rulesPatch(c *v1beta1.HNCConfiguration) map[string]any {
	patch := map[string]any{}
	if p.InForce == nil {
		return patch
	}
	for name := range inforce.Fields(c.Status.InForce.Propagator) {
		patch[name] = nil // what a merge patch does not name stays
	}
	maps.Copy(patch, inforce.Fields(p.InForce))
	return map[string]any{"propagator": patch}
}

func (p *Propagator) createConfiguration(ctx context.Context) error {
	created, err := p.Hierarchy.HncV1beta1().HNCConfigurations().Create(ctx,
		&v1beta1.HNCConfiguration{ObjectMeta: metav1.ObjectMeta{Name: hnc.ConfigurationName}}, metav1.CreateOptions{})
	return p.result("HNCConfiguration", "create", hnc.ConfigurationName, err, func() { p.enterConfiguration(created) })
}

func (p *Propagator) enterConfiguration(c *v1beta1.HNCConfiguration) {
	if p.ahead(configurations, c.ResourceVersion) {
		p.setConfiguration(c)
	}
}

// state tells how it goes with a kind. The lock must be held.
func (p *Propagator) state(resource schema.GroupResource) configuration.State {
	k := p.kinds[p.placeOf(resource)]
	s := configuration.State{Synced: k.synced, Trouble: k.trouble.String()}
	s.Sources, s.Copies = k.index.Count(func(namespace string) bool { return !p.tree.Excluded(namespace) })
	return s
}
