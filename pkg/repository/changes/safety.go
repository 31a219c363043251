package changes

import (
	"fmt"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// Unsafe returns an error if a revision must not replace another: it removes all of at least two namespaces, or, unless
// mass deletion is allowed, more than half of them. Namespaces that stay in the cluster when they leave the repository
// do not count.
func Unsafe(before, after *repository.Result, allowMassDeletion bool) report.Errors {
	was, removed := len(before.Namespaces), 0
	current := namespacesByName(after)
	for i := range before.Namespaces {
		n := &before.Namespaces[i]
		deletion, _ := n.Object.Annotation(object.AnnotationDeletion)
		if current[n.Name] == nil && deletion != object.DeletionDetach {
			removed++
		}
	}
	switch {
	case was >= 2 && len(after.Namespaces) == 0:
		return report.Errors{{
			Code:    report.EmptyRepository,
			Message: fmt.Sprintf("the revision contains no Namespace, and the previous one contains %d; remove all but one first, and that one in another revision", was),
			Paths:   []string{object.NamespacesDir + "/"},
		}}
	case was >= 2 && 2*removed > was && !allowMassDeletion:
		return report.Errors{{
			Code:    report.MassDeletion,
			Message: fmt.Sprintf("the revision removes %d of %d namespaces; allow mass deletion, or remove them in several revisions", removed, was),
			Paths:   []string{object.NamespacesDir + "/"},
		}}
	}
	return nil
}
