package treerules

import (
	"context"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// ValidateRelease returns the fence of the write that removes the Subnamespace name from its parent. If nothing else
// holds the edge of an active namespace, the namespace becomes a root, which needs the same permissions as a move.
func (c *Claims) ValidateRelease(ctx context.Context, name, parent string) (*fence.Guard, error) {
	return c.index.evaluate(ctx, func(s *snapshot) (*fence.Guard, error) {
		edge, err := s.edge(ctx, name)
		if err != nil {
			return nil, err
		}
		guard := &fence.Guard{}
		if edge.Parent != parent {
			return guard, nil
		}
		effective, err := s.effective(ctx, name, edge)
		if err != nil {
			return nil, err
		}
		edge.Subnamespace = ""
		edge.write(guard, name)
		if edge.held() || !effective {
			return guard, nil
		}
		for _, at := range []string{name, parent} {
			if active, err := s.activeNamespace(ctx, at); err != nil || active == nil {
				return guard, err
			}
		}
		return guard, c.authorizer.authorizeMove(ctx, s, newRejection(ctx, name), name, parent, nil)
	})
}

// AuthorizeDetachment authorizes the removal of our finalizer from the Subnamespace name of a parent. The Subnamespace
// could be deleted then, and the namespace would stay: out of reach of the deletion of its ancestors, with the
// permissions that it has inherited. So the requester needs the permissions to make the namespace a root, although its
// Hierarchy keeps the parent. It returns an error of reason Forbidden for everybody else.
func (c *Claims) AuthorizeDetachment(ctx context.Context, name, parent string) error {
	if accessreview.ByPropagator(ctx) {
		return nil
	}
	_, err := c.index.evaluate(ctx, func(s *snapshot) (*fence.Guard, error) {
		edge, err := s.edge(ctx, name)
		if err != nil || edge.Subnamespace == "" || edge.Parent != parent {
			return nil, err
		}
		exists, err := s.namespace(ctx, name)
		if err != nil {
			return nil, err
		}
		if exists != nil {
			// Not one that exists as a full namespace, whose name the Subnamespace claims in vain.
			edge.Hierarchy = ""
			if effective, err := s.effective(ctx, name, edge); err != nil || !effective {
				return nil, err
			}
		}
		return nil, c.authorizer.authorizeMove(ctx, s, newRejection(ctx, name), name, parent, nil)
	})
	return err
}

// ValidateVoiding returns the fence of the write that marks the Subnamespace name of a parent as void. The namespace
// keeps its parent, so its Hierarchy has to name the parent first.
func (c *Claims) ValidateVoiding(ctx context.Context, name, parent string) (*fence.Guard, error) {
	return c.index.evaluate(ctx, func(s *snapshot) (*fence.Guard, error) {
		edge, err := s.edge(ctx, name)
		if err != nil {
			return nil, err
		}
		guard := &fence.Guard{}
		if edge.Parent != parent || edge.Subnamespace == "" {
			return guard, nil
		}
		effective, err := s.effective(ctx, name, edge)
		if err != nil {
			return nil, err
		}
		if effective && edge.Hierarchy == "" {
			return nil, newRejection(ctx, name).conflict("the hierarchy of namespace %q does not name the parent %q yet; set its spec.parent first", name, parent)
		}
		edge.Subnamespace = ""
		edge.write(guard, name)
		return guard, nil
	})
}
