package treerules

import (
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/internalerror"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/quota/limits"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// Quotas knows the hierarchical quotas.
type Quotas interface {
	// Get returns the limits. Unless fresh is set, they may be outdated.
	Get(ctx context.Context, fresh bool) (*limits.Limits, error)
}

// limits returns the limits that the commit of this snapshot depends on.
func (s *snapshot) limits(ctx context.Context) (*limits.Limits, error) {
	if s.index.config.Quotas == nil {
		return limits.New(0), nil
	}
	if s.knownLimits != nil {
		return s.knownLimits, nil
	}
	l, err := s.index.config.Quotas.Get(ctx, s.fresh)
	if err != nil {
		return nil, internalerror.From(err)
	}
	s.knownLimits = l
	return l, nil
}

// invalidateUse makes a guard that writes edges invalidate the recorded use of all subtrees that change: those of the
// old and of the new ancestors with quotas. So a reservation that is evaluated on the earlier tree loses its fence, and
// so does a move that has counted what is below a namespace of the tree before another one came there.
func (s *snapshot) invalidateUse(ctx context.Context, guard *fence.Guard) error {
	if len(guard.Put)+len(guard.Delete) == 0 || s.index.config.Quotas == nil {
		return nil
	}
	l, err := s.limits(ctx)
	if err != nil {
		return err
	}
	setRecord(&guard.UnchangedRecords, limits.Record, l.Revision)
	if l.Empty() {
		return nil
	}
	// ancestors maps to whether use moves.
	ancestors := map[string]bool{}
	for name, value := range guard.Put {
		var e edgeValue
		if err := json.Unmarshal(value, &e); err != nil {
			return apierrors.NewInternalError(err)
		}
		if stays, err := s.stays(ctx, name, e); err != nil {
			return err
		} else if stays {
			continue
		}
		if err := s.addAncestors(ctx, ancestors, name, e.Parent); err != nil {
			return err
		}
		if e.Parent == "" {
			continue
		}
		root, err := s.rootOf(ctx, e.Parent)
		if err != nil {
			return err
		}
		setRecord(&guard.PutRecords, limits.Tree(root), []byte{})
	}
	for _, name := range guard.Delete {
		if err := s.addAncestors(ctx, ancestors, name, ""); err != nil {
			return err
		}
	}
	for ancestor, used := range ancestors {
		if used && l.Counted(ancestor) {
			setRecord(&guard.PutRecords, limits.Ledger(ancestor), []byte{})
		}
		if name, _ := l.Subnamespaces(ancestor); name != "" {
			setRecord(&guard.PutRecords, limits.Children(ancestor), []byte{})
		}
	}
	return nil
}

// stays reports whether a namespace is below the same parent as before when it gets an edge: only what holds it there
// changes, as when a sub-namespace gets its Hierarchy.
func (s *snapshot) stays(ctx context.Context, name string, e edgeValue) (bool, error) {
	before, err := s.edge(ctx, name)
	if err != nil || before.Parent != e.Parent {
		return false, err
	}
	was, err := s.effective(ctx, name, before)
	if err != nil || !was {
		return false, err
	}
	return s.effective(ctx, name, e)
}

// rootOf returns the last namespace of a chain.
func (s *snapshot) rootOf(ctx context.Context, name string) (string, error) {
	chain, err := s.chain(ctx, name)
	if err != nil {
		return "", err
	}
	return chain[len(chain)-1], nil
}

// addAncestors adds the ancestors of a namespace before and after it gets a parent.
func (s *snapshot) addAncestors(ctx context.Context, ancestors map[string]bool, name, parent string) error {
	chain, err := s.chain(ctx, name)
	if err != nil {
		return err
	}
	chain = chain[1:]
	if parent != "" {
		after, err := s.chain(ctx, parent)
		if err != nil {
			return err
		}
		chain = append(chain, after...)
	}
	for _, ancestor := range chain {
		ancestors[ancestor] = ancestors[ancestor] || !s.unused[name]
	}
	return nil
}

func setRecord[T any](records *map[string]T, name string, value T) {
	if *records == nil {
		*records = map[string]T{}
	}
	(*records)[name] = value
}

// limitSubnamespaces rejects a namespace below parent, with all that is below it already, if one of the ancestors has
// as many others as its quota allows. The guard compares the records of their subtrees and that of the tree that the
// namespace is in, so the count is exact at commit.
func (s *snapshot) limitSubnamespaces(ctx context.Context, guard *fence.Guard, reject rejection, parent, name string) error {
	l, err := s.limits(ctx)
	if err != nil || l.Empty() {
		return err
	}
	chain, err := s.ancestry(ctx, parent)
	if err != nil {
		return err
	}
	var limited, records []string
	for _, ancestor := range chain {
		if limit, _ := l.Subnamespaces(ancestor); limit != "" {
			limited, records = append(limited, ancestor), append(records, limits.Children(ancestor))
		}
	}
	if len(limited) == 0 {
		return nil
	}
	root, err := s.rootOf(ctx, name)
	if err != nil {
		return err
	}
	records = append(records, limits.Tree(root))
	// The records are read before the index: edges that the index does not contain yet change a record.
	if err := s.compareRecords(ctx, guard, records); err != nil {
		return err
	}
	if err := s.index.WaitUntilFresh(ctx); err != nil {
		return err
	}
	more := 1 + s.index.countBelow(name, "")
	for i := len(limited) - 1; i >= 0; i-- {
		quotaName, hard := l.Subnamespaces(limited[i])
		used := s.index.countBelow(limited[i], name)
		if over := quota.Exceeding(corev1.ResourceList{hnc.ResourceSubnamespaces: hard}, subnamespaces(used), subnamespaces(more)); over != nil {
			return reject.forbidden("%s", quota.ExceededMessage(limited[i], quotaName, over))
		}
	}
	return nil
}

// subnamespaces returns a number of sub-namespaces as a quantity of that resource.
func subnamespaces(n int64) corev1.ResourceList {
	return corev1.ResourceList{hnc.ResourceSubnamespaces: *resource.NewQuantity(n, resource.DecimalSI)}
}

// countBelow returns the number of namespaces below a namespace, without one. All count that are below, whatever put
// them there: whoever may update a sub-namespace can convert it to a full namespace. A Subnamespace counts before its
// namespace exists.
func (i *Index) countBelow(top, without string) (n int64) {
	i.mu.RLock()
	defer i.mu.RUnlock()
	i.forest.Walk(top, func(name string, depth int) bool {
		if depth == 0 || name == without {
			return true
		}
		edge := i.edges[name]
		namespace, err := i.config.Namespaces.Get(name)
		if edge.Subnamespace != "" || err == nil && namespace.DeletionTimestamp == nil && namespace.UID == edge.Hierarchy {
			n++
		}
		return true
	})
	return n
}

// Ancestry returns the chain of a namespace, the root last, and the edges on which it is based with the revisions of
// their last change. Unless fresh is set, it may be outdated.
func (i *Index) Ancestry(ctx context.Context, name string, fresh bool) (chain []string, edges map[string]int64, err error) {
	s := newSnapshot(i, fresh)
	s.cachedNamespaces = true
	if chain, err = s.ancestry(ctx, name); err != nil {
		return nil, nil, err
	}
	edges = make(map[string]int64, len(s.edges))
	for name, e := range s.edges {
		edges[name] = e.revision
	}
	return chain, edges, nil
}
