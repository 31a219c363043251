package repository

import (
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// fillNamespaces sets metadata.namespace of objects in directories that have the name of a Namespace. As in Config
// Sync, this includes abstract directories with such a name.
func (c *compilation) fillNamespaces() {
	declared := map[string]bool{}
	for _, namespace := range c.ofKind(object.Namespace) {
		declared[namespace.GetName()] = true
	}
	for i, o := range c.objects {
		base := path.Base(o.Dir())
		if o.TopDir() == object.NamespacesDir && o.Dir() != object.NamespacesDir && o.GetNamespace() == "" && declared[base] && !c.isClusterScoped(o) {
			c.objects[i] = o.WithNamespace(base)
		}
	}
}

// evaluateClusterSelectors determines which ClusterSelectors select the cluster. Invalid ones do not.
func (c *compilation) evaluateClusterSelectors() {
	c.clusterSelectors = map[string]bool{}
	labels := c.clusterLabels()
	for _, o := range c.ofKind(object.ClusterSelector) {
		selector, err := labelSelector(o)
		c.clusterSelectors[o.GetName()] = err == nil && selector.Matches(labels)
	}
}

func clusterSelectorOnSelector(_ *compilation, o *object.Object) finding {
	switch o.GroupKind() {
	case object.Cluster, object.ClusterSelector, object.NamespaceSelector:
	default:
		return finding{}
	}
	for _, key := range []string{object.AnnotationClusterSelector, object.AnnotationClusterNameSelector} {
		if _, set := o.Annotation(key); set {
			return findf("metadata.annotations."+key, "a %s must not have the annotation %s; remove it", o.GetKind(), key)
		}
	}
	return finding{}
}

func conflictingSelectors(_ *compilation, o *object.Object) finding {
	_, legacy := o.Annotation(object.AnnotationClusterSelector)
	_, inline := o.Annotation(object.AnnotationClusterNameSelector)
	if legacy && inline {
		return findf("metadata.annotations."+object.AnnotationClusterSelector, "the annotations %s and %s exclude each other; remove one of them",
			object.AnnotationClusterSelector, object.AnnotationClusterNameSelector)
	}
	return finding{}
}

func unknownClusterSelector(c *compilation, o *object.Object) finding {
	name, set := o.Annotation(object.AnnotationClusterSelector)
	if _, declared := c.clusterSelectors[name]; !set || declared {
		return finding{}
	}
	return findf("metadata.annotations."+object.AnnotationClusterSelector, "there is no ClusterSelector %q; declare it in %s/, or remove the annotation %s",
		name, object.ClusterRegistryDir, object.AnnotationClusterSelector)
}

func invalidClusterSelector(_ *compilation, o *object.Object) finding {
	if !o.Is(object.ClusterSelector) {
		return finding{}
	}
	if _, err := labelSelector(o); err != nil {
		return findf("", "%v; correct it", err)
	}
	return finding{}
}

// selectorCollisions reports selectors that share a name: annotations with that name are ambiguous.
func selectorCollisions(c *compilation) report.Errors {
	return append(collisions(c.ofKind(object.ClusterSelector)), collisions(c.ofKind(object.NamespaceSelector))...)
}

// selectForCluster removes the objects of other clusters, including those in namespaces of other clusters.
func (c *compilation) selectForCluster() {
	isSelected := func(o *object.Object) bool {
		if name, set := o.Annotation(object.AnnotationClusterSelector); set {
			return c.clusterSelectors[name]
		}
		if names, set := o.Annotation(object.AnnotationClusterNameSelector); set {
			return slices.ContainsFunc(clusterNames(names), func(name string) bool { return strings.EqualFold(name, c.Cluster) })
		}
		return true
	}
	declared, active := map[string]bool{}, map[string]bool{}
	for _, namespace := range c.ofKind(object.Namespace) {
		declared[namespace.GetName()] = true
		if isSelected(namespace) {
			active[namespace.GetName()] = true
		}
	}
	c.keep(func(o *object.Object) bool {
		return isSelected(o) && (!declared[o.GetNamespace()] || active[o.GetNamespace()]) && !o.Is(object.Cluster) && !o.Is(object.ClusterSelector)
	})
}

// clusterLabels returns the labels of the Cluster object of this cluster.
func (c *compilation) clusterLabels() labels.Set {
	for _, cluster := range c.ofKind(object.Cluster) {
		if cluster.GetName() == c.Cluster {
			return cluster.GetLabels()
		}
	}
	return nil
}

// clusterNames splits a list of clusters. No name is empty, so that an unnamed cluster is never in the list.
func clusterNames(list string) []string {
	var names []string
	for _, name := range strings.Split(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Clusters returns the names of all clusters of a repository, from Cluster objects and annotations.
func Clusters(objects []*object.Object) []string {
	var names []string
	for _, o := range objects {
		if o.Is(object.Cluster) {
			names = append(names, o.GetName())
		}
		if list, set := o.Annotation(object.AnnotationClusterNameSelector); set {
			names = append(names, clusterNames(list)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
