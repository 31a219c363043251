package repositorysync

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	base "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
)

// statusStrategy is the strategy of repositorysyncs/status, which changes the status only.
type statusStrategy struct{ base.Status }

func (statusStrategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	s, oldS := obj.(*hnc.RepositorySync), old.(*hnc.RepositorySync)
	s.Spec = oldS.Spec
	metav1.ResetObjectMetaForStatus(&s.ObjectMeta, &oldS.ObjectMeta)
}
