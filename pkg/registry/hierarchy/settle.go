package hierarchy

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/dryrun"
	"k8s.io/apiserver/pkg/warning"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/accessreview"
)

// Settle returns a function that records the use that a moved namespace and its descendants bring below the quotas of
// the ancestors that they have gained, and that returns when these are in force there; nil if there are none.
type Settle func(ctx context.Context, namespace string, gained []string) func(context.Context) error

// Update changes a Hierarchy, or creates it for server-side apply, and waits for the quotas above if that is a move.
func (r *REST) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, validateCreate rest.ValidateObjectFunc,
	validateUpdate rest.ValidateObjectUpdateFunc, forceAllowCreate bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	before := r.above(ctx)
	updated, created, err := r.Store.Update(ctx, name, info, validateCreate, validateUpdate, forceAllowCreate, options)
	if err == nil {
		r.wait(ctx, updated.(*hnc.Hierarchy), before, options.DryRun)
	}
	return updated, created, err
}

// above returns the ancestors of the namespace of a request.
func (r *REST) above(ctx context.Context) []string {
	return r.index.Chain(genericapirequest.NamespaceValue(ctx))[1:]
}

// wait returns when the quotas of the ancestors that a namespace has gained are in force. Until then, its users create
// what no quota has counted. The propagator, which enforces quotas, does not wait.
func (r *REST) wait(ctx context.Context, h *hnc.Hierarchy, before []string, dryRun []string) {
	if h.Spec.Parent == "" || len(before) > 0 && before[0] == h.Spec.Parent || dryrun.IsDryRun(dryRun) || accessreview.ByPropagator(ctx) {
		return
	}
	gained := slices.DeleteFunc(r.index.Chain(h.Spec.Parent), func(ancestor string) bool { return slices.Contains(before, ancestor) })
	settle := r.settle(ctx, h.Namespace, gained)
	if settle == nil {
		return
	}
	if err := r.waiter.Until(ctx, settle); err != nil {
		warning.AddWarning(ctx, "", fmt.Sprintf("namespace %q is moved, and not all quotas above it are in force there yet: %v", h.Namespace, err))
	}
}
