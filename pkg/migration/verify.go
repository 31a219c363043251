package migration

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// verify reads everything through HNC's version, as its clients do, and compares it with the export; and that the
// namespaces are those of the export.
func (m *Migration) verify(ctx context.Context) error {
	e, err := m.exported(ctx)
	if err != nil {
		return err
	}
	all, err := m.imports(ctx, e)
	if err != nil {
		return err
	}
	wanted := map[string]string{}
	for _, h := range slices.Concat(all.hierarchies, all.orphans) {
		wanted[hierarchyOf(h.Namespace)] = h.Spec.Parent
	}
	for _, s := range all.subnamespaces {
		wanted[keyOf(anchors, s.Namespace, s.Name)] = ""
	}
	for _, q := range all.quotas {
		wanted[keyOf(quotas, q.Namespace, q.Name)] = ""
	}
	var differences []string
	for _, resource := range []string{hierarchyConfigurations, anchors, quotas} {
		objects, err := m.list(ctx, hncResource(resource))
		if err != nil {
			return err
		}
		for _, object := range objects {
			key := keyOf(resource, object.GetNamespace(), object.GetName())
			parent, _, err := unstructured.NestedString(object.Object, "spec", "parent")
			if err != nil {
				return err
			}
			if want, ok := wanted[key]; ok && want != parent {
				differences = append(differences, fmt.Sprintf("%s has the parent %q, and not %q", key, parent, want))
			}
			delete(wanted, key)
		}
	}
	var leftOut []string
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		if m.SkipRejected && wanted[key] == "" { // Parents are never left out.
			leftOut = append(leftOut, key)
		} else {
			differences = append(differences, key+" is missing")
		}
	}
	if err := m.printList("Not served, because they were left out:", leftOut); err != nil {
		return err
	}
	namespaces, err := m.changedNamespaces(ctx, e)
	if err != nil {
		return err
	}
	if differences = append(differences, namespaces...); len(differences) > 0 {
		return fmt.Errorf("what hns-apiserver serves differs from the export:\n  %s", strings.Join(differences, "\n  "))
	}
	return nil
}

// changedNamespaces says which namespaces of trees are gone, or are others than exported.
func (c *clients) changedNamespaces(ctx context.Context, e *export) ([]string, error) {
	current, err := c.namespaces(ctx)
	if err != nil {
		return nil, err
	}
	var differences []string
	for _, ns := range e.Namespaces {
		if ns.Terminating || ns.Labels[hnc.TreeLabel(ns.Name)] == "" {
			continue
		}
		switch now := current[ns.Name]; {
		case now == nil:
			differences = append(differences, "namespace "+ns.Name+" is gone")
		case now.UID != ns.UID:
			differences = append(differences, "namespace "+ns.Name+" was deleted and created again")
		}
	}
	return differences, nil
}

// namespaces returns the namespaces of the cluster by name.
func (c *clients) namespaces(ctx context.Context) (map[string]*metav1.ObjectMeta, error) {
	found := map[string]*metav1.ObjectMeta{}
	err := c.eachNamespace(ctx, func(ns *metav1.ObjectMeta) { found[ns.Name] = ns })
	if err != nil {
		return nil, err
	}
	return found, nil
}

// definitionsExist reports whether HNC's definition of hierarchies exists, and is not being deleted.
func (c *clients) definitionsExist(ctx context.Context) (bool, error) {
	definition, err := c.dynamic.Resource(hnc.CRDResource).Get(ctx, hierarchyConfigurations+"."+hnc.GroupName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil && definition.GetDeletionTimestamp() == nil, err
}

// propagated reports whether hns-propagator has propagated hierarchies in this cluster.
func (c *clients) propagated(ctx context.Context) (bool, error) {
	system, err := c.kube.CoreV1().Namespaces().Get(ctx, hnc.SystemNamespace, metav1.GetOptions{})
	if err != nil {
		return false, gone(err)
	}
	return system.Annotations[hnc.AnnotationStore] != "", nil
}
