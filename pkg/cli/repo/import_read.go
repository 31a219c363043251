package repo

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/extract"
)

// namespaces returns the namespaces of the trees to import, by name.
func (o *repoImportOptions) namespaces(ctx context.Context, c *cli.Clients) ([]extract.Namespace, error) {
	client := c.Dynamic.Resource(cli.NamespaceResource)
	var found []unstructured.Unstructured
	for _, root := range o.roots {
		self, err := client.Get(ctx, root, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		below, err := cli.ListPages(ctx, client, metav1.ListOptions{LabelSelector: hnc.TreeLabel(root)})
		if err != nil {
			return nil, err
		}
		found = append(found, *self)
		for i := range below.Items {
			if n := below.Items[i]; hnc.IsBelow(n.GetLabels(), hnc.AbstractAncestors(n.GetAnnotations()), root) {
				found = append(found, n)
			}
		}
	}
	if len(o.roots) == 0 {
		all, err := cli.ListPages(ctx, client, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		found = slices.DeleteFunc(all.Items, func(n unstructured.Unstructured) bool { return slices.Contains(notImported, n.GetName()) })
	}
	byName := map[string]extract.Namespace{}
	for i := range found {
		n := &found[i]
		if n.GetDeletionTimestamp() != nil {
			cli.Warnf(o.ErrOut, "namespace %s is being deleted, and is left out", n.GetName())
			continue
		}
		byName[n.GetName()] = extract.Namespace{Object: n, Ancestors: ancestorsOf(n), Abstract: hnc.AbstractAncestors(n.GetAnnotations())}
	}
	// A part of a tree begins with its own namespaces.
	for name, n := range byName {
		n.Ancestors = slices.DeleteFunc(n.Ancestors, func(above string) bool { return byName[above].Object == nil })
		byName[name] = n
	}
	return slices.SortedFunc(maps.Values(byName), func(a, b extract.Namespace) int { return strings.Compare(a.Object.GetName(), b.Object.GetName()) }), nil
}

// notImported are namespaces of the cluster itself. None of them can have a policy in a repository.
var notImported = append(slices.Clone(hnc.ExcludedNamespaces), "default")

// ancestorsOf returns the ancestors that the tree labels of a namespace say, the nearest first, without the abstract
// ones.
func ancestorsOf(n *unstructured.Unstructured) []string {
	distances := cli.AncestorDistances(n.GetLabels())
	for _, name := range append(hnc.AbstractAncestors(n.GetAnnotations()), n.GetName()) {
		delete(distances, name)
	}
	return slices.SortedFunc(maps.Keys(distances), func(a, b string) int { return cmp.Compare(distances[a], distances[b]) })
}

// objects returns the objects of the kinds in the namespaces, copies included.
func (o *repoImportOptions) objects(ctx context.Context, c *cli.Clients, kinds []schema.GroupVersionResource, namespaces []extract.Namespace) ([]*unstructured.Unstructured, error) {
	line := cli.NewProgress(o.ErrOut)
	defer line.Clear()
	var objects []*unstructured.Unstructured
	add := func(all []unstructured.Unstructured) {
		for i := range all {
			objects = append(objects, &all[i])
		}
	}
	for _, kind := range kinds {
		if len(o.roots) == 0 {
			line.Showf("reading %s ...", kind.GroupResource())
			all, err := cli.ListPages(ctx, c.Dynamic.Resource(kind), metav1.ListOptions{})
			if err != nil {
				return nil, err
			}
			add(all.Items)
			continue
		}
		for i := range namespaces {
			name := namespaces[i].Object.GetName()
			line.Showf("reading %s of %s (%d of %d) ...", kind.GroupResource(), name, i+1, len(namespaces))
			all, err := cli.ListPages(ctx, c.Dynamic.Resource(kind).Namespace(name), metav1.ListOptions{})
			if err != nil {
				return nil, err
			}
			add(all.Items)
		}
	}
	return objects, nil
}
