package repository

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// identity is unique in a cluster.
type identity struct {
	kind            schema.GroupKind
	namespace, name string
}

func identityOf(o *object.Object) identity {
	return identity{object.Canonical(o.GroupKind()), o.GetNamespace(), o.GetName()}
}

// collisions returns an error for each identity that several objects have.
func collisions(objects []*object.Object) report.Errors {
	seen := map[identity][]*object.Object{}
	var order []identity
	for _, o := range objects {
		id := identityOf(o)
		if seen[id] == nil {
			order = append(order, id)
		}
		seen[id] = append(seen[id], o)
	}
	var errors report.Errors
	for _, id := range order {
		if len(seen[id]) > 1 {
			errors = append(errors, &report.Error{
				Message: fmt.Sprintf("a cluster cannot hold more than one %s %q%s; rename or remove the others", id.kind, id.name, in(id.namespace)),
				Sources: sources(seen[id]),
			})
		}
	}
	return errors
}

func in(namespace string) string {
	if namespace == "" {
		return ""
	}
	return fmt.Sprintf(" in namespace %q", namespace)
}

func objectCollisions(c *compilation) report.Errors { return collisions(c.objects) }

func isUnmanaged(o *object.Object) bool {
	value, _ := o.Annotation(object.AnnotationManaged)
	return value == object.ManagedDisabled
}

// maxSources is how many of the objects that a namespace inherits an error names.
const maxSources = 10

// managedInUnmanaged returns an error for each unmanaged namespace that has managed objects.
func managedInUnmanaged(c *compilation) report.Errors {
	managed := map[string][]*object.Object{}
	for _, o := range c.objects {
		if !isUnmanaged(o) {
			managed[o.GetNamespace()] = append(managed[o.GetNamespace()], o)
		}
	}
	var errors report.Errors
	for _, n := range c.namespaces {
		found := managed[n.Name]
		if len(found) == 0 || !isUnmanaged(n.Object) {
			continue
		}
		err := &report.Error{Message: fmt.Sprintf("the namespace %q has the annotation %s: %s, so its objects must have it too, and %d do not; add it, or remove that of the Namespace",
			n.Name, object.AnnotationManaged, object.ManagedDisabled, len(found))}
		for _, o := range found[:min(len(found), maxSources)] {
			err.Sources = append(err.Sources, o.Source("metadata.annotations"))
		}
		err.Sources = append(err.Sources, n.Object.Source("metadata.annotations."+object.AnnotationManaged))
		errors = append(errors, err)
	}
	return errors
}

func tooManyObjects(c *compilation) report.Errors {
	if c.MaxObjects <= 0 || len(c.objects) <= c.MaxObjects {
		return nil
	}
	return report.Errors{{Message: fmt.Sprintf("the repository has %d objects for this cluster, more than the limit of %d; split it", len(c.objects), c.MaxObjects)}}
}

// sortForCreation sorts the objects into an order in which they can be created.
func (c *compilation) sortForCreation() {
	rank := func(o *object.Object) int {
		switch {
		case o.Is(object.CRD):
			return 0
		case o.Is(object.Namespace):
			return 2
		case o.GetNamespace() == "":
			return 1
		}
		return 3
	}
	type keyed struct {
		*object.Object
		identity
		rank int
	}
	sorted := make([]keyed, 0, len(c.objects))
	for _, o := range c.objects {
		sorted = append(sorted, keyed{o, identityOf(o), rank(o)})
	}
	slices.SortStableFunc(sorted, func(a, b keyed) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.kind.Group, b.kind.Group),
			cmp.Compare(a.kind.Kind, b.kind.Kind), cmp.Compare(a.name, b.name))
	})
	for i := range sorted {
		c.objects[i] = sorted[i].Object
	}
}
