package sources

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/kinds"
)

// Said is what is said about kinds: by the cluster's configuration, and by the hierarchies of namespaces. It is immutable.
type Said struct {
	Cluster []hnc.ResourceSpec
	// OnConflict is what the configuration says of entries that don't say it.
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
	s.said.Cluster, s.said.OnConflict, s.clusterKnown = spec.Resources, spec.OnConflict, true
	s.again()
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
	if !slices.Equal(s.said.Cluster, spec.Resources) || s.said.OnConflict != spec.OnConflict {
		s.said.Cluster, s.said.OnConflict = spec.Resources, spec.OnConflict
		s.again()
	}
}

// setHierarchies keeps of hierarchies what they say about kinds, which is nothing in most of them.
func (s *Sources) setHierarchies(objects []any) {
	trees := map[string][]hnc.ResourceSpec{}
	for _, object := range objects {
		if h, ok := object.(*hnc.Hierarchy); ok && len(h.Spec.Propagation) > 0 {
			trees[h.Namespace] = h.Spec.Propagation
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said.Trees, s.treesKnown = trees, true
	s.again()
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
	if slices.Equal(s.said.Trees[h.Namespace], resources) {
		return
	}
	s.said = s.said.With(h.Namespace, resources)
	s.again()
}

// Known returns what is said, as far as it is known.
func (s *Sources) Known() Said {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.said
}

// Mode returns how sources of a resource are propagated, as the nearest namespace of their chain says, themselves first.
func (s *Sources) Mode(resource schema.GroupResource, chain []string) v1beta1.SynchronizationMode {
	treatments, _ := s.Treatments(time.Time{}, s.Known())
	for _, t := range treatments {
		if t.Kind.GroupResource() == resource {
			return t.Of(chain).Mode
		}
	}
	return v1beta1.Ignore
}

// With returns what is said if the hierarchy of a namespace says this.
func (s Said) With(namespace string, resources []hnc.ResourceSpec) Said {
	trees := maps.Clone(s.Trees)
	if trees == nil {
		trees = map[string][]hnc.ResourceSpec{}
	}
	trees[namespace] = resources
	if len(resources) == 0 {
		delete(trees, namespace)
	}
	return Said{s.Cluster, s.OnConflict, trees}
}

// In returns what is said by the cluster's configuration and by the hierarchies of some namespaces.
func (s Said) In(namespaces sets.Set[string]) Said {
	trees := maps.Clone(s.Trees)
	maps.DeleteFunc(trees, func(namespace string, _ []hnc.ResourceSpec) bool { return !namespaces.Has(namespace) })
	return Said{s.Cluster, s.OnConflict, trees}
}

// look finds the kinds that are named and watches those of which objects are copied.
func (s *Sources) look(ctx context.Context) {
	s.mu.RLock()
	said, known := s.said, s.clusterKnown && s.treesKnown
	s.mu.RUnlock()
	if s.outdated.CompareAndSwap(true, false) {
		s.Mapper.Refresh(time.Now())
	}
	treatments, problems := s.Treatments(time.Now(), said)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problems, s.resolved = problems, known
	s.apply(ctx, slices.DeleteFunc(treatments, func(t Treatment) bool { return !t.copies() }))
}

// Treatment is a kind and how its sources are treated.
type Treatment struct {
	Kind copies.Kind
	copies.Policies
}

// copies says whether any source may have copies.
func (t Treatment) copies() bool {
	for _, policy := range t.Trees {
		if propagated(policy) {
			return true
		}
	}
	return propagated(t.Cluster)
}

// ignored says that nothing is written or removed, whatever there is.
func (t Treatment) ignored() bool {
	for _, policy := range t.Trees {
		if policy.Mode != v1beta1.Ignore {
			return false
		}
	}
	return t.Cluster.Mode == v1beta1.Ignore
}

// Treatments returns the kinds for which something is to be done if this is said, the enforced ones first. Of two entries for a kind the first
// holds. A kind that does not exist, or can't be propagated, has no copies; the problems name those of which it is not known. Kinds that
// have been missing since the given time are looked for again.
func (s *Sources) Treatments(since time.Time, said Said) (treatments []Treatment, problems []string) {
	for _, kind := range copies.Kinds {
		treatments = append(treatments, Treatment{kind, copies.Policies{Cluster: copies.Policy{Mode: v1beta1.Propagate}}})
	}
	named := map[schema.GroupResource]bool{}
	each := func(specs []hnc.ResourceSpec, f func(t *Treatment, policy copies.Policy)) {
		for _, spec := range specs {
			mapping, err := s.Mapper.Find(since, spec.Group, spec.Resource)
			var notNamespaced *kinds.NotNamespacedError
			var notPropagated *kinds.NotPropagatedError
			switch {
			case err == nil:
			case meta.IsNoMatchError(err), errors.As(err, &notNamespaced), errors.As(err, &notPropagated):
				continue
			default:
				problems = append(problems, fmt.Sprintf("%s (%v)", spec.Resource, err))
				continue
			}
			resource := mapping.Resource.GroupResource()
			if slices.Contains(kinds.Enforced, resource) {
				continue
			}
			i := slices.IndexFunc(treatments, func(t Treatment) bool { return t.Kind.GroupResource() == resource })
			if i < 0 {
				i = len(treatments)
				kind := copies.Kind{GroupVersionResource: mapping.Resource, Kind: mapping.GroupVersionKind.Kind}
				treatments = append(treatments, Treatment{kind, copies.Policies{Cluster: copies.Policy{Mode: v1beta1.Ignore}, Trees: map[string]copies.Policy{}}})
			}
			f(&treatments[i], copies.NewPolicy(v1beta1.ResourceSpec{
				Mode: v1beta1.SynchronizationMode(spec.Mode), OnConflict: v1beta1.ConflictPolicy(spec.OnConflict),
			}, v1beta1.ConflictPolicy(said.OnConflict)))
		}
	}
	each(said.Cluster, func(t *Treatment, policy copies.Policy) {
		if resource := t.Kind.GroupResource(); !named[resource] {
			named[resource] = true
			t.Cluster = policy
		}
	})
	for _, namespace := range slices.Sorted(maps.Keys(said.Trees)) {
		each(said.Trees[namespace], func(t *Treatment, policy copies.Policy) {
			if _, twice := t.Trees[namespace]; !twice {
				t.Trees[namespace] = policy
			}
		})
	}
	return slices.DeleteFunc(treatments, Treatment.ignored), problems
}

// On returns the treatment as a function of the namespaces of sources, whose chains are given, themselves first.
func (t Treatment) On(chain func(namespace string) []string) func(namespace string) copies.Policy {
	if len(t.Trees) == 0 {
		return nil
	}
	return func(namespace string) copies.Policy { return t.Of(chain(namespace)) }
}

// apply makes the watched kinds those of the treatments. The lock must be held.
func (s *Sources) apply(ctx context.Context, treatments []Treatment) {
	old := s.kinds
	s.kinds = nil
	for _, t := range treatments {
		i := slices.IndexFunc(old, func(k *kind) bool { return k.index.Kind == t.Kind })
		if i < 0 {
			s.kinds = append(s.kinds, s.watch(ctx, t))
			continue
		}
		old[i].Treatment = t
		s.kinds = append(s.kinds, old[i])
		old = slices.Delete(old, i, i+1)
	}
	for _, k := range old {
		k.stop()
	}
}
