package tree

import (
	"context"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// maxQuotas is the number of quotas in a namespace. Each combination of scopes is a ResourceQuota in every namespace of the subtree, so users who create
// quotas must not be able to create any number.
const maxQuotas = 50

// AllowQuota rejects a quota in a namespace that is excluded from trees, because it has no subtree, and system components must not depend on quotas. It
// also rejects more than maxQuotas in a namespace; concurrent requests may exceed that by a few.
func (i *Index) AllowQuota(ctx context.Context, name, namespace string) error {
	_, err := i.evaluate(ctx, func(s *snapshot) (*fence.Guard, error) {
		why, err := s.excluded(ctx, namespace)
		if err == nil && why != "" {
			err = newRejection(ctx, name).forbidden("metadata.namespace: namespace %q is %s; create the quota in a namespace that isn't", namespace, why)
		}
		if err != nil {
			return nil, err
		}
		// The number is not compared at commit, so it has to be read.
		s.fresh = true
		l, err := s.limits(ctx)
		if err == nil && l.Quotas(namespace) >= maxQuotas {
			err = newRejection(ctx, name).forbidden("metadata.namespace: namespace %q has %d quotas already, the most that a namespace may have; "+
				"set several limits in one quota, or delete others", namespace, maxQuotas)
		}
		return nil, err
	})
	return err
}
