// Package limits knows the limits of all HierarchicalResourceQuotas, at a revision that a write can compare.
package limits

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

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
	// QuotasFolder contains a record for each namespace with quotas. Each change of one of them writes it.
	QuotasFolder = "quota/namespaces"
)

// Ledger returns the name of the record of a namespace in LedgerFolder.
func Ledger(namespace string) string { return LedgerFolder + "/" + namespace }

// Children returns the name of the record of a namespace in ChildrenFolder.
func Children(namespace string) string { return ChildrenFolder + "/" + namespace }

// Tree returns the name of the record of a root in TreesFolder.
func Tree(root string) string { return TreesFolder + "/" + root }

// Quotas returns the name of the record of a namespace in QuotasFolder.
func Quotas(namespace string) string { return QuotasFolder + "/" + namespace }

// Limits are the limits at a revision. They are read-only.
type Limits struct {
	// Revision is the revision of Record.
	Revision int64
	// quotas are in the order of their names.
	quotas map[string][]*Quota
}

// Quota is a quota as far as its limits are in force. It is read-only.
type Quota struct {
	Namespace, Name string
	// Hard are the limits, and Counted those that ResourceQuotas count.
	Hard, Counted corev1.ResourceList
	// Size is its part of the room that the quotas of a namespace share.
	Size int
	// Scope returns the scope of the quota. It is computed when it is needed first.
	Scope func() quota.Scope

	uid        types.UID
	generation int64
}

func newQuota(q *hnc.HierarchicalResourceQuota) *Quota {
	spec := q.Spec
	hard, _ := quota.InForce(spec.Hard)
	return &Quota{
		Namespace: q.Namespace, Name: q.Name, Hard: hard, Counted: quota.Counted(hard), Size: quota.Size(&spec),
		Scope: sync.OnceValue(func() quota.Scope { return quota.ScopeOf(&spec) }), uid: q.UID, generation: q.Generation,
	}
}

// New returns the limits that quotas set, as far as they are in force.
func New(revision int64, quotas ...hnc.HierarchicalResourceQuota) *Limits {
	return newFrom(&Limits{}, revision, quotas)
}

// newFrom returns the limits that quotas set. Quotas that have not changed since earlier limits are not computed again:
// their number is up to tenants, and decisions of all trees wait.
func newFrom(before *Limits, revision int64, quotas []hnc.HierarchicalResourceQuota) *Limits {
	l := &Limits{Revision: revision, quotas: map[string][]*Quota{}}
	for i := range quotas {
		q := &quotas[i]
		known, found := before.quota(q.Namespace, q.Name)
		if !found || q.UID == "" || q.UID != known.uid || q.Generation != known.generation {
			known = newQuota(q)
		}
		l.quotas[q.Namespace] = append(l.quotas[q.Namespace], known)
	}
	for _, of := range l.quotas {
		slices.SortFunc(of, func(a, b *Quota) int { return cmp.Compare(a.Name, b.Name) })
	}
	return l
}

func (l *Limits) quota(namespace, name string) (*Quota, bool) {
	of := l.quotas[namespace]
	i, found := slices.BinarySearchFunc(of, name, func(q *Quota, name string) int { return cmp.Compare(q.Name, name) })
	if !found {
		return nil, false
	}
	return of[i], true
}

// None reports whether a namespace has no quotas.
func (l *Limits) None(namespace string) bool { return len(l.quotas[namespace]) == 0 }

// Quotas returns the number of quotas in a namespace.
func (l *Limits) Quotas(namespace string) int { return len(l.quotas[namespace]) }

// Empty reports whether there are no quotas.
func (l *Limits) Empty() bool { return len(l.quotas) == 0 }

// Namespaces returns the namespaces with quotas, in the order of their names.
func (l *Limits) Namespaces() []string { return slices.Sorted(maps.Keys(l.quotas)) }

// In returns the quotas in a namespace, in the order of their names.
func (l *Limits) In(namespace string) []*Quota { return l.quotas[namespace] }

// Enforced are those of the quotas in a namespace that are enforced in its subtree.
type Enforced struct {
	// Part has a 1 for each of the quotas in the namespace that is enforced, and a 0 for each other one, in the order of
	// their names.
	Part   string
	quotas []*Quota
}

// Of returns those of one scope, in the order of their names.
func (e Enforced) Of(scope quota.Scope) (quotas []*Quota) {
	for _, q := range e.quotas {
		if q.Scope() == scope {
			quotas = append(quotas, q)
		}
	}
	return quotas
}

// Counted reports whether any of them has limits that ResourceQuotas count.
func (e Enforced) Counted() bool { return slices.ContainsFunc(e.quotas, counts) }

// Contains reports whether a quota is one of them.
func (e Enforced) Contains(q *Quota) bool { return slices.Contains(e.quotas, q) }

// Enforced returns, for each namespace with quotas in a chain, the root last, those that are enforced: that fit into the
// ResourceQuotas of its subtree. None keeps out one from above. Quotas in namespaces that are excluded from trees are
// enforced nowhere. Those above one take no room below it, as for the propagator, but still count what is used there.
func (l *Limits) Enforced(chain []string, excluded func(namespace string) bool) map[string]Enforced {
	var room quota.Room
	enforced := map[string]Enforced{}
	if l.Empty() {
		return enforced
	}
	for _, at := range slices.Backward(chain) {
		if excluded(at) {
			room = quota.Room{}
			continue
		}
		part := make([]byte, len(l.quotas[at]))
		var quotas []*Quota
		for i, q := range l.quotas[at] {
			if part[i] = '0'; room.Add(q.Scope(), q.Size) {
				part[i] = '1'
				quotas = append(quotas, q)
			}
		}
		enforced[at] = Enforced{string(part), quotas}
	}
	return enforced
}

// Counted reports whether a namespace has limits that ResourceQuotas count.
func (l *Limits) Counted(namespace string) bool {
	return slices.ContainsFunc(l.quotas[namespace], counts)
}

func counts(q *Quota) bool { return len(q.Counted) > 0 }

// Subnamespaces returns the name and the lowest limit of the quotas that limit the sub-namespaces below a namespace;
// the name is "" if there is none.
func (l *Limits) Subnamespaces(namespace string) (name string, hard resource.Quantity) {
	for _, q := range l.quotas[namespace] {
		if limit, ok := q.Hard[hnc.ResourceSubnamespaces]; ok && (name == "" || limit.Cmp(hard) < 0) {
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

	cached atomic.Pointer[Limits]
	// computing is held while limits are computed, once for all who need them.
	computing sync.Mutex
}

// Get returns the limits. Those that were read before may be outdated, unless fresh is set.
func (r *Reader) Get(ctx context.Context, fresh bool) (*Limits, error) {
	cached := r.cached.Load()
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
	r.computing.Lock()
	defer r.computing.Unlock()
	known := r.cached.Load()
	if known != nil && known.Revision == revision {
		return known, nil
	}
	read := newFrom(cmp.Or(known, &Limits{}), revision, quotas)
	// The revision is lower if the record was lost.
	if known == cached || known.Revision < revision {
		r.cached.Store(read)
	}
	return read, nil
}
