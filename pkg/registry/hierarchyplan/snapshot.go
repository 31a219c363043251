package hierarchyplan

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/tools/pager"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/inforce"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/managed"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/sources"
)

// snapshot is the state that a plan is evaluated on: the tree and the relevant objects.
type snapshot struct {
	tree    *tree.Tree
	indexes []*copies.Index
	// grants holds the subjects and roles of RoleBindings by UID.
	grants map[types.UID]grant
	// unknown lists what could not be read.
	unknown []string
	// modes are the modes before the change.
	modes sources.Modes
	// rules are the rules after the change.
	rules *inforce.Rules
}

// grant is the subjects and the role of a RoleBinding.
type grant struct {
	subjects []rbacv1.Subject
	role     rbacv1.RoleRef
}

// readTree returns the current tree under the given rules.
func (p *Planner) readTree(ctx context.Context, rules managed.Rules) (*tree.Tree, error) {
	t := tree.New(rules)
	namespaces := pager.New(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		return p.Kubernetes.CoreV1().Namespaces().List(ctx, o)
	})
	if err := namespaces.EachListItem(ctx, metav1.ListOptions{}, func(object runtime.Object) error {
		t.SetNamespace(tree.NewNamespace(object.(*corev1.Namespace)))
		return nil
	}); err != nil {
		return nil, err
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
