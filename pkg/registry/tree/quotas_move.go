package tree

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	quotav1 "k8s.io/apiserver/pkg/quota/v1"

	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/quota"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/quota/limits"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// ScopedUse is use by scope.
type ScopedUse map[quota.Scope]corev1.ResourceList

// Use knows the recorded use of namespaces.
type Use interface {
	// Subtrees returns the recorded use of the namespaces in moved, and of the subtree of each namespace in tops.
	Subtrees(ctx context.Context, moved, tops []string) (ScopedUse, map[string]ScopedUse, error)
}

type exceedingQuotasKey struct{}

// WithExceedingQuotas returns a context in which moves may exceed quotas that the requester is allowed to update.
func WithExceedingQuotas(ctx context.Context) context.Context {
	return context.WithValue(ctx, exceedingQuotasKey{}, true)
}

// maxLedgers bounds the ledgers inside a moved subtree that a move compares.
const maxLedgers = 30

// validateUse rejects a move after which the use of a subtree would exceed a quota. It counts the use that is recorded: namespaces without quotas have no
// record. The guard compares the records, so that a concurrent reservation makes the move be evaluated again.
func (m *Moves) validateUse(ctx context.Context, s *snapshot, reject rejection, namespace *corev1.Namespace, move move) error {
	config := m.index.config
	if config.Use == nil || move.guard == nil || ByPropagator(ctx) {
		return nil
	}
	l, err := s.limits(ctx)
	if err != nil || l.Empty() {
		return err
	}
	var old []string
	if move.current != "" {
		if old, err = s.committed().ancestry(ctx, move.current); err != nil {
			return err
		}
	}
	gained := slices.DeleteFunc(slices.Clone(move.chain), func(name string) bool {
		return slices.Contains(old, name) || l.None(name)
	})
	if len(gained) == 0 {
		return nil
	}
	subtree := placementsFrom(ctx).staying(m.index.Subtree(namespace))
	names := make([]string, len(subtree))
	for i, node := range subtree {
		names[i] = node.Name
	}
	// Each reservation in the subtree writes the ledger of an ancestor with a quota: inside the subtree, or one of the old ancestors.
	if err := m.compareLedgers(ctx, move.guard, l, gained, old, names); err != nil {
		return err
	}
	moved, sums, err := config.Use.Subtrees(ctx, names, gained)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	children := m.index.countSubnamespaces(namespace.Name)
	for _, top := range slices.Backward(gained) {
		earlier, earlierChildren := placementsFrom(ctx).addUse(top, moved, children)
		over, name := exceedingMove(l, top, moved, add(sums[top], earlier), children, m.index.countSubnamespaces(top)+earlierChildren)
		if over == nil {
			continue
		}
		if allowed, err := m.mayExceed(ctx, top, name); err != nil || !allowed {
			if err == nil {
				err = reject.forbidden("spec.parent: %s; reduce the use, raise the limit, or set the annotation %s: \"true\" as a user allowed to update the quota",
					quota.ExceededMessage(top, name, over), hnc.AnnotationExceedQuotas)
			}
			return err
		}
	}
	return nil
}

// compareLedgers makes the guard demand that no use has been reserved since this call: below the gained ancestors, and in the moved subtree.
func (m *Moves) compareLedgers(ctx context.Context, guard *fence.Guard, l *limits.Limits, gained, old, subtree []string) error {
	var records []string
	for _, name := range slices.Concat(gained, old) {
		if l.Counted(name) {
			records = append(records, limits.Ledger(name))
		}
	}
	inside := 0
	for _, name := range subtree {
		if l.Counted(name) && inside < maxLedgers {
			records, inside = append(records, limits.Ledger(name)), inside+1
		}
	}
	for _, name := range gained {
		if limit, _ := l.Subnamespaces(name); limit != "" {
			records = append(records, limits.Children(name))
		}
	}
	entries, err := m.index.config.Records.Read(ctx, records...)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	for _, entry := range entries {
		setRecord(&guard.UnchangedRecords, entry.Name, entry.Revision)
	}
	return m.index.WaitUntilFresh(ctx)
}

// exceedingMove returns what of a moved subtree exceeds a quota of a namespace, and the name of the quota; nil if nothing does.
func exceedingMove(l *limits.Limits, top string, moved, used ScopedUse, children, present int64) (over []quota.Excess, name string) {
	for scope, use := range moved {
		for _, q := range l.Of(top, scope) {
			if over := quota.Exceeding(quota.Counted(q.Spec.Hard), used[scope], use); over != nil {
				return over, q.Name
			}
		}
	}
	if name, hard := l.Subnamespaces(top); name != "" {
		return quota.Exceeding(corev1.ResourceList{hnc.ResourceSubnamespaces: hard}, subnamespaces(present), subnamespaces(children)), name
	}
	return nil, ""
}

// mayExceed reports whether the requester wants to exceed quotas, and may update the given one.
func (m *Moves) mayExceed(ctx context.Context, namespace, name string) (bool, error) {
	if ctx.Value(exceedingQuotasKey{}) == nil {
		return false, nil
	}
	_, allowed, err := m.authorizer.allows(ctx, authorizer.AttributesRecord{
		Verb: "update", Namespace: namespace, APIGroup: hnc.GroupName, APIVersion: "*", Resource: "hierarchicalresourcequotas", Name: name,
	})
	return allowed, err
}

func add(a, b ScopedUse) ScopedUse {
	sum := ScopedUse{}
	for _, use := range []ScopedUse{a, b} {
		for scope, list := range use {
			sum[scope] = quotav1.Add(sum[scope], list)
		}
	}
	return sum
}

// addUse adds the use of a moved subtree to what the moves before it bring below a namespace, and returns that.
func (p *Placements) addUse(top string, moved ScopedUse, children int64) (earlier ScopedUse, earlierChildren int64) {
	if p == nil {
		return nil, 0
	}
	earlier, earlierChildren = p.use[top], p.children[top]
	p.use[top], p.children[top] = add(earlier, moved), earlierChildren+children
	return earlier, earlierChildren
}
