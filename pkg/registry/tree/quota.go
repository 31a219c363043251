package tree

import (
	"context"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// AllowQuota rejects a quota in a namespace that is excluded from trees: it has no subtree, and system components must not depend on quotas.
func (i *Index) AllowQuota(ctx context.Context, name, namespace string) error {
	_, err := i.evaluate(ctx, func(s *snapshot) (*fence.Guard, error) {
		why, err := s.excluded(ctx, namespace)
		if err == nil && why != "" {
			err = newRejection(ctx, name).forbidden("metadata.namespace: namespace %q is %s; create the quota in a namespace that isn't", namespace, why)
		}
		return nil, err
	})
	return err
}
