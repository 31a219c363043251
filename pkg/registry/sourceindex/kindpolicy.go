package sourceindex

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/resourcespec"
)

// KindPolicies returns the kinds that the modes affect, in the order of kinds.All. problems names the kinds that could
// not be looked up. A missing kind triggers discovery unless that has run since the given time.
func (s *Sources) KindPolicies(ctx context.Context, since time.Time, modes Modes) (policies []kinds.WithPolicies, problems []string) {
	policies, problems, _ = s.kindPolicies(ctx, since, modes, nil)
	return policies, problems
}

// kindPolicies also returns what has been looked up. Names that could not be looked up mean what they meant before.
func (s *Sources) kindPolicies(ctx context.Context, since time.Time, modes Modes, before kinds.Names) (policies []kinds.WithPolicies, problems []string, names kinds.Names) {
	find, names := kinds.Once(func(group, resource string) (*meta.RESTMapping, error) {
		return s.Mapper.Find(ctx, since, group, resource)
	}, before)
	resolve := func(resources []hnc.ResourceSpec) kinds.Resolution {
		r := resourcespec.Resolve(resources, modes.OnConflict, find)
		for _, p := range r.Problems {
			if p.Reason == hnc.ReasonUnknown {
				problems = append(problems, fmt.Sprintf("%s (%v)", p.Resource, p.Err))
			}
		}
		return r
	}
	cluster, trees := resolve(modes.Cluster), make(map[string]kinds.Resolution, len(modes.Trees))
	for _, namespace := range slices.Sorted(maps.Keys(modes.Trees)) {
		trees[namespace] = resolve(modes.Trees[namespace])
	}
	return slices.DeleteFunc(kinds.All(cluster, trees), kinds.WithPolicies.Ignored), problems, names
}
