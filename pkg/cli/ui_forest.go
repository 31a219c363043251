package cli

import (
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/managedkeys"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/ui"
)

// uiReader reads what the page of `kubectl hns ui` shows.
type uiReader struct {
	factory *Factory
	clients *Clients
	session ui.Session
}

func newUIReader(f *Factory) (*uiReader, error) {
	c, err := f.Clients()
	if err != nil {
		return nil, err
	}
	r := &uiReader{factory: f, clients: c}
	raw, err := f.Flags.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return nil, err
	}
	r.session.Context = raw.CurrentContext
	if *f.Flags.Context != "" {
		r.session.Context = *f.Flags.Context
	}
	if c := raw.Contexts[r.session.Context]; c != nil {
		r.session.Cluster, r.session.User = c.Cluster, c.AuthInfo
	}
	if *f.Flags.Impersonate != "" {
		r.session.User = *f.Flags.Impersonate
	}
	return r, nil
}

func (r *uiReader) Session() ui.Session { return r.session }

func (r *uiReader) Forest(ctx context.Context) (*ui.Forest, error) {
	namespaces, hierarchies, err := listForest(ctx, r.clients)
	if apierrors.IsForbidden(err) {
		return r.myForest(ctx, err)
	}
	if err != nil {
		return nil, err
	}
	t := newTree(namespaces, hierarchies)
	forest := &ui.Forest{Namespaces: make([]ui.Member, 0, len(namespaces))}
	for i := range namespaces {
		forest.Namespaces = append(forest.Namespaces, newMember(&namespaces[i], t.Get(namespaces[i].Name)))
	}
	return forest, nil
}

// myForest returns the namespaces that the user may see. why is the error about all namespaces.
func (r *uiReader) myForest(ctx context.Context, why error) (*ui.Forest, error) {
	mine, err := r.clients.Hierarchy.HncV1alpha3().MyNamespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, why
	}
	forest := &ui.Forest{
		Namespaces: make([]ui.Member, 0, len(mine.Items)),
		Partial:    "Only namespaces that you may see are shown, without conditions. Missing permission: " + missingPermission(why),
	}
	for i := range mine.Items {
		n := &mine.Items[i]
		forest.Namespaces = append(forest.Namespaces, ui.Member{
			Name: n.Name, Parent: n.Status.Parent, Kind: uiKind(hnc.NamespaceKind(n.Status.Kind)), Labels: ownLabels(n.Labels),
			Deleting: n.Status.Phase == string(corev1.NamespaceTerminating), Created: created(&n.ObjectMeta),
		})
	}
	return forest, nil
}

// newMember returns a namespace of the forest, with its place in the tree.
func newMember(ns *metav1.PartialObjectMetadata, node *tree.Node) ui.Member {
	return ui.Member{
		Name: ns.Name, Parent: node.Parent, Kind: uiKind(managedkeys.Kind(ns.Annotations)), Deleting: node.Deleting, Created: created(&ns.ObjectMeta),
		Labels: ownLabels(ns.Labels), Problems: node.Conditions,
	}
}

func uiKind(kind hnc.NamespaceKind) ui.Kind {
	switch kind {
	case hnc.NamespaceSubnamespace:
		return ui.Subnamespace
	case hnc.NamespaceExternal:
		return ui.External
	default:
		return ui.Full
	}
}

func created(meta *metav1.ObjectMeta) *time.Time {
	if meta.CreationTimestamp.IsZero() {
		return nil
	}
	return &meta.CreationTimestamp.Time
}

// ownLabels returns the labels of a namespace that it does not have because of its place in the tree or its name.
func ownLabels(labels map[string]string) map[string]string {
	own := maps.Clone(labels)
	maps.DeleteFunc(own, func(key, _ string) bool {
		_, ofTree := hnc.TreeLabelAncestor(key)
		return ofTree || key == corev1.LabelMetadataName || slices.Contains(projectedLabels, key)
	})
	return own
}

// projectedLabels are the labels that the propagator sets on namespaces.
var projectedLabels = []string{hnc.LabelIncludedNamespace, hnc.LabelInTree, hnc.LabelHasSubnamespaces, hnc.LabelCascadingDeletion, hnc.LabelOrphaned}
