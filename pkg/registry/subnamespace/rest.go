package subnamespace

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/dryrun"
	"k8s.io/apiserver/pkg/warning"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/transaction"
)

// REST serves sub-namespaces. A create returns when the namespace can be used.
type REST struct {
	*transaction.Store
	ready time.Duration
}

// Create creates a Subnamespace and waits for its namespace.
func (r *REST) Create(ctx context.Context, obj runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	created, err := r.Store.Create(ctx, obj, validate, options)
	if err != nil || dryrun.IsDryRun(options.DryRun) || requester(ctx) == "" {
		// The propagator would wait for itself.
		return created, err
	}
	return r.await(ctx, created.(*hnc.Subnamespace)), nil
}

// Update changes a Subnamespace, or creates it for server-side apply and waits for its namespace.
func (r *REST) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, validateCreate rest.ValidateObjectFunc,
	validateUpdate rest.ValidateObjectUpdateFunc, forceAllowCreate bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	obj, created, err := r.Store.Update(ctx, name, info, validateCreate, validateUpdate, forceAllowCreate, options)
	if err != nil || !created || dryrun.IsDryRun(options.DryRun) {
		return obj, created, err
	}
	return r.await(ctx, obj.(*hnc.Subnamespace)), true, nil
}

// await returns the object once it is ready or known never to become so. What it waited for in vain is a warning to
// the client, not an error: the object is stored, and the propagator goes on.
func (r *REST) await(ctx context.Context, s *hnc.Subnamespace) *hnc.Subnamespace {
	if r.ready <= 0 {
		return s
	}
	waiting, cancel := context.WithTimeout(ctx, r.ready)
	defer cancel()
	latest, err := r.watchUntilSettled(waiting, s)
	if err != nil {
		warning.AddWarning(ctx, "", fmt.Sprintf("namespace %q can't be used yet: %v; see the conditions of subnamespaces.%s %q in namespace %q",
			s.Name, err, hnc.GroupName, s.Name, s.Namespace))
	}
	return latest
}

func (r *REST) watchUntilSettled(ctx context.Context, s *hnc.Subnamespace) (*hnc.Subnamespace, error) {
	events, err := r.Watch(ctx, &metainternalversion.ListOptions{
		FieldSelector:   fields.OneTermEqualSelector("metadata.name", s.Name),
		ResourceVersion: s.ResourceVersion,
	})
	if err != nil {
		return s, err
	}
	defer events.Stop()
	for {
		select {
		case <-ctx.Done():
			return s, fmt.Errorf("it was not ready in time")
		case event, ok := <-events.ResultChan():
			if !ok || event.Type == watch.Error {
				return s, fmt.Errorf("it was not ready when the wait for it ended")
			}
			object := event.Object
			if cached, ok := object.(runtime.CacheableObject); ok {
				object = cached.GetObject() // the watch cache wraps what several watchers get
			}
			latest, ok := object.(*hnc.Subnamespace)
			if !ok || latest.UID != s.UID {
				continue
			}
			if event.Type == watch.Deleted || latest.DeletionTimestamp != nil {
				return latest, fmt.Errorf("it is being deleted")
			}
			s = latest
			ready := meta.FindStatusCondition(s.Status.Conditions, hnc.ConditionReady)
			switch {
			case ready == nil:
			case ready.Status == metav1.ConditionTrue:
				return s, nil
			case ready.Status == metav1.ConditionFalse:
				return s, fmt.Errorf("%s", ready.Message)
			}
		}
	}
}
