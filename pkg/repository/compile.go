// Package repository compiles a hierarchical repository of policy into the objects of one cluster. It is pure: it uses
// no cluster, no clock and no network. Package load reads the objects first, and package hydrate prints the result.
//
// Source of the stages and of all rules: docs/spec/config-sync.md 2 to 6.
package repository

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/kindscope"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// Options are the cluster that a repository is compiled for, and the strictness of checks.
type Options struct {
	// Cluster is the name of the cluster that cluster selectors match. It may be empty.
	Cluster string
	// Scopes returns the scopes of the cluster's kinds. It need not contain kinds of Kubernetes and of the repository.
	Scopes kindscope.Lookup
	// AssumeScopes gives objects of unknown kinds the scope of their directory, with a warning. Otherwise they are
	// errors and left out.
	AssumeScopes bool
	// PreviousKinds are the kinds of the CustomResourceDefinitions of the previous revision.
	PreviousKinds []schema.GroupKind
	// MaxObjects limits the result; 0 means no limit.
	MaxObjects int
	// Excluded are namespaces that cannot be part of a hierarchy.
	Excluded []string
	// AllowSharedNames suppresses the warning about abstract directories with the name of a namespace.
	AllowSharedNames bool
}

// Result is a repository compiled for a cluster. With blocking errors it has no namespaces and no objects.
type Result struct {
	// Namespaces are the leaves of the tree, by name.
	Namespaces []Namespace
	// Objects are all objects of the cluster, including namespaces, in an order in which they can be created. They
	// share their content with the source objects and with each other: copy them before changing them.
	Objects []*object.Object
	// Errors that are not blocking (report.Code.Blocking) leave out single objects. Warnings are never a failure.
	Errors, Warnings report.Errors
}

// Namespace is a Namespace and its directories.
type Namespace struct {
	Name string
	// AbstractAncestors are the names of the directories above, the nearest first, without duplicates.
	AbstractAncestors []string
	// TreeLabels hold the distance to each directory of the path.
	TreeLabels map[string]string
	// SharesNames reports that directories may have the names of namespaces.
	SharesNames bool
	Object      *object.Object
}

// Compile compiles the objects of a repository for a cluster. The order of the files does not matter. Objects are not
// changed. It returns an error only when the context ends first: the author of a commit decides how long it takes.
func Compile(ctx context.Context, objects []*object.Object, options Options) (*Result, error) {
	c := newCompilation(ctx, objects, options)
	for _, s := range stages {
		found := c.run(s.name)
		c.errors = append(c.errors, found...)
		if s.edit != nil && !found.Blocking() {
			s.edit(c)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if found.Blocking() {
			return &Result{Errors: c.errors.Sorted(), Warnings: c.warnings.Sorted()}, nil
		}
	}
	return &Result{Namespaces: c.namespaces, Objects: c.objects, Errors: c.errors.Sorted(), Warnings: c.warnings.Sorted()}, nil
}

// compilation is the state that the stages share.
type compilation struct {
	Options
	ctx    context.Context
	scopes kindscope.Lookup
	// objects are all objects of the repository; from inheritance on, those of the cluster.
	objects []*object.Object
	// root is the directory namespaces/, from the stage treeChecks on.
	root *directory
	// clusterSelectors holds for each ClusterSelector whether it selects the cluster, from the stage clusterChecks on.
	clusterSelectors map[string]bool
	// selectors are the NamespaceSelectors by name, from the stage treeChecks on.
	selectors map[string]*object.Object
	// notInherited are the kinds that a HierarchyConfig forbids in abstract directories, from the stage
	// inheritanceChecks on.
	notInherited map[schema.GroupKind]bool
	namespaces   []Namespace
	// inherited is the size of the objects that have been inherited; beyond maxInherited, no others are.
	inherited int
	errors    report.Errors
	warnings  report.Errors
}

func newCompilation(ctx context.Context, objects []*object.Object, options Options) *compilation {
	sorted := slices.Clone(objects)
	slices.SortStableFunc(sorted, func(a, b *object.Object) int { return strings.Compare(a.Path, b.Path) })
	return &compilation{
		Options: options, ctx: ctx,
		scopes:  kindscope.Chain{kindscope.BuiltIn(), kindscope.FromCRDs(sorted), options.Scopes},
		objects: sorted,
	}
}

// isClusterScoped reports whether the objects of a kind are known to be outside namespaces.
func (c *compilation) isClusterScoped(o *object.Object) bool {
	namespaced, ok := c.scopes.Namespaced(o.GroupKind())
	return ok && !namespaced
}

// isNamespaced reports whether the objects of a kind are known to be in namespaces.
func (c *compilation) isNamespaced(o *object.Object) bool {
	namespaced, ok := c.scopes.Namespaced(o.GroupKind())
	return ok && namespaced
}

// ofKind returns the objects of a kind.
func (c *compilation) ofKind(kind schema.GroupKind) []*object.Object {
	var found []*object.Object
	for _, o := range c.objects {
		if o.Is(kind) {
			found = append(found, o)
		}
	}
	return found
}

// keep removes the objects for which condition is false.
func (c *compilation) keep(condition func(*object.Object) bool) {
	var kept []*object.Object
	for _, o := range c.objects {
		if condition(o) {
			kept = append(kept, o)
		}
	}
	c.objects = kept
}
