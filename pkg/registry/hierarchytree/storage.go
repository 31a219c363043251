// Package hierarchytree serves the subresource hierarchies/tree: a namespace with all its descendants in one
// response, from the index of edges and the server's caches of namespaces and hierarchies.
package hierarchytree

import (
	"context"
	"math"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/inflight"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/treerules"
)

// maxMessageBytes bounds the messages of a response, in bytes. In a tree with more of them, conditions have only
// reasons.
const maxMessageBytes = 8 << 20

// nodeBytes is about how many bytes a namespace has in a response without its messages.
const nodeBytes = 512

// REST serves hierarchies/tree.
type REST struct {
	tree *treerules.Index
	// getHierarchy returns the cached Hierarchy of a namespace, or a NotFound error.
	getHierarchy treerules.HierarchyGetter
	responses    *inflight.Limiter
}

var (
	_ rest.Getter                   = &REST{}
	_ rest.TableConvertor           = &REST{}
	_ rest.GroupVersionKindProvider = &REST{}
)

// New returns the storage. getHierarchy is called for each namespace of the tree, and responses limits the memory of
// trees.
func New(t *treerules.Index, getHierarchy treerules.HierarchyGetter, responses *inflight.Limiter) *REST {
	return &REST{tree: t, getHierarchy: getHierarchy, responses: responses}
}

// New returns an empty object.
func (r *REST) New() runtime.Object { return &hnc.HierarchyTree{} }

// Destroy does nothing.
func (r *REST) Destroy() {}

// GroupVersionKind returns the kind of the response, which has its own version in every version of hierarchies.
func (r *REST) GroupVersionKind(schema.GroupVersion) schema.GroupVersionKind {
	return v1alpha3.SchemeGroupVersion.WithKind("HierarchyTree")
}

// Get returns the tree below the namespace of the request. Unless resourceVersion is 0, it includes every change of a
// parent that was committed before the request; the details of each namespace are cached. It fails with NotFound if
// the namespace does not exist; a namespace without a Hierarchy has a tree too. It fails with TooManyRequests when the
// trees in flight are too large.
func (r *REST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	if name != hnc.Singleton {
		return nil, apierrors.NewNotFound(hnc.Resource("hierarchies"), name)
	}
	top, err := r.tree.Namespace(ctx, genericapirequest.NamespaceValue(ctx))
	if err != nil {
		return nil, err
	}
	if options == nil || options.ResourceVersion != "0" {
		if err := r.tree.WaitUntilFresh(ctx); err != nil {
			return nil, err
		}
	}
	nodes := r.tree.Subtree(top)
	answer := &hnc.HierarchyTree{
		ObjectMeta: metav1.ObjectMeta{Namespace: top.Name, Name: hnc.Singleton},
		Nodes:      make([]hnc.HierarchyTreeNode, len(nodes)),
	}
	for i, node := range nodes {
		if answer.Nodes[i], err = r.node(ctx, node); err != nil {
			return nil, err
		}
	}
	if err := r.responses.Hold(ctx, boundMessages(answer.Nodes)+nodeBytes*len(nodes)); err != nil {
		return nil, err
	}
	return answer, nil
}

// boundMessages removes the messages beyond maxMessageBytes, and returns how many bytes the others have.
func boundMessages(nodes []hnc.HierarchyTreeNode) int {
	bytes := 0
	for i := range nodes {
		for j := range nodes[i].Conditions {
			c := &nodes[i].Conditions[j]
			if bytes += len(c.Message); bytes > maxMessageBytes {
				c.Message = "the messages of this tree are too long: get the Hierarchy of this namespace"
			}
		}
	}
	return min(bytes, maxMessageBytes)
}

func (r *REST) node(ctx context.Context, node treerules.Node) (hnc.HierarchyTreeNode, error) {
	n := hnc.HierarchyTreeNode{Name: node.Name, Parent: node.Parent, Kind: hnc.NamespaceMissing}
	n.Depth = int32(min(node.Depth, math.MaxInt32)) //nolint:gosec // bounded on the spot
	if node.Namespace != nil {
		n.Kind, n.Terminating = managedkeys.Kind(node.Namespace.Annotations), node.Namespace.DeletionTimestamp != nil
	}
	h, err := r.getHierarchy(ctx, node.Name)
	if apierrors.IsNotFound(err) {
		return n, nil
	}
	if err != nil {
		return n, err
	}
	n.AllowCascadingDeletion = h.Spec.AllowCascadingDeletion != nil && *h.Spec.AllowCascadingDeletion
	n.AbstractAncestors = h.Spec.AbstractAncestors
	for _, c := range hnc.Details(h.Status.Conditions, h.Status.Problems) {
		if c.Type == hnc.ConditionReady && c.Status == metav1.ConditionTrue {
			continue
		}
		n.Conditions = append(n.Conditions, hnc.HierarchyTreeCondition{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message})
	}
	return n, nil
}
