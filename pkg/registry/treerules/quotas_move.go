package treerules

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	quotav1 "k8s.io/apiserver/pkg/quota/v1"

	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/internalerror"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/quota/limits"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// ScopedUse is use by scope.
type ScopedUse map[quota.Scope]corev1.ResourceList

// Use knows the recorded use of namespaces.
type Use interface {
	// Subtrees returns the recorded use of the namespaces in moved, and of the subtree of each namespace in tops that has
	// an enforced quota.
	Subtrees(ctx context.Context, moved, tops []string) (ScopedUse, map[string]ScopedUse, error)
}

type exceedingQuotasKey struct{}

// WithExceedingQuotas returns a context in which moves may exceed quotas that the requester is allowed to update.
func WithExceedingQuotas(ctx context.Context) context.Context {
	return context.WithValue(ctx, exceedingQuotasKey{}, true)
}

// maxLedgers bounds the ledgers inside a moved subtree that a move compares, because etcd limits the comparisons of a
// transaction.
const maxLedgers = 30

// validateUse rejects a move after which the use of a subtree would exceed a quota that the requester may not exceed.
func (m *Moves) validateUse(ctx context.Context, s *snapshot, reject rejection, namespace *corev1.Namespace, move move) error {
	over, err := s.exceededByMove(ctx, reject, namespace, move)
	if err != nil {
		return err
	}
	// A permission to exceed one quota is not a permission to exceed the others.
	for _, e := range over {
		allowed, err := m.mayExceed(ctx, e.Namespace, e.Name)
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

// ExceededQuotas returns the quotas that a legal move would exceed, those of the root first, and those of a namespace
// in the order of their names.
func (m *Moves) ExceededQuotas(ctx context.Context, namespace *corev1.Namespace, parent string) (exceeded []ExceededQuota, err error) {
	_, err = m.index.evaluate(ctx, func(s *snapshot) (*fence.Guard, error) {
		reject := newRejection(ctx, hnc.Singleton)
		move, err := m.validateStructure(ctx, s, reject, namespace, parent)
		if err == nil && move.current != parent {
			exceeded, err = s.exceededByMove(ctx, reject, namespace, move)
		}
		return nil, err
	})
	return exceeded, err
}

// ExceededQuota is what exceeds a quota.
type ExceededQuota struct {
	Namespace, Name string
	Over            []quota.Excess
}

// String returns the message of HNC.
func (e ExceededQuota) String() string { return quota.ExceededMessage(e.Namespace, e.Name, e.Over) }

// exceededByMove returns the quotas that a move would exceed. It counts the use that is recorded: namespaces without
// quotas have no record.
func (s *snapshot) exceededByMove(ctx context.Context, reject rejection, namespace *corev1.Namespace, move move) ([]ExceededQuota, error) {
	if s.index.config.Use == nil || move.guard == nil || accessreview.ByPropagator(ctx) {
		return nil, nil
	}
	l, err := s.limits(ctx)
	if err != nil || l.Empty() {
		return nil, err
	}
	var old []string
	if move.current != "" {
		if old, err = s.ancestry(ctx, move.current); err != nil {
			return nil, err
		}
	}
	gained := slices.DeleteFunc(slices.Clone(move.chain), func(name string) bool {
		return slices.Contains(old, name) || l.None(name)
	})
	if len(gained) == 0 {
		return nil, nil
	}
	return s.exceededBy(ctx, reject, move.guard, l, gained, old, namespace.Name, func() ([]Node, error) { return s.index.Subtree(namespace), nil })
}

// exceededBy returns the quotas that the use in a moved subtree would exceed, those of the root first. The guard
// compares the records, so that a concurrent reservation makes the move be evaluated again. below returns the subtree:
// what is in it is read after the record that changes when more joins it.
func (s *snapshot) exceededBy(ctx context.Context, reject rejection, guard *fence.Guard, l *limits.Limits, gained, old []string,
	top string, below func() ([]Node, error)) ([]ExceededQuota, error) {
	if err := s.compareTrees(ctx, guard, l, gained, old, top); err != nil {
		return nil, err
	}
	subtree, err := below()
	if err != nil {
		return nil, err
	}
	if err := s.compareInside(ctx, reject, guard, ledgersInside(l, old, subtree), top); err != nil {
		return nil, err
	}
	names := make([]string, len(subtree))
	for i, node := range subtree {
		names[i] = node.Name
	}
	moved, sums, err := s.index.config.Use.Subtrees(ctx, names, gained)
	if err != nil {
		return nil, internalerror.From(err)
	}
	joining := 1 + s.index.countBelow(top, "")
	var all []ExceededQuota
	for _, above := range slices.Backward(gained) {
		chain, err := s.ancestry(ctx, above)
		if err != nil {
			return nil, err
		}
		enforced := l.Enforced(chain, s.index.Excluded)[above]
		// The API server itself counts sub-namespaces, for all quotas.
		inForce := func(q *limits.Quota, name corev1.ResourceName) bool {
			return name == hnc.ResourceSubnamespaces || enforced.Contains(q) && !s.index.config.propagated().Lifts(name, chain)
		}
		all = append(all, exceedingMove(l.In(above), inForce, moved, sums[above], joining, s.index.countBelow(above, ""))...)
	}
	if of := s.index.config.Sources; len(all) > 0 && of != nil && !of.ModesKnown() {
		return nil, modesUnread() // They may not be in force.
	}
	return all, nil
}

// compareTrees makes the guard demand that since this call no use has been reserved below the gained ancestors, and no
// namespace has joined these or the tree of what moves. It returns when the index has what has joined before.
func (s *snapshot) compareTrees(ctx context.Context, guard *fence.Guard, l *limits.Limits, gained, old []string, top string) error {
	root, err := s.rootOf(ctx, top)
	if err != nil {
		return err
	}
	records := append(ledgers(l, slices.Concat(gained, old)), limits.Tree(root))
	for _, name := range gained {
		if limit, _ := l.Subnamespaces(name); limit != "" {
			records = append(records, limits.Children(name))
		}
	}
	if err := s.compareRecords(ctx, guard, records); err != nil {
		return err
	}
	return s.index.WaitUntilFresh(ctx)
}

// compareInside makes the guard demand that since this call no use has been reserved in the moved subtree.
func (s *snapshot) compareInside(ctx context.Context, reject rejection, guard *fence.Guard, inside []string, top string) error {
	if len(inside) > maxLedgers {
		return reject.forbidden("spec.parent: more than %d namespaces below %q have quotas of their own, too many to be moved at once; "+
			"create a quota in %q, which counts for all of them, or move them one by one", maxLedgers, top, top)
	}
	if len(inside) == 0 {
		return nil
	}
	return s.compareRecords(ctx, guard, inside)
}

// compareRecords makes the guard demand that records do not change, since they were read first.
func (s *snapshot) compareRecords(ctx context.Context, guard *fence.Guard, records []string) error {
	entries, err := s.index.config.Records.Read(ctx, records...)
	if err != nil {
		return internalerror.From(err)
	}
	for _, entry := range entries {
		if _, read := guard.UnchangedRecords[entry.Name]; !read {
			setRecord(&guard.UnchangedRecords, entry.Name, entry.Revision)
		}
	}
	return nil
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

// ledgersInside returns the names of ledgers inside a subtree, of which each reservation in it writes at least one.
// There are none to compare if each writes that of an old ancestor.
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

// exceedingMove returns those of the quotas of a namespace that a moved subtree exceeds, in their order. inForce
// reports whether a limit of a quota is in force. joining and present are numbers of namespaces: the moved ones, and
// those below the namespace.
func exceedingMove(quotas []*limits.Quota, inForce func(*limits.Quota, corev1.ResourceName) bool, moved, used ScopedUse, joining, present int64) (all []ExceededQuota) {
	for _, q := range quotas {
		scope := q.Scope()
		over := quota.Exceeding(q.Hard, quotav1.Add(used[scope], subnamespaces(present)), quotav1.Add(moved[scope], subnamespaces(joining)))
		over = slices.DeleteFunc(over, func(e quota.Excess) bool { return !inForce(q, e.Resource) })
		if len(over) > 0 {
			all = append(all, ExceededQuota{Namespace: q.Namespace, Name: q.Name, Over: over})
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
