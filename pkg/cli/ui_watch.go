package cli

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
)

// uiPollPeriod is how often the page is refreshed for users who may not watch.
const uiPollPeriod = 15 * time.Second

func (r *uiReader) Watch(ctx context.Context, changed func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	api := r.clients.Hierarchy.HncV1beta1()
	hierarchies, quotas := api.Hierarchies(metav1.NamespaceAll), api.HierarchicalResourceQuotas(metav1.NamespaceAll)
	watches := []func() (watch.Interface, error){
		func() (watch.Interface, error) {
			return watchFromNow(ctx, r.clients.namespaces.List, r.clients.namespaces.Watch)
		},
		func() (watch.Interface, error) { return watchFromNow(ctx, hierarchies.List, hierarchies.Watch) },
		func() (watch.Interface, error) { return watchFromNow(ctx, quotas.List, quotas.Watch) },
	}
	events := make(chan watch.Event)
	for i, start := range watches {
		w, err := start()
		switch optional := i == 2; {
		case optional && (apierrors.IsForbidden(err) || isUnserved(err)):
			continue
		case apierrors.IsForbidden(err):
			wait.UntilWithContext(ctx, func(context.Context) { changed() }, uiPollPeriod)
			return nil
		case err != nil:
			return err
		}
		defer w.Stop()
		go forward(ctx, w, events)
	}
	// The first call covers changes before the watches began.
	for {
		changed()
		select {
		case <-ctx.Done():
			return nil
		case event := <-events:
			if event.Type == watch.Error {
				return apierrors.FromObject(event.Object)
			}
		}
	}
}

// watchFromNow starts a watch without the objects that exist. The caller has read them before.
func watchFromNow[L metav1.ListInterface](ctx context.Context, list func(context.Context, metav1.ListOptions) (L, error), start func(context.Context, metav1.ListOptions) (watch.Interface, error)) (watch.Interface, error) {
	first, err := list(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return nil, err
	}
	return start(ctx, metav1.ListOptions{ResourceVersion: first.GetResourceVersion()})
}

// forward sends the events of a watch, and an error when it ends.
func forward(ctx context.Context, w watch.Interface, events chan<- watch.Event) {
	for open := true; open; {
		var event watch.Event
		if event, open = <-w.ResultChan(); !open {
			event = watch.Event{Type: watch.Error, Object: &metav1.Status{Message: "the watch has ended"}}
		}
		select {
		case <-ctx.Done():
			return
		case events <- event:
		}
	}
}
