package cli

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/tree"
)

// loadTree reads the trees below the roots, by one request for each; a server that has no hierarchies/tree takes two requests for all
// there are. It fails if a root does not exist or may not be read.
func (e *Environment) loadTree(ctx context.Context, c *cluster, roots []string) (*tree.Tree, error) {
	t := tree.New()
	for _, root := range roots {
		answer, err := c.hierarchy.HncV1beta1().Hierarchies(root).GetTree(ctx, hnc.Singleton, metav1.GetOptions{})
		if isUnserved(err) {
			return listTree(ctx, c, roots)
		}
		if err != nil {
			return nil, err
		}
		for i := range answer.Nodes {
			n := &answer.Nodes[i]
			if n.Kind != v1beta1.NamespaceMissing {
				t.AddNamespace(n.Name, n.Kind == v1beta1.NamespaceSubnamespace)
				t.AddHierarchy(n.Name, n.Parent, conditions(n.Conditions))
			}
		}
	}
	t.Link()
	return t, nil
}

func conditions(short []v1beta1.HierarchyTreeCondition) []metav1.Condition {
	full := make([]metav1.Condition, 0, len(short))
	for _, c := range short {
		full = append(full, metav1.Condition{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message})
	}
	return full
}

// loadAll reads all trees: by two requests of who may list hierarchies and namespaces in the whole cluster. Anybody else gets what they may
// see, by one more.
func (e *Environment) loadAll(ctx context.Context, c *cluster) (*tree.Tree, error) {
	t, err := listTree(ctx, c, nil)
	if !apierrors.IsForbidden(err) {
		return t, err
	}
	mine, mineErr := c.hierarchy.HncV1beta1().MyNamespaces().List(ctx, metav1.ListOptions{})
	if mineErr != nil {
		return nil, err
	}
	e.warn("only namespaces that you may see are shown, and no conditions: missing right: %s", missingRight(err))
	t = tree.New()
	for i := range mine.Items {
		n := &mine.Items[i]
		t.AddNamespace(n.Name, n.Status.Kind == v1beta1.NamespaceSubnamespace)
		t.AddHierarchy(n.Name, n.Status.Parent, nil)
	}
	t.Link()
	return t, nil
}

// listTree reads all namespaces and all hierarchies, and fails if one of the roots is missing.
func listTree(ctx context.Context, c *cluster, roots []string) (*tree.Tree, error) {
	hierarchies, err := c.hierarchy.HncV1beta1().Hierarchies(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	namespaces, err := c.namespaces.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	t := tree.New()
	for i := range namespaces.Items {
		t.AddNamespace(namespaces.Items[i].Name, namespaces.Items[i].Annotations[hnc.AnnotationSubnamespaceOf] != "")
	}
	for i := range hierarchies.Items {
		h := &hierarchies.Items[i]
		t.AddHierarchy(h.Namespace, h.Spec.Parent, h.Status.Conditions)
	}
	t.Link()
	for _, root := range roots {
		if t.Get(root) == nil {
			return nil, apierrors.NewNotFound(corev1.Resource("namespaces"), root)
		}
	}
	return t, nil
}

// getHierarchy returns a namespace's hierarchy; an absent one is empty, as in HNC's client.
func getHierarchy(ctx context.Context, c *cluster, namespace string) (*v1beta1.Hierarchy, error) {
	h, err := c.hierarchy.HncV1beta1().Hierarchies(namespace).Get(ctx, hnc.Singleton, metav1.GetOptions{})
	if apierrors.IsNotFound(err) && !isUnserved(err) {
		h = &v1beta1.Hierarchy{}
		h.Name, h.Namespace = hnc.Singleton, namespace
		return h, nil
	}
	return h, err
}
