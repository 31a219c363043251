// Package repositorysync is the registry of RepositorySyncs, which hns-sync carries out.
package repositorysync

import (
	"context"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/validation"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
)

// strategy counts the generations of the spec, which the status refers to.
type strategy struct{ base.Base }

func (strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	s := obj.(*hnc.RepositorySync)
	s.Status = hnc.RepositorySyncStatus{ObservedGeneration: hnc.NotObserved}
	s.Generation = 1
}

func (strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	s, oldS := obj.(*hnc.RepositorySync), old.(*hnc.RepositorySync)
	s.Status = oldS.Status
	base.SetGeneration(s, oldS, s.Spec, oldS.Spec)
}

func (strategy) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	s := obj.(*hnc.RepositorySync)
	return validation.ValidateRepositorySync(s)
}

func (strategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	s, oldS := obj.(*hnc.RepositorySync), old.(*hnc.RepositorySync)
	var errs field.ErrorList
	if apiequality.Semantic.DeepEqual(s.Spec, oldS.Spec) {
		return errs
	}
	return append(errs, validation.ValidateRepositorySync(s)...)
}

func keepSpec(obj, stored *hnc.RepositorySync) { obj.Spec = stored.Spec }
