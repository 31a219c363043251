package plan

import (
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/changes"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// Unsafe returns errors if a revision would delete too many namespaces. It is compared with what the cluster contains of the repository, so that it
// does not matter whether the process knows the previous revision.
func Unsafe(state *State, after *repository.Result, allowMassDeletion bool) report.Errors {
	before := &repository.Result{}
	for id, live := range state.Live {
		if id.Kind == object.Namespace && live.Owned != 0 && !live.Terminating {
			o := &object.Object{}
			o.Object = map[string]any{}
			if live.Detached {
				o = o.WithAnnotation(object.AnnotationDeletion, object.DeletionDetach)
			}
			before.Namespaces = append(before.Namespaces, repository.Namespace{Name: id.Name, Object: o})
		}
	}
	return changes.Unsafe(before, after, allowMassDeletion)
}
