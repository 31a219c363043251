package tree

import (
	"context"
	"maps"
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

// maxLedgers bounds the ledgers inside a moved subtree that a move compares, because etcd limits the comparisons of a transaction.
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
	over, err := s.exceededBy(ctx, reject, move.guard, l, gained, old, subtree)
	if err != nil {
		return err
	}
	// A right to exceed one quota is no right to exceed the others.
	for _, e := range over {
		allowed, err := m.mayExceed(ctx, e.namespace, e.name)
		if err != nil {
			return err
		}
		if !allowed {
			return reject.forbidden("spec.parent: %s; reduce the use, raise the limit, or set the annotation %s: \"true\" as a user allowed to update the quota",
				e, hnc.AnnotationExceedQuotas)
		}
	}
	return nil
}

// excess says what exceeds a quota.
type excess struct {
	namespace, name string
	over            []quota.Excess
}

func (e excess) String() string { return quota.ExceededMessage(e.namespace, e.name, e.over) }

// exceededBy returns the quotas that the use in a moved subtree would exceed, those of the root first. The guard compares the records, so that a
// concurrent reservation makes the move be evaluated again.
func (s *snapshot) exceededBy(ctx context.Context, reject rejection, guard *fence.Guard, l *limits.Limits, gained, old []string, subtree []Node) ([]excess, error) {
	if err := s.compareLedgers(ctx, reject, guard, l, gained, old, subtree); err != nil {
		return nil, err
	}
	names := make([]string, len(subtree))
	for i, node := range subtree {
		names[i] = node.Name
	}
	moved, sums, err := s.index.config.Use.Subtrees(ctx, names, gained)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	children := s.index.countSubnamespaces(names[0])
	var all []excess
	for _, top := range slices.Backward(gained) {
		earlier, earlierChildren := placementsFrom(ctx).addUse(top, moved, children)
		all = append(all, exceedingMove(l, top, moved, add(sums[top], earlier), children, s.index.countSubnamespaces(top)+earlierChildren)...)
	}
	return all, nil
}

// compareLedgers makes the guard demand that no use has been reserved since this call: below the gained ancestors, and in the moved subtree.
func (s *snapshot) compareLedgers(ctx context.Context, reject rejection, guard *fence.Guard, l *limits.Limits, gained, old []string, subtree []Node) error {
	records, inside := ledgers(l, slices.Concat(gained, old)), ledgersInside(l, old, subtree)
	if len(inside) > maxLedgers {
		return reject.forbidden("spec.parent: more than %d namespaces below %q have quotas of their own, too many to be moved at once; "+
			"create a quota in %q, which counts for all of them, or move them one by one", maxLedgers, subtree[0].Name, subtree[0].Name)
	}
	records = append(records, inside...)
	for _, name := range gained {
		if limit, _ := l.Subnamespaces(name); limit != "" {
			records = append(records, limits.Children(name))
		}
	}
	entries, err := s.index.config.Records.Read(ctx, records...)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	for _, entry := range entries {
		setRecord(&guard.UnchangedRecords, entry.Name, entry.Revision)
	}
	return s.index.WaitUntilFresh(ctx)
}

// ledgers returns the names of the ledgers of namespaces.
func ledgers(l *limits.Limits, namespaces []string) (records []string) {
	for _, name := range namespaces {
		if l.Counted(name) {
			records = append(records, limits.Ledger(name))
		}
	}
	return records
}

// ledgersInside returns the names of ledgers inside a subtree, of which each reservation in it writes at least one. There are none to compare if each
// writes that of an old ancestor.
func ledgersInside(l *limits.Limits, old []string, subtree []Node) (records []string) {
	if slices.ContainsFunc(old, l.Counted) {
		return nil
	}
	top := -1
	for _, node := range subtree {
		if top >= 0 && node.Depth > top {
			continue
		}
		if top = -1; l.Counted(node.Name) {
			top = node.Depth
			records = append(records, limits.Ledger(node.Name))
		}
	}
	return records
}

// exceedingMove returns the quotas of a namespace that a moved subtree exceeds.
func exceedingMove(l *limits.Limits, top string, moved, used ScopedUse, children, present int64) (all []excess) {
	for _, scope := range slices.Sorted(maps.Keys(moved)) {
		for _, q := range l.Of(top, scope) {
			if over := quota.Exceeding(quota.Counted(q.Spec.Hard), used[scope], moved[scope]); over != nil {
				all = append(all, excess{top, q.Name, over})
			}
		}
	}
	for _, q := range l.Of(top, "") {
		if hard, ok := q.Spec.Hard[hnc.ResourceSubnamespaces]; ok {
			limit := corev1.ResourceList{hnc.ResourceSubnamespaces: hard}
			if over := quota.Exceeding(limit, subnamespaces(present), subnamespaces(children)); over != nil {
				all = append(all, excess{top, q.Name, over})
			}
		}
	}
	return all
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
