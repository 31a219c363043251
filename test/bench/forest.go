package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// chain is a namespace with its ancestors, itself first.
type chain []string

// mismatch describes the difference between the expected and the actual tree labels of the first namespace of the
// chain, "" for none.
func (c chain) mismatch(labels map[string]string) string {
	n := 0
	for key := range labels {
		if _, ok := hnc.TreeLabelAncestor(key); ok {
			n++
		}
	}
	if n != len(c) {
		return fmt.Sprintf("%d tree labels instead of %d", n, len(c))
	}
	for depth, ancestor := range c {
		if got := labels[hnc.TreeLabel(ancestor)]; got != strconv.Itoa(depth) {
			return fmt.Sprintf("depth %q below %s instead of %d", got, ancestor, depth)
		}
	}
	return ""
}

// chains returns the chain of each namespace of a tree from a node on; above are the ancestors of its root.
func (t tree) chains(from int, above ...string) map[string]chain {
	chains := make(map[string]chain, t.len()-from)
	for i := from; i < t.len(); i++ {
		var c chain
		for at := i; at >= 0; at = t.parents[at] {
			c = append(c, t.names[at])
		}
		chains[t.names[i]] = append(c, above...)
	}
	return chains
}

// createNamespaces has namespaces made by plain writers.
func (c *cluster) createNamespaces(ctx context.Context, names []string) error {
	_, _, err := load(ctx, len(names), func(ctx context.Context, i int) error {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: names[i]}}
		_, err := c.kube.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{})
		return err
	})
	return err
}

// setParent gives a namespace a parent. One request is enough unless there is a Hierarchy that we don't know of: the
// propagator makes one where it has something to report.
func (c *cluster) setParent(ctx context.Context, namespace, parent string) error {
	h := &v1beta1.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton}, Spec: v1beta1.HierarchySpec{Parent: parent}}
	_, err := c.hierarchy.HncV1beta1().Hierarchies(namespace).Create(ctx, h, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return c.changeParent(ctx, namespace, parent)
	}
	return err
}

// changeParent changes the parent of a namespace that has a Hierarchy.
func (c *cluster) changeParent(ctx context.Context, namespace, parent string) error {
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"parent": parent}})
	if err != nil {
		return err
	}
	_, err = c.hierarchy.HncV1beta1().Hierarchies(namespace).Patch(ctx, hnc.Singleton, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// setParents gives the namespaces of a tree their parents, from a node on, by plain writers, and returns how long it
// took until the labels of all of them were right.
func (c *cluster) setParents(ctx context.Context, t tree, from int) (time.Duration, error) {
	wanted := t.chains(max(from, 1))
	if len(wanted) == 0 {
		return 0, nil
	}
	labels, err := c.observeLabels(ctx, wanted)
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	if _, _, err := load(ctx, t.len()-max(from, 1), func(ctx context.Context, i int) error {
		i += max(from, 1)
		return c.setParent(ctx, t.names[i], t.parent(i))
	}); err != nil {
		return 0, err
	}
	return c.waitAll(ctx, begun, []*observation{labels})
}

// labelled returns an error that names the first namespaces whose tree labels are not as expected.
func (c *cluster) labelled(ctx context.Context, want map[string]chain) error {
	list, err := c.metadata.Resource(namespacesResource).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	var mismatched []string
	left := len(want)
	for i := range list.Items {
		ns := &list.Items[i]
		if chain, ok := want[ns.Name]; ok {
			left--
			if what := chain.mismatch(ns.Labels); what != "" {
				mismatched = append(mismatched, ns.Name+" has "+what)
			}
		}
	}
	if left > 0 {
		mismatched = append(mismatched, fmt.Sprintf("%d namespaces are missing", left))
	}
	return mismatches("tree labels", mismatched)
}

// below returns the descendants of a namespace: other rows may have put some there that are no part of a planned tree.
func (c *cluster) below(ctx context.Context, root string) ([]string, error) {
	list, err := c.metadata.Resource(namespacesResource).List(ctx, metav1.ListOptions{LabelSelector: hnc.TreeLabel(root) + "," + hnc.TreeLabel(root) + "!=0"})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, ns := range list.Items {
		names = append(names, ns.Name)
	}
	return names, nil
}

// mismatches returns an error that lists the first few mismatches, nil if there are none.
func mismatches(what string, list []string) error {
	const shown = 5
	switch {
	case len(list) == 0:
		return nil
	case len(list) > shown:
		return fmt.Errorf("MISMATCH %s: %q and %d more", what, list[:shown], len(list)-shown)
	}
	return fmt.Errorf("MISMATCH %s: %q", what, list)
}
