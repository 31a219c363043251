package repository

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// Modes of inheritance. Kinds without a mode are inherited.
const (
	modeInherit = "inherit"
	modeNone    = "none"
)

func unsupportedInherited(_ *compilation, o *object.Object) finding {
	for i, r := range resources(o) {
		if len(r.Kinds) == 0 {
			return findf("", "spec.resources[%d].kinds must not be empty; list the kinds, or remove the entry", i)
		}
		for _, kind := range r.kinds() {
			if kind == object.Namespace || kind.Group == object.ConfigManagementGroup {
				return findf("", "spec.resources[%d].kinds: %s cannot be inherited; remove it", i, kind)
			}
		}
	}
	return finding{}
}

func illegalHierarchyMode(_ *compilation, o *object.Object) finding {
	for i, r := range resources(o) {
		if r.HierarchyMode != "" && r.HierarchyMode != modeInherit && r.HierarchyMode != modeNone {
			return findf("", "spec.resources[%d].hierarchyMode: %q is neither %s nor %s; correct or remove it", i, r.HierarchyMode, modeInherit, modeNone)
		}
	}
	return finding{}
}

// clusterScopedInherited reports HierarchyConfigs that list kinds of which the repository has cluster-scoped objects.
func clusterScopedInherited(c *compilation) report.Errors {
	clusterScoped := map[schema.GroupKind]bool{}
	for _, o := range c.objects {
		if o.TopDir() == object.ClusterDir {
			clusterScoped[o.GroupKind()] = true
		}
	}
	var errors report.Errors
	for _, o := range c.ofKind(object.HierarchyConfig) {
		for i, r := range resources(o) {
			for _, kind := range r.kinds() {
				if clusterScoped[kind] {
					errors = append(errors, &report.Error{
						Message: fmt.Sprintf("spec.resources[%d].kinds: objects of kind %s are not namespaced and cannot be inherited; remove it", i, kind),
						Sources: []report.Source{o.Source("")},
					})
				}
			}
		}
	}
	return errors
}

// configureInheritance collects the kinds that abstract directories must not contain.
func (c *compilation) configureInheritance() {
	c.notInherited = map[schema.GroupKind]bool{}
	for _, o := range c.ofKind(object.HierarchyConfig) {
		for _, r := range resources(o) {
			for _, kind := range r.kinds() {
				if r.HierarchyMode == modeNone {
					c.notInherited[kind] = true
				}
			}
		}
	}
}

func illegalKindsInAbstract(c *compilation) report.Errors {
	var errors report.Errors
	c.root.walk(func(d *directory) {
		if !d.isAbstract() {
			return
		}
		for _, o := range d.objects {
			if c.notInherited[o.GroupKind()] {
				errors = append(errors, &report.Error{
					Message: fmt.Sprintf("a HierarchyConfig has the mode %s for %s, so it must be in the directory of a namespace; move it there", modeNone, o.GroupKind()),
					Sources: []report.Source{o.Source("")},
				})
			}
		}
	})
	return errors
}
