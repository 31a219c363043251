// Package repository compiles a hierarchical repository of policy into the objects of one cluster. It is pure: it knows no cluster, no
// clock and no network. Package load reads the objects before, and package hydrate prints them afterwards.
//
// Source of the stages and of all rules: spec/config-sync.md 2 to 6.
package repository

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/scope"
)

// Options say for which cluster a repository is compiled.
type Options struct {
	// Cluster is the name of the cluster, which cluster selectors match. It may be unknown.
	Cluster string
	// Scopes knows the kinds of the cluster. Kinds of Kubernetes and those that the repository defines need no mention.
	Scopes scope.Lookup
	// AssumeScopes has objects of unknown kinds have the scope of the directory that they are in, and warns. Otherwise they are errors, and
	// left out.
	AssumeScopes bool
	// PreviousKinds are those that CustomResourceDefinitions of the revision before this one define.
	PreviousKinds []schema.GroupKind
	// MaxObjects limits the result; 0 means no limit.
	MaxObjects int
	// Excluded are namespaces that cannot be part of a hierarchy.
	Excluded []string
	// AllowSharedNames permits, without a warning, that an abstract directory has the name of a namespace.
	AllowSharedNames bool
}

// Result is what a repository holds for a cluster. With blocking errors it holds no namespaces and no objects.
type Result struct {
	// Namespaces are the leaves of the tree, by name.
	Namespaces []Namespace
	// Objects are all objects of the cluster, in the order in which they can be created, the namespaces among them. They share their
	// content with the objects that were compiled and with each other: copy them before you change them.
	Objects []*object.Object
	// Errors are what is wrong; with some of them (report.Code.Blocking) the rest can be applied nevertheless. Warnings never count as a
	// failure.
	Errors, Warnings report.Errors
}

// Namespace is a Namespace and its place.
type Namespace struct {
	Name string
	// AbstractAncestors are the names of the directories above, nearest first and each once.
	AbstractAncestors []string
	// TreeLabels are the labels that say how far it is to each directory of the path.
	TreeLabels map[string]string
	Object     *object.Object
}

// Compile returns what the objects of a repository mean for a cluster. The order of the files does not matter. Objects are not changed.
func Compile(objects []*object.Object, options Options) *Result {
	c := newCompilation(objects, options)
	for _, s := range stages {
		found := c.run(s.name)
		c.errors = append(c.errors, found...)
		if found.Blocking() {
			return &Result{Errors: c.errors.Sorted(), Warnings: c.warnings.Sorted()}
		}
		if s.edit != nil {
			s.edit(c)
		}
	}
	return &Result{Namespaces: c.namespaces, Objects: c.objects, Errors: c.errors.Sorted(), Warnings: c.warnings.Sorted()}
}

// compilation is what the stages pass on.
type compilation struct {
	Options
	scopes scope.Lookup
	// objects are all there are, after inheritance those of the cluster.
	objects []*object.Object
	// root is the directory namespaces/, from the stage treeChecks on.
	root *directory
	// clusterSelectors holds for each ClusterSelector whether it selects the cluster, from the stage clusterChecks on.
	clusterSelectors map[string]bool
	// selectors are the NamespaceSelectors by name, from the stage treeChecks on.
	selectors map[string]*object.Object
	// notInherited are the kinds that a HierarchyConfig forbids in abstract directories, from the stage inheritanceChecks on.
	notInherited map[schema.GroupKind]bool
	namespaces   []Namespace
	// inheritsTooMuch says that inheritance stopped at maxObjects.
	inheritsTooMuch bool
	errors          report.Errors
	warnings        report.Errors
}

func newCompilation(objects []*object.Object, options Options) *compilation {
	sorted := slices.Clone(objects)
	slices.SortStableFunc(sorted, func(a, b *object.Object) int { return strings.Compare(a.Path, b.Path) })
	return &compilation{
		Options: options,
		scopes:  scope.Chain{scope.BuiltIn(), scope.FromCRDs(sorted), options.Scopes},
		objects: sorted,
	}
}

// isClusterScoped returns whether the objects of a kind are known to be outside namespaces.
func (c *compilation) isClusterScoped(o *object.Object) bool {
	namespaced, ok := c.scopes.Namespaced(o.GroupKind())
	return ok && !namespaced
}

// isNamespaced returns whether the objects of a kind are known to be in namespaces.
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

// keep removes all objects but those that a condition holds for.
func (c *compilation) keep(condition func(*object.Object) bool) {
	var kept []*object.Object
	for _, o := range c.objects {
		if condition(o) {
			kept = append(kept, o)
		}
	}
	c.objects = kept
}
