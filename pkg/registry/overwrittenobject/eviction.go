package overwrittenobject

import (
	"context"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Tenants determine how much is overwritten, so records are bounded: the size of each, the size of all, and the bytes
// written per second, because etcd keeps deleted records until it compacts its history.
const (
	maxManifest = 512 << 10
	maxTotal    = 64 << 20
	perSecond   = 1 << 20
	// overhead is the size of a record without its manifest.
	overhead = 1 << 10
	// shares is the number of replicas that can use the room of one list without exceeding maxTotal, until one of them
	// lists again. What is too much then is deleted after the next lists.
	shares = 4
	// batch is the size of the records that are chosen for eviction at once. A share of it has room for any record.
	batch = shares * (maxManifest + overhead)
	// maxLists is how often records are listed to make room for one.
	maxLists = 3
	// recent is how long a list is used: other replicas store and delete records meanwhile.
	recent = 10 * time.Second
)

func size(o *hnc.OverwrittenObject) int { return len(o.Spec.Manifest) + overhead }

// evictFor deletes records until another one of the given size fits. It deletes from the largest tree first, and there
// the oldest record first, so a tenant with many overwritten objects loses only records of its own. It lists records
// only when its share of the room and the chosen records are used up, or not recent. The mutex is locked.
func (r *REST) evictFor(ctx context.Context, added int) error {
	if time.Since(r.listed) > recent {
		r.room, r.chosen = 0, nil
	}
	for lists := 0; r.room < added; {
		if len(r.chosen) == 0 {
			if lists == maxLists {
				// The lists contain what is gone already. A later one makes room.
				r.room, r.listed = 0, time.Time{}
				return nil
			}
			if err := r.choose(ctx); err != nil {
				return err
			}
			lists++
			continue
		}
		victim := r.chosen[0]
		at := genericapirequest.WithNamespace(ctx, victim.Namespace)
		_, _, err := r.store.Delete(at, victim.Name, rest.ValidateAllObjectFunc, &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &victim.UID}})
		switch {
		case err == nil:
			r.room += size(&victim)
		case !apierrors.IsNotFound(err) && !apierrors.IsConflict(err):
			return err
		}
		r.chosen = r.chosen[1:]
	}
	r.room -= added
	return nil
}

// choose lists all records, to know the room and which ones to delete next.
func (r *REST) choose(ctx context.Context) error {
	everywhere := genericapirequest.WithNamespace(ctx, metav1.NamespaceAll)
	list, err := r.store.List(everywhere, &metainternalversion.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return err
	}
	records := list.(*hnc.OverwrittenObjectList).Items
	r.listed = time.Now()
	free := maxTotal
	for i := range records {
		free -= size(&records[i])
	}
	r.room = min(free, free/shares)
	for _, o := range victims(records, r.root, batch) {
		r.chosen = append(r.chosen, *o) // a copy, so that the list is not kept
	}
	return nil
}

// victims returns the records to delete so that the others and one of the given size fit.
func victims(records []hnc.OverwrittenObject, root func(namespace string) string, added int) []*hnc.OverwrittenObject {
	total, trees := added, map[string]int{}
	byTree, roots := map[string][]*hnc.OverwrittenObject{}, map[string]string{}
	for i := range records {
		o := &records[i]
		tree, known := roots[o.Namespace]
		if !known {
			tree = root(o.Namespace)
			roots[o.Namespace] = tree
		}
		total += size(o)
		trees[tree] += size(o)
		byTree[tree] = append(byTree[tree], o)
	}
	for _, of := range byTree {
		slices.SortFunc(of, func(a, b *hnc.OverwrittenObject) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	}
	var victims []*hnc.OverwrittenObject
	for total > maxTotal && len(trees) > 0 {
		largest := ""
		for tree, sum := range trees {
			if sum > trees[largest] || largest == "" {
				largest = tree
			}
		}
		victim := byTree[largest][0]
		victims = append(victims, victim)
		byTree[largest] = byTree[largest][1:]
		total -= size(victim)
		if trees[largest] -= size(victim); len(byTree[largest]) == 0 {
			delete(trees, largest)
		}
	}
	return victims
}
