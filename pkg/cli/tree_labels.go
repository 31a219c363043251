package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// waitForTreeLabelsUsage completes the help of --wait.
const waitForTreeLabelsUsage = "until the tree labels of the namespace and of all below it are up to date"

// waitForTreeLabels returns when the tree labels of a namespace and of all below it match its parent. before is the
// namespace before the change.
func waitForTreeLabels(ctx context.Context, c *Clients, w *waitFlags, errOut io.Writer, before *metav1.PartialObjectMetadata, parent string) error {
	return w.poll(ctx, errOut, func(ctx context.Context) (string, error) {
		above, old := map[string]int{}, AncestorDistances(before.Labels)
		if parent != "" {
			p, err := c.namespaces.Get(ctx, parent, metav1.GetOptions{})
			switch {
			case apierrors.IsForbidden(err):
				// Neither the ancestors of the parent nor those left are known.
				above[parent], old = 0, nil
			case err != nil:
				return "", err
			default:
				above = AncestorDistances(p.Labels)
				above[parent] = 0
			}
		}
		moved, err := movedNamespaces(ctx, c, before.Name)
		if err != nil {
			return "", err
		}
		var outdated []string
		for i := range moved {
			if !treeLabelsMatch(moved[i].Labels, before.Name, above, old) {
				outdated = append(outdated, moved[i].Name)
			}
		}
		if len(outdated) == 0 {
			return "", nil
		}
		slices.Sort(outdated)
		return fmt.Sprintf("%d of %d namespaces have their new tree labels, %s has not", len(moved)-len(outdated), len(moved), outdated[0]), nil
	})
}

// movedNamespaces returns a namespace and all below it, or only the namespace to users who may not list namespaces.
func movedNamespaces(ctx context.Context, c *Clients, name string) ([]metav1.PartialObjectMetadata, error) {
	self, err := c.namespaces.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	moved := []metav1.PartialObjectMetadata{*self}
	below, err := c.namespaces.List(ctx, metav1.ListOptions{LabelSelector: hnc.TreeLabel(name)})
	if apierrors.IsForbidden(err) {
		return moved, nil
	}
	if err != nil {
		return nil, err
	}
	for i := range below.Items {
		if n := below.Items[i]; n.Name != name && hnc.IsBelow(n.Labels, hnc.AbstractAncestors(n.Annotations), name) {
			moved = append(moved, n)
		}
	}
	return moved, nil
}

// AncestorDistances returns the distance of each ancestor in tree labels.
func AncestorDistances(labels map[string]string) map[string]int {
	distances := map[string]int{}
	for key, value := range labels {
		if ancestor, ok := hnc.TreeLabelAncestor(key); ok {
			if distance, err := strconv.Atoi(value); err == nil {
				distances[ancestor] = distance
			}
		}
	}
	return distances
}

// treeLabelsMatch reports whether the tree labels of a namespace, moved itself or one below it, match the ancestors of
// moved. above holds these with their distances from the new parent, old those before the move; labels of old ancestors
// that are not above must be gone.
func treeLabelsMatch(labels map[string]string, moved string, above, old map[string]int) bool {
	have := AncestorDistances(labels)
	depth, ok := have[moved]
	if !ok {
		return false
	}
	for ancestor, distance := range above {
		if d, ok := have[ancestor]; !ok || d != distance+1+depth {
			return false
		}
	}
	for ancestor := range old {
		if _, still := above[ancestor]; !still && ancestor != moved {
			if _, left := have[ancestor]; left {
				return false
			}
		}
	}
	return true
}
