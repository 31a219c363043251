package sourceindex

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/modes"
)

// Modes are the configured modes: those of the cluster's configuration and those of hierarchies. It is immutable.
type Modes struct {
	Cluster []hnc.ResourceSpec
	// OnConflict is the default conflict policy.
	OnConflict hnc.ConflictPolicy
	Trees      map[string][]hnc.ResourceSpec
}

func (s *Sources) setConfigurations(objects []any) {
	var spec hnc.HNCConfigurationSpec
	for _, object := range objects {
		if c, ok := object.(*hnc.HNCConfiguration); ok && c.Name == hnc.ConfigurationName {
			spec = c.Spec
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.modes.Cluster, s.modes.OnConflict, s.clusterKnown = spec.Resources, spec.OnConflict, true
	s.modesChanged()
}

func (s *Sources) setConfiguration(object any, gone bool) {
	c, ok := object.(*hnc.HNCConfiguration)
	if !ok || c.Name != hnc.ConfigurationName {
		return
	}
	var spec hnc.HNCConfigurationSpec
	if !gone {
		spec = c.Spec
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.modes.Cluster, spec.Resources) || s.modes.OnConflict != spec.OnConflict {
		s.modes.Cluster, s.modes.OnConflict = spec.Resources, spec.OnConflict
		s.modesChanged()
	}
}

// treesOf returns spec.propagation of the hierarchies that set it, by their namespaces. Most hierarchies do not.
func treesOf(objects []any) map[string][]hnc.ResourceSpec {
	trees := map[string][]hnc.ResourceSpec{}
	for _, object := range objects {
		if h, ok := object.(*hnc.Hierarchy); ok && len(h.Spec.Propagation) > 0 {
			trees[h.Namespace] = h.Spec.Propagation
		}
	}
	return trees
}

func (s *Sources) setHierarchies(objects []any) {
	trees := treesOf(objects)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.modes.Trees, s.treesKnown = trees, true
	s.modesChanged()
}

func (s *Sources) setHierarchy(object any, gone bool) {
	h, ok := object.(*hnc.Hierarchy)
	if !ok {
		return
	}
	var resources []hnc.ResourceSpec
	if !gone {
		resources = h.Spec.Propagation
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Equal(s.modes.Trees[h.Namespace], resources) {
		return
	}
	s.modes = s.modes.With(h.Namespace, resources)
	s.modesChanged()
}

// modesChanged schedules resolveKinds after a change of the modes. The lock must be held.
func (s *Sources) modesChanged() {
	s.changed = time.Now()
	s.enqueueResolve()
}

// CurrentModes returns the modes known so far.
func (s *Sources) CurrentModes() Modes {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.modes
}

// follow sets how hierarchies are listed, and what returns the resource version up to which they have been read.
func (s *Sources) follow(hierarchies rest.Lister, version func() string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hierarchies, s.treesVersion = hierarchies, version
}

// Trees returns spec.propagation of the hierarchies that set it, by their namespaces, as it is at a revision of the
// store or later, and whether it has been read. It reads it now if no hierarchy has changed since that revision.
func (s *Sources) Trees(ctx context.Context, revision int64) (trees map[string][]hnc.ResourceSpec, known bool, err error) {
	s.mu.RLock()
	trees, known = s.modes.Trees, s.treesKnown && s.treesVersion != nil
	hierarchies, read := s.hierarchies, int64(0)
	if known && revision > 0 {
		// It is none, and so 0, until the first list is complete.
		read, _ = strconv.ParseInt(s.treesVersion(), 10, 64)
	}
	s.mu.RUnlock()
	if !known || read >= revision {
		return trees, known, nil
	}
	list, err := hierarchies.List(genericapirequest.WithNamespace(ctx, metav1.NamespaceAll), &metainternalversion.ListOptions{})
	if err != nil {
		return nil, false, err
	}
	items := list.(*hnc.HierarchyList).Items
	objects := make([]any, len(items))
	for i := range items {
		objects[i] = &items[i]
	}
	return treesOf(objects), true, nil
}

// ModesKnown reports whether all modes have been resolved once. Until then Mode and Propagated know only the enforced
// kinds, and answer as if others were not propagated.
func (s *Sources) ModesKnown() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.modesKnown
}

// Mode returns the mode of a resource for sources in the first namespace of a chain: the nearest namespace with an
// entry decides. Like Propagated, it answers for the modes that were resolved last.
func (s *Sources) Mode(resource schema.GroupResource, chain []string) v1beta1.SynchronizationMode {
	return s.policiesOf(resource).Of(chain).Mode
}

// Propagated reports whether objects of a resource are propagated from any namespace of a chain.
func (s *Sources) Propagated(resource schema.GroupResource, chain []string) bool {
	return s.policiesOf(resource).CopiesFrom(chain)
}

func (s *Sources) policiesOf(resource schema.GroupResource) modes.Policies {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if p, ok := s.policies[resource]; ok {
		return p
	}
	return modes.Policies{Cluster: modes.Policy{Mode: v1beta1.Ignore}}
}

// With returns the modes after the hierarchy of a namespace gets these entries.
func (m Modes) With(namespace string, resources []hnc.ResourceSpec) Modes {
	trees := maps.Clone(m.Trees)
	if trees == nil {
		trees = map[string][]hnc.ResourceSpec{}
	}
	trees[namespace] = resources
	if len(resources) == 0 {
		delete(trees, namespace)
	}
	return Modes{m.Cluster, m.OnConflict, trees}
}

// In returns the modes of the cluster and of some namespaces.
func (m Modes) In(namespaces sets.Set[string]) Modes {
	trees := maps.Clone(m.Trees)
	maps.DeleteFunc(trees, func(namespace string, _ []hnc.ResourceSpec) bool { return !namespaces.Has(namespace) })
	return Modes{m.Cluster, m.OnConflict, trees}
}

// DiscoveryTime returns the time since which discovery must have run for a configured kind to be missing. It is after
// the last change of the modes and not before the last period, so that a kind that the cluster does not serve costs one
// discovery for each.
func (s *Sources) DiscoveryTime() time.Time {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if due := time.Now().Add(-s.period()); due.After(s.changed) {
		return due
	}
	return s.changed
}

// byResource returns the policies by their resources.
func byResource(policies []kinds.WithPolicies) map[schema.GroupResource]modes.Policies {
	found := make(map[schema.GroupResource]modes.Policies, len(policies))
	for _, p := range policies {
		found[p.Kind.GroupResource()] = p.Policies
	}
	return found
}

// resolveKinds resolves the configured kinds, and watches the propagated ones while the index is needed. It returns
// false if it has to be repeated soon, because some could not be looked up. Those are what their names meant before.
func (s *Sources) resolveKinds(ctx context.Context) bool {
	s.mu.RLock()
	modes, known, before := s.modes, s.clusterKnown && s.treesKnown, s.meant
	s.mu.RUnlock()
	if s.mapperOutdated.CompareAndSwap(true, false) {
		if err := s.Mapper.Refresh(ctx, time.Now()); err != nil {
			return false
		}
	}
	policies, problems, meant := s.kindPolicies(ctx, s.DiscoveryTime(), modes, before)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.policies, s.meant, s.modesKnown = byResource(policies), meant, s.modesKnown || (known && len(problems) == 0)
	if s.watching {
		s.problems, s.resolved = problems, known
		s.apply(ctx, slices.DeleteFunc(policies, func(p kinds.WithPolicies) bool { return !p.Copies() }))
		s.progressed()
	}
	return len(problems) == 0
}

// apply starts and stops watches so that exactly the kinds of the policies are watched. The lock must be held.
func (s *Sources) apply(ctx context.Context, policies []kinds.WithPolicies) {
	old := s.kinds
	s.kinds = nil
	for _, p := range policies {
		i := slices.IndexFunc(old, func(k *kind) bool { return k.index.Kind == p.Kind })
		if i < 0 {
			s.kinds = append(s.kinds, s.watch(ctx, p))
			continue
		}
		old[i].WithPolicies = p
		s.kinds = append(s.kinds, old[i])
		old = slices.Delete(old, i, i+1)
	}
	for _, k := range old {
		k.stop()
	}
}

// Relist reads all objects again, because the rules have changed.
func (s *Sources) Relist() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reset()
	s.since = time.Now()
	s.enqueueResolve()
}
