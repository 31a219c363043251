package treerules

import (
	"context"
	"slices"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// limitClaim rejects a new claim that exceeds a quota: by the sub-namespace itself, or by what comes below the parent
// with it. That is the subtrees of orphans, or of a namespace that exists already. Nobody may exceed a quota that way,
// because a move does the same with the annotation for it.
func (s *snapshot) limitClaim(ctx context.Context, guard *fence.Guard, reject rejection, name, parent string, orphans []string) error {
	if err := s.limitSubnamespaces(ctx, guard, reject, parent, name); err != nil {
		return err
	}
	existing, err := s.namespace(ctx, name)
	if err != nil || s.index.config.Use == nil || accessreview.ByPropagator(ctx) || existing == nil && len(orphans) == 0 {
		return err
	}
	l, err := s.limits(ctx)
	if err != nil || l.Empty() {
		return err
	}
	chain, err := s.ancestry(ctx, parent)
	if err != nil {
		return err
	}
	gained := slices.DeleteFunc(chain, func(at string) bool { return !l.Counted(at) })
	if len(gained) == 0 {
		return nil
	}
	tops := orphans
	if existing != nil {
		tops = []string{name}
	}
	over, err := s.exceededBy(ctx, reject, guard, l, gained, nil, name, func() ([]Node, error) {
		subtree := []Node{{Name: name}}
		for _, top := range tops {
			namespace, err := s.namespace(ctx, top)
			if err != nil {
				return nil, err
			}
			if namespace != nil {
				subtree = append(subtree, s.index.Subtree(namespace)...)
			}
		}
		return subtree, nil
	})
	if err != nil || len(over) == 0 {
		return err
	}
	return reject.forbidden("metadata.name: the namespaces that come below %q with it exceed a quota: %s; reduce their use, or raise the limit", parent, over[0])
}
