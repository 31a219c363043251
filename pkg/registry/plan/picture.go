package plan

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"
	rbacv1 "k8s.io/api/rbac/v1"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/tools/pager"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/sources"
)

// picture is what a plan is made on: the tree, and the objects that matter, as they are.
type picture struct {
	tree    *tree.Tree
	indexes []*copies.Index
	// grants holds what RoleBindings grant, by their UIDs.
	grants map[types.UID]grant
	// unknown says what could not be read.
	unknown []string
}

// grant is what a RoleBinding grants.
type grant struct {
	subjects []rbacv1.Subject
	role     rbacv1.RoleRef
}

// readTree returns the tree as it is.
func (p *Planner) readTree(ctx context.Context) (*tree.Tree, error) {
	t := tree.New(p.Managed)
	namespaces, err := p.Kubernetes.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range namespaces.Items {
		t.SetNamespace(tree.NewNamespace(&namespaces.Items[i]))
	}
	everywhere := genericapirequest.WithNamespace(ctx, metav1.NamespaceAll)
	hierarchies, err := p.Hierarchies.List(everywhere, &metainternalversion.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range hierarchies.(*hnc.HierarchyList).Items {
		var h v1beta1.Hierarchy
		if err := v1beta1.Convert_hnc_Hierarchy_To_v1beta1_Hierarchy(&hierarchies.(*hnc.HierarchyList).Items[i], &h, nil); err != nil {
			return nil, err
		}
		t.SetHierarchy(tree.NewHierarchy(&h))
	}
	subnamespaces, err := p.Subnamespaces.List(everywhere, &metainternalversion.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range subnamespaces.(*hnc.SubnamespaceList).Items {
		var s v1beta1.Subnamespace
		if err := v1beta1.Convert_hnc_Subnamespace_To_v1beta1_Subnamespace(&subnamespaces.(*hnc.SubnamespaceList).Items[i], &s, nil); err != nil {
			return nil, err
		}
		t.SetSubnamespace(tree.NewSubnamespace(&s))
	}
	return t, nil
}

// readObjects fills in the objects of the kinds in the namespaces. A kind that can't be read is left out, and told.
func (p *Planner) readObjects(ctx context.Context, pic *picture, treatments []sources.Treatment, namespaces sets.Set[string]) {
	pic.grants = map[types.UID]grant{}
	for _, e := range treatments {
		index := copies.NewIndex(e.Kind)
		index.Policy, index.PolicyOf = e.Cluster, e.On(pic.tree.Chain)
		err := p.each(ctx, e.Kind.GroupVersionResource, namespaces, func(u *unstructured.Unstructured) error {
			o, err := copies.NewObject(u, &p.Rules)
			if err != nil {
				return err
			}
			index.Set(o)
			if e.Kind == copies.Kinds[1] {
				var binding rbacv1.RoleBinding
				if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &binding); err != nil {
					return err
				}
				pic.grants[o.UID] = grant{binding.Subjects, binding.RoleRef}
			}
			return nil
		})
		if err != nil {
			pic.unknown = append(pic.unknown, fmt.Sprintf("%s: %v", e.Kind.GroupResource(), err))
			continue
		}
		pic.indexes = append(pic.indexes, index)
	}
}

// Few namespaces are read one by one, some at a time; many by reading all.
const (
	fewNamespaces = 50
	atATime       = 8
)

// each calls f with all objects of a resource in the namespaces, one after the other.
func (p *Planner) each(ctx context.Context, resource schema.GroupVersionResource, namespaces sets.Set[string], f func(*unstructured.Unstructured) error) error {
	var mu sync.Mutex
	list := func(ctx context.Context, namespace string) error {
		client := p.Dynamic.Resource(resource).Namespace(namespace)
		pages := pager.New(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return client.List(ctx, o) })
		return pages.EachListItem(ctx, metav1.ListOptions{}, func(object runtime.Object) error {
			u, ok := object.(*unstructured.Unstructured)
			if !ok || !namespaces.Has(u.GetNamespace()) {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			return f(u)
		})
	}
	if len(namespaces) > fewNamespaces {
		return list(ctx, metav1.NamespaceAll)
	}
	lists, ctx := errgroup.WithContext(ctx)
	lists.SetLimit(atATime)
	for namespace := range namespaces {
		lists.Go(func() error { return list(ctx, namespace) })
	}
	return lists.Wait()
}
