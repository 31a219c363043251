package treerules

import (
	"context"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
)

// rebuildSeconds is after how many seconds a client may repeat a request that has to wait for the rebuild of the
// hierarchies.
const rebuildSeconds = 1

// AwaitRebuild returns an error with the code 503 while the hierarchies that were propagated last are not in the store:
// it was lost, and the propagator is about to rebuild them from the namespaces. What users write meanwhile would be
// decided on an empty tree, and would be kept by the rebuild. Requests of the propagator pass.
func (t *Tree) AwaitRebuild(ctx context.Context) error {
	if t.rebuilding == nil || accessreview.ByPropagator(ctx) {
		return nil
	}
	rebuilding, err := t.rebuilding(ctx)
	if err != nil || !rebuilding {
		return err
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusServiceUnavailable, Reason: metav1.StatusReasonServiceUnavailable,
		Details: &metav1.StatusDetails{Group: hnc.GroupName, RetryAfterSeconds: rebuildSeconds},
		Message: "the store does not have the hierarchies that were propagated last, and hns-propagator has to rebuild them from the namespaces; " +
			"try again. If this lasts, kubectl hns doctor says why",
	}}
}

// AwaitRebuildOf does so for a deletion in a namespace, which would be decided on an incomplete tree. What Kubernetes
// deletes along with its namespace goes.
func (t *Tree) AwaitRebuildOf(ctx context.Context, namespace string) error {
	waiting := t.AwaitRebuild(ctx)
	if waiting == nil {
		return nil
	}
	ns, err := t.Index.Namespace(ctx, namespace)
	if apierrors.IsNotFound(err) || err == nil && ns.DeletionTimestamp != nil {
		return nil
	}
	return waiting
}
