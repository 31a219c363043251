package subnamespace

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/warning"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// waitUntilReady returns the object once it is ready, or cannot become ready. The client gets a warning if it is not ready, and no error: the object
// is stored, and the propagator continues.
func (r *REST) waitUntilReady(ctx context.Context, s *hnc.Subnamespace) *hnc.Subnamespace {
	if r.readyTimeout <= 0 {
		return s
	}
	if r.paused(ctx) {
		warning.AddWarning(ctx, "", fmt.Sprintf("namespace %q can't be used yet: the propagation is paused after a restore, and the namespace is created when an administrator ends the pause", s.Name))
		return s
	}
	waiting, cancel := context.WithTimeout(ctx, r.readyTimeout)
	defer cancel()
	latest, err := r.watchUntilReady(waiting, s)
	if err != nil {
		warning.AddWarning(ctx, "", fmt.Sprintf("namespace %q can't be used yet: %v; see the conditions of subnamespaces.%s %q in namespace %q",
			s.Name, err, hnc.GroupName, s.Name, s.Namespace))
	}
	return latest
}

func (r *REST) watchUntilReady(ctx context.Context, s *hnc.Subnamespace) (*hnc.Subnamespace, error) {
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
				object = cached.GetObject() // the watch cache wraps objects for several watchers
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
