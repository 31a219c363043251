package plan

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/changes"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// Unsafe returns errors if a revision would delete too many namespaces. It is compared with what the cluster contains
// of the repository, so that it does not matter whether the process knows the previous revision.
func Unsafe(state *State, after *repository.Result, allowMassDeletion bool) report.Errors {
	before := &repository.Result{}
	for id, live := range state.Live {
		if id.Kind == object.Namespace && live.Owned != 0 && !live.Terminating {
			o := &object.Object{}
			o.Object = map[string]any{}
			if state.detached(id) {
				o = o.WithAnnotation(object.AnnotationDeletion, object.DeletionDetach)
			}
			before.Namespaces = append(before.Namespaces, repository.Namespace{Name: id.Name, Object: o})
		}
	}
	return changes.Unsafe(before, after, allowMassDeletion)
}

// RemovedDefinitions returns an error for each object whose CustomResourceDefinition would be deleted, with all objects
// of its kind in the cluster. Like Unsafe, it compares with the cluster, so that it does not matter whether the process
// knows the previous revision. resource returns the resource of a kind, and whether the cluster serves it.
func RemovedDefinitions(state *State, desired []*Object, resource func(schema.GroupKind) (schema.GroupVersionResource, bool)) report.Errors {
	wanted := map[ID]bool{}
	for _, o := range desired {
		wanted[o.ID] = true
	}
	var errors report.Errors
	for _, o := range desired {
		served, ok := resource(o.Kind)
		definition := ID{Kind: object.CRD, Name: served.Resource + "." + served.Group}
		live, exists := state.Live[definition]
		if !ok || wanted[definition] || !exists || live.Owned == 0 || state.detached(definition) {
			continue
		}
		errors = append(errors, &report.Error{
			Code:    report.RemovedCRD,
			Message: fmt.Sprintf("the CustomResourceDefinition of %s was removed, but the repository still contains this object; remove it as well", o.Kind),
			Paths:   []string{o.Path},
		})
	}
	return errors
}
