package overwrittenobject

import (
	"context"
	"maps"
	"time"

	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Tenants decide how much is overwritten, so that what is kept is bounded: each manifest, all together, and how much is written in a time,
// because etcd keeps what was deleted until it compacts its history.
const (
	maxManifest = 512 << 10
	maxTotal    = 64 << 20
	perSecond   = 1 << 20
	// overhead is what a record takes besides its manifest.
	overhead = 1 << 10
)

func size(o *hnc.OverwrittenObject) int { return len(o.Spec.Manifest) + overhead }

// makeRoom deletes records until there is room for one more. The records of the tree that has most go first, the oldest before the others:
// a tenant who has much overwritten only loses records of their own.
func (r *REST) makeRoom(ctx context.Context, room int) error {
	everywhere := genericapirequest.WithNamespace(ctx, metav1.NamespaceAll)
	list, err := r.store.List(everywhere, &metainternalversion.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return err
	}
	records := list.(*hnc.OverwrittenObjectList).Items
	for _, victim := range victims(records, r.root, room) {
		at := genericapirequest.WithNamespace(ctx, victim.Namespace)
		_, _, err := r.store.Delete(at, victim.Name, rest.ValidateAllObjectFunc, &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &victim.UID}})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return err
		}
	}
	return nil
}

// victims returns the records that have to go so that all others and one of the given size are not too large.
func victims(records []hnc.OverwrittenObject, root func(namespace string) string, room int) []*hnc.OverwrittenObject {
	total, trees := room, map[string]int{}
	byTree := map[string][]*hnc.OverwrittenObject{}
	for i := range records {
		o := &records[i]
		tree := root(o.Namespace)
		total += size(o)
		trees[tree] += size(o)
		byTree[tree] = append(byTree[tree], o)
	}
	var victims []*hnc.OverwrittenObject
	for total > maxTotal && len(trees) > 0 {
		largest := ""
		for tree, sum := range trees {
			if sum > trees[largest] || largest == "" {
				largest = tree
			}
		}
		oldest := 0
		for i, o := range byTree[largest] {
			if o.CreationTimestamp.Before(&byTree[largest][oldest].CreationTimestamp) {
				oldest = i
			}
		}
		victim := byTree[largest][oldest]
		victims = append(victims, victim)
		byTree[largest] = append(byTree[largest][:oldest], byTree[largest][oldest+1:]...)
		total -= size(victim)
		if trees[largest] -= size(victim); len(byTree[largest]) == 0 {
			delete(trees, largest)
		}
	}
	return victims
}

// treeShare is which part of what is written in a time may be of one tree, so that a tenant who has much overwritten does not keep the objects
// of others from being recorded.
const treeShare = 2

// rates says how much may be written in a time.
type rates struct {
	all *rate.Limiter
	// trees are those in which something was overwritten lately.
	trees map[string]*rate.Limiter
}

func newRates() rates {
	return rates{rate.NewLimiter(perSecond, maxTotal), map[string]*rate.Limiter{}}
}

// allow says whether as much may be written now for a tree.
func (r rates) allow(now time.Time, tree string, size int) bool {
	maps.DeleteFunc(r.trees, func(_ string, l *rate.Limiter) bool { return l.TokensAt(now) >= maxTotal/treeShare })
	own, known := r.trees[tree]
	if !known {
		own = rate.NewLimiter(perSecond/treeShare, maxTotal/treeShare)
		r.trees[tree] = own
	}
	return own.AllowN(now, size) && r.all.AllowN(now, size)
}
