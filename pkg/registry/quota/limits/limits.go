// Package limits knows the limits of all HierarchicalResourceQuotas, at a revision that a write can compare.
package limits

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/quota"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// Names of records (fence.Records).
const (
	// Record is written by each change of a limit. A write that depends on limits compares it.
	Record = "quota/limits"
	// LedgerFolder contains a record for each namespace with limits that ResourceQuotas count: the use of its subtree.
	// A change of the subtree empties it.
	LedgerFolder = "quota/ledgers"
	// ChildrenFolder contains a record for each namespace with a limit of sub-namespaces. A change of the subtree
	// writes it.
	ChildrenFolder = "quota/subtrees"
	// TreesFolder contains a record for each root. While there are limits, a namespace that joins the tree writes it.
	TreesFolder = "quota/trees"
)

// Ledger returns the name of the record of a namespace in LedgerFolder.
func Ledger(namespace string) string { return LedgerFolder + "/" + namespace }

// Children returns the name of the record of a namespace in ChildrenFolder.
func Children(namespace string) string { return ChildrenFolder + "/" + namespace }

// Tree returns the name of the record of a root in TreesFolder.
func Tree(root string) string { return TreesFolder + "/" + root }

// Limits are the limits at a revision. They are read-only.
type Limits struct {
	// Revision is the revision of Record.
	Revision int64
	quotas   map[string][]hnc.HierarchicalResourceQuota
	// scopes return those of the quotas in a namespace, in their order. They are computed when they are needed first.
	scopes map[string]func() []quota.Scope
}

// New returns the limits that quotas set, as far as they are in force.
func New(revision int64, quotas ...hnc.HierarchicalResourceQuota) *Limits {
	l := &Limits{Revision: revision, quotas: map[string][]hnc.HierarchicalResourceQuota{}, scopes: map[string]func() []quota.Scope{}}
	for _, q := range quotas {
		q.Spec.Hard, _ = quota.InForce(q.Spec.Hard)
		l.quotas[q.Namespace] = append(l.quotas[q.Namespace], q)
	}
	for namespace, of := range l.quotas {
		slices.SortFunc(of, func(a, b hnc.HierarchicalResourceQuota) int { return cmp.Compare(a.Name, b.Name) })
		l.scopes[namespace] = sync.OnceValue(func() (scopes []quota.Scope) {
			for i := range of {
				scopes = append(scopes, quota.ScopeOf(&of[i].Spec))
			}
			return scopes
		})
	}
	return l
}

// None reports whether a namespace has no quotas.
func (l *Limits) None(namespace string) bool { return len(l.quotas[namespace]) == 0 }

// Quotas returns the number of quotas in a namespace.
func (l *Limits) Quotas(namespace string) int { return len(l.quotas[namespace]) }

// Empty reports whether there are no quotas.
func (l *Limits) Empty() bool { return len(l.quotas) == 0 }

// Namespaces returns the namespaces with quotas, in the order of their names.
func (l *Limits) Namespaces() []string { return slices.Sorted(maps.Keys(l.quotas)) }

// In returns the quotas in a namespace, in the order of their names. They are read-only.
func (l *Limits) In(namespace string) []hnc.HierarchicalResourceQuota { return l.quotas[namespace] }

// Of returns the quotas of one scope in a namespace, in the order of their names.
func (l *Limits) Of(namespace string, scope quota.Scope) []hnc.HierarchicalResourceQuota {
	if l.None(namespace) {
		return nil
	}
	var quotas []hnc.HierarchicalResourceQuota
	for i, of := range l.scopes[namespace]() {
		if of == scope {
			quotas = append(quotas, l.quotas[namespace][i])
		}
	}
	return quotas
}

// Enforced reports whether a quota of the scope is enforced in a namespace with this chain, the root last: whether
// there is one that fits.
func (l *Limits) Enforced(chain []string, scope quota.Scope) bool {
	var room quota.Room
	for _, at := range slices.Backward(chain) {
		if l.None(at) {
			continue
		}
		for i, of := range l.scopes[at]() {
			if room.Add(of, quota.Size(&l.quotas[at][i].Spec)) && of == scope {
				return true
			}
		}
	}
	return false
}

// Counted reports whether a namespace has limits that ResourceQuotas count.
func (l *Limits) Counted(namespace string) bool {
	return slices.ContainsFunc(l.quotas[namespace], func(q hnc.HierarchicalResourceQuota) bool { return len(quota.Counted(q.Spec.Hard)) > 0 })
}

// Subnamespaces returns the name and the lowest limit of the quotas that limit the sub-namespaces below a namespace;
// the name is "" if there is none.
func (l *Limits) Subnamespaces(namespace string) (name string, hard resource.Quantity) {
	for _, q := range l.quotas[namespace] {
		if limit, ok := q.Spec.Hard[hnc.ResourceSubnamespaces]; ok && (name == "" || limit.Cmp(hard) < 0) {
			name, hard = q.Name, limit
		}
	}
	return name, hard
}

// Records reads records by a quorum read.
type Records interface {
	Read(ctx context.Context, names ...string) ([]fence.Entry, error)
}

// Reader reads the limits.
type Reader struct {
	// Records stores Record.
	Records Records
	// List returns all quotas, as of a revision that is not before the call.
	List func(context.Context) ([]hnc.HierarchicalResourceQuota, error)

	mu     sync.Mutex
	cached *Limits
}

// Get returns the limits. Those that were read before may be outdated, unless fresh is set.
func (r *Reader) Get(ctx context.Context, fresh bool) (*Limits, error) {
	r.mu.Lock()
	cached := r.cached
	r.mu.Unlock()
	if cached != nil && !fresh {
		return cached, nil
	}
	// The record is read first: if a limit changes between both reads, the record of the result is outdated.
	entries, err := r.Records.Read(ctx, Record)
	if err != nil {
		return nil, err
	}
	revision := entries[0].Revision
	if cached != nil && cached.Revision == revision {
		return cached, nil
	}
	quotas, err := r.List(ctx)
	if err != nil {
		return nil, err
	}
	read := New(revision, quotas...)
	r.mu.Lock()
	defer r.mu.Unlock()
	// The revision is lower if the record was lost.
	if r.cached == cached || r.cached.Revision < revision {
		r.cached = read
	}
	return read, nil
}
