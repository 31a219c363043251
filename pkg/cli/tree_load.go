package cli

import (
	"context"
	"io"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
)

// loadTrees reads the trees below the roots with one request for each. If the server has no hierarchies/tree, or
// answers in a version of the API that this plugin does not know, it takes two more requests for all trees. It returns
// an error if a root does not exist or the requester may not read it.
func loadTrees(ctx context.Context, c *Clients, roots []string) (*tree.Tree, error) {
	t := tree.New()
	for _, root := range roots {
		answer, err := c.Hierarchy.HncV1beta1().Hierarchies(root).GetTree(ctx, hnc.Singleton, metav1.GetOptions{})
		if isUnserved(err) || runtime.IsNotRegisteredError(err) {
			return listTree(ctx, c, roots)
		}
		if err != nil {
			return nil, err
		}
		for i := range answer.Nodes {
			n := &answer.Nodes[i]
			if n.Kind != v1alpha3.NamespaceMissing {
				t.AddNamespace(n.Name, n.Kind == v1alpha3.NamespaceSubnamespace, n.Terminating)
				t.AddHierarchy(n.Name, n.Parent, conditions(n.Conditions))
				t.AddAbstractAncestors(n.Name, n.AbstractAncestors)
			}
		}
	}
	t.Link()
	return t, nil
}

func conditions(short []v1alpha3.HierarchyTreeCondition) []metav1.Condition {
	full := make([]metav1.Condition, 0, len(short))
	for _, c := range short {
		full = append(full, metav1.Condition{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message})
	}
	return full
}

// loadAllTrees reads all trees: with two requests for users allowed to list hierarchies and namespaces in the whole
// cluster. Other users get the namespaces that they may see, with one request more.
func loadAllTrees(ctx context.Context, c *Clients, errOut io.Writer) (*tree.Tree, error) {
	t, err := listTree(ctx, c, nil)
	if !apierrors.IsForbidden(err) {
		return t, err
	}
	mine, mineErr := c.Hierarchy.HncV1alpha3().MyNamespaces().List(ctx, metav1.ListOptions{})
	if mineErr != nil {
		return nil, err
	}
	Warnf(errOut, "only namespaces that you may see are shown, and no conditions: missing permission: %s", missingPermission(err))
	t = tree.New()
	for i := range mine.Items {
		n := &mine.Items[i]
		t.AddNamespace(n.Name, n.Status.Kind == v1alpha3.NamespaceSubnamespace, n.Status.Phase == string(corev1.NamespaceTerminating))
		t.AddHierarchy(n.Name, n.Status.Parent, nil)
	}
	t.Link()
	return t, nil
}

// listTree reads all namespaces and all hierarchies. It returns an error if one of the roots is missing.
func listTree(ctx context.Context, c *Clients, roots []string) (*tree.Tree, error) {
	namespaces, hierarchies, err := listForest(ctx, c)
	if err != nil {
		return nil, err
	}
	t := newTree(namespaces, hierarchies)
	for _, root := range roots {
		if t.Get(root) == nil {
			return nil, apierrors.NewNotFound(corev1.Resource("namespaces"), root)
		}
	}
	return t, nil
}

// listForest reads all namespaces and all hierarchies.
func listForest(ctx context.Context, c *Clients) ([]metav1.PartialObjectMetadata, []v1beta1.Hierarchy, error) {
	hierarchies, err := c.Hierarchy.HncV1beta1().Hierarchies(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, err
	}
	namespaces, err := c.namespaces.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, nil, err
	}
	return namespaces.Items, hierarchies.Items, nil
}

// newTree returns the tree of namespaces and their hierarchies.
func newTree(namespaces []metav1.PartialObjectMetadata, hierarchies []v1beta1.Hierarchy) *tree.Tree {
	t := tree.New()
	for i := range namespaces {
		n := &namespaces[i]
		t.AddNamespace(n.Name, managedkeys.SubnamespaceOf(n.Annotations) != "", n.DeletionTimestamp != nil)
	}
	known := sets.New[string]()
	for i := range hierarchies {
		h := &hierarchies[i]
		t.AddHierarchy(h.Namespace, h.Spec.Parent, h.Status.Details())
		t.AddAbstractAncestors(h.Namespace, h.Spec.AbstractAncestors)
		known.Insert(h.Namespace)
	}
	for i := range namespaces {
		// The hierarchy of a sub-namespace that is being deleted may be gone.
		n := &namespaces[i]
		if parent := managedkeys.SubnamespaceOf(n.Annotations); parent != "" && n.DeletionTimestamp != nil && !known.Has(n.Name) {
			t.AddHierarchy(n.Name, parent, nil)
		}
	}
	t.Link()
	return t
}
