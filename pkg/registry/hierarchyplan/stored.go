package hierarchyplan

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	registry "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/treerules"
)

// storedRecords reads the records for one plan from the caches of this server. They contain what this server had stored
// when newStoredRecords was called; namespaces may lag behind kube-apiserver, as in all decisions of this server.
type storedRecords struct {
	*Planner
	ctx context.Context //nolint:containedctx // It lives as long as one request.
	// hierarchies and subnamespaces are the versions that reads are at least as new as.
	hierarchies, subnamespaces string
}

// readTree returns the part of the trees around a namespace and the other ones, under the given rules.
func (p *Planner) readTree(ctx context.Context, rules managedkeys.Rules, around string, others ...string) (*tree.Tree, error) {
	if err := p.Tree.Index.WaitUntilFresh(ctx); err != nil {
		return nil, err
	}
	r := &storedRecords{Planner: p, ctx: ctx}
	var err error
	if r.hierarchies, err = r.present(p.Hierarchies, around); err != nil {
		return nil, err
	}
	if r.subnamespaces, err = r.present(p.Subnamespaces, around); err != nil {
		return nil, err
	}
	return readSurroundings(r, rules, around, others...)
}

// present returns the present version of a store, for which it lists the objects of one namespace. The store's cache is
// as new after that, so that reads of this version neither wait nor ask etcd.
func (r *storedRecords) present(store Store, namespace string) (string, error) {
	list, err := store.List(genericapirequest.WithNamespace(r.ctx, namespace), &metainternalversion.ListOptions{})
	if err != nil {
		return "", err
	}
	return list.(metav1.ListInterface).GetResourceVersion(), nil
}

func (r *storedRecords) edgesAbove(name string) []string { return r.Tree.Index.Chain(name)[1:] }
func (r *storedRecords) edgesBelow(name string) []string { return r.Tree.Index.Children(name) }

func (r *storedRecords) terminatingBelow(name string) ([]string, error) {
	return r.TerminatingBelow(name)
}

func (r *storedRecords) namespace(name string) (*tree.Namespace, error) {
	ns, err := r.Tree.Index.Namespace(r.ctx, name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return tree.NewNamespace(ns), nil
}

func (r *storedRecords) hierarchy(namespace string) (*tree.Hierarchy, error) {
	object, err := r.get(r.Hierarchies, r.hierarchies, namespace, hnc.Singleton)
	if object == nil {
		return nil, err
	}
	return registry.HierarchyRecord(object.(*hnc.Hierarchy))
}

func (r *storedRecords) subnamespace(key tree.Key) (*tree.Subnamespace, error) {
	object, err := r.get(r.Subnamespaces, r.subnamespaces, key.Parent, key.Name)
	if object == nil {
		return nil, err
	}
	return newSubnamespace(object.(*hnc.Subnamespace))
}

func (r *storedRecords) subnamespacesIn(namespace string) ([]*tree.Subnamespace, error) {
	list, err := r.Subnamespaces.List(genericapirequest.WithNamespace(r.ctx, namespace), &metainternalversion.ListOptions{ResourceVersion: r.subnamespaces})
	if err != nil {
		return nil, err
	}
	items := list.(*hnc.SubnamespaceList).Items
	all := make([]*tree.Subnamespace, len(items))
	for i := range items {
		if all[i], err = newSubnamespace(&items[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// get returns an object, nil if it does not exist.
func (r *storedRecords) get(store Store, version, namespace, name string) (runtime.Object, error) {
	object, err := store.Get(genericapirequest.WithNamespace(r.ctx, namespace), name, &metav1.GetOptions{ResourceVersion: version})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return object, err
}

func newSubnamespace(stored *hnc.Subnamespace) (*tree.Subnamespace, error) {
	var s v1beta1.Subnamespace
	err := v1beta1.Convert_hnc_Subnamespace_To_v1beta1_Subnamespace(stored, &s, nil)
	return tree.NewSubnamespace(&s), err
}
