package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// waitForLabels returns when the tree labels of a namespace and of all below it say that its parent is parent. before is the namespace as
// it was.
func (e *Environment) waitForLabels(ctx context.Context, c *cluster, w *waiting, before *metav1.PartialObjectMetadata, parent string) error {
	return e.wait(ctx, w, func(ctx context.Context) (string, error) {
		above, old := map[string]int{}, ancestors(before.Labels)
		if parent != "" {
			p, err := c.namespaces.Get(ctx, parent, metav1.GetOptions{})
			switch {
			case apierrors.IsForbidden(err):
				// What is above the parent can't be known, nor what has to be gone.
				above[parent], old = 0, nil
			case err != nil:
				return "", err
			default:
				above = ancestors(p.Labels)
				above[parent] = 0
			}
		}
		moved, err := e.movedNamespaces(ctx, c, before.Name)
		if err != nil {
			return "", err
		}
		var wrong []string
		for i := range moved {
			if !labelsRight(moved[i].Labels, before.Name, above, old) {
				wrong = append(wrong, moved[i].Name)
			}
		}
		if len(wrong) == 0 {
			return "", nil
		}
		slices.Sort(wrong)
		return fmt.Sprintf("%d of %d namespaces have their new tree labels, %s has not", len(moved)-len(wrong), len(moved), wrong[0]), nil
	})
}

// movedNamespaces returns a namespace and all below it. Who may not list namespaces gets the namespace only.
func (e *Environment) movedNamespaces(ctx context.Context, c *cluster, name string) ([]metav1.PartialObjectMetadata, error) {
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
		if below.Items[i].Name != name {
			moved = append(moved, below.Items[i])
		}
	}
	return moved, nil
}

// ancestors returns the distances that tree labels tell.
func ancestors(labels map[string]string) map[string]int {
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

// labelsRight says whether the labels of a namespace at or below moved agree with what is above it now: the distances as seen from the new
// parent. old are the ancestors from before, of which none that is not above now may be left.
func labelsRight(labels map[string]string, moved string, above, old map[string]int) bool {
	have := ancestors(labels)
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
