package overwrittenobject

import (
	"context"

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
)

func size(o *hnc.OverwrittenObject) int { return len(o.Spec.Manifest) + overhead }

// evictFor deletes records until another one of the given size fits. It deletes from the largest tree first, and there
// the oldest record first, so a tenant with many overwritten objects loses only records of its own.
func (r *REST) evictFor(ctx context.Context, size int) error {
	everywhere := genericapirequest.WithNamespace(ctx, metav1.NamespaceAll)
	list, err := r.store.List(everywhere, &metainternalversion.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return err
	}
	records := list.(*hnc.OverwrittenObjectList).Items
	for _, victim := range victims(records, r.root, size) {
		at := genericapirequest.WithNamespace(ctx, victim.Namespace)
		_, _, err := r.store.Delete(at, victim.Name, rest.ValidateAllObjectFunc, &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &victim.UID}})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return err
		}
	}
	return nil
}

// victims returns the records to delete so that the others and one of the given size fit.
func victims(records []hnc.OverwrittenObject, root func(namespace string) string, added int) []*hnc.OverwrittenObject {
	total, trees := added, map[string]int{}
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
