package treerules

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// ValidateRequired validates that the Hierarchy of parent requires children by the given names, at the given indexes of
// its list: the requester must be allowed to create these Subnamespaces. It is advisory, because the name is claimed
// when the Subnamespace is created.
func (c *Claims) ValidateRequired(ctx context.Context, names map[int]string, parent *corev1.Namespace) error {
	if len(names) == 0 {
		return nil
	}
	reject := newRejection(ctx, hnc.Singleton)
	user, allowed, err := c.authorizer.allowsAny(ctx, "create", parent.Name, hnc.Resource("subnamespaces"), hnc.Resource("subnamespaceanchors"))
	if err != nil {
		return err
	}
	if !allowed {
		return reject.forbidden("spec.requiredChildren: user %q may not create sub-namespaces in namespace %q; "+
			"this needs the verb create on subnamespaces.%s there", user, parent.Name, hnc.GroupName)
	}
	for _, i := range slices.Sorted(maps.Keys(names)) {
		at := fmt.Sprintf("spec.requiredChildren[%d]", i)
		if _, err := c.index.evaluate(ctx, func(s *snapshot) (*fence.Guard, error) {
			const hint = "create the Subnamespace first, as a user with this permission"
			claim, err := c.validate(ctx, s, reject, at, at, names[i], parent.Name)
			switch {
			case err != nil:
				return nil, err
			case claim.joining != nil:
				return nil, reject.joining(at, names[i], parent.Name, hint)
			}
			if err := claim.adopt(ctx, s, names[i], func(string) error { return reject.missingParent(at, names[i], hint) }); err != nil {
				return nil, err
			}
			return nil, c.authorizeName(ctx, s, reject, at, names[i], parent.Name, claim)
		}); err != nil {
			return err
		}
	}
	return nil
}
