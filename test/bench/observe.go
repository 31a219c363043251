package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

const inheritedFrom = hnc.LabelInheritedFrom

// parameters encodes list options.
var parameters = scheme.ParameterCodec

var namespacesResource = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

// observation watches until as many objects as are wanted have been seen as they shall be.
type observation struct {
	watch watch.Interface
	done  chan struct{}
	seen  map[string]bool
	want  int
	what  string
	at    time.Time
	err   error
}

// observe begins to watch the metadata of objects; right says whether one is seen as it shall be. What is right already does not count, so it
// has to begin before the change. One watch of metadata is all that an observation costs the server.
func (c *cluster) observe(ctx context.Context, what string, resource schema.GroupVersionResource, selector string, want int,
	right func(watch.EventType, *metav1.PartialObjectMetadata) bool,
) (*observation, error) {
	client := c.metadata.Resource(resource)
	list, err := client.List(ctx, metav1.ListOptions{LabelSelector: "bench.example.com/nothing", Limit: 1})
	if err != nil {
		return nil, err
	}
	w, err := client.Watch(ctx, metav1.ListOptions{LabelSelector: selector, ResourceVersion: list.ResourceVersion})
	if err != nil {
		return nil, err
	}
	o := &observation{watch: w, done: make(chan struct{}), seen: map[string]bool{}, want: want, what: what}
	go o.run(right)
	return o, nil
}

func (o *observation) run(right func(watch.EventType, *metav1.PartialObjectMetadata) bool) {
	defer close(o.done)
	defer o.watch.Stop()
	for event := range o.watch.ResultChan() {
		object, ok := event.Object.(*metav1.PartialObjectMetadata)
		if !ok {
			o.err = fmt.Errorf("%s: the watch says %v", o.what, event.Object)
			return
		}
		if key := object.Namespace + "/" + object.Name; right(event.Type, object) {
			o.seen[key] = true
		} else {
			delete(o.seen, key)
		}
		if len(o.seen) == o.want {
			o.at = time.Now()
			return
		}
	}
	o.err = errors.New(o.what + ": the watch has ended")
}

// wait returns when the last of the objects was seen as it shall be.
func (o *observation) wait(ctx context.Context, timeout time.Duration) (time.Time, error) {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-o.done:
		return o.at, o.err
	case <-ctx.Done():
		return time.Time{}, ctx.Err()
	case <-timer.C:
	}
	o.watch.Stop()
	<-o.done
	if o.at.IsZero() {
		return time.Time{}, fmt.Errorf("%s: %d of %d after %s", o.what, len(o.seen), o.want, timeout)
	}
	return o.at, nil
}

// waitAll returns when the last of the observations was over, as the time since a moment.
func (c *cluster) waitAll(ctx context.Context, since time.Time, observations []*observation) (time.Duration, error) {
	last := since
	var errs []error
	for _, o := range observations {
		at, err := o.wait(ctx, c.options.Timeout)
		errs = append(errs, err)
		if at.After(last) {
			last = at
		}
	}
	return last.Sub(since), errors.Join(errs...)
}

// observeCopies watches until n copies of a kind from a source namespace are there with a generation.
func (c *cluster) observeCopies(ctx context.Context, k kind, source, value string, n int) (*observation, error) {
	return c.observe(ctx, fmt.Sprintf("copies of %s from %s", k.Resource, source), k.GroupVersionResource, inheritedFrom+"="+source, n,
		func(event watch.EventType, object *metav1.PartialObjectMetadata) bool {
			return event != watch.Deleted && object.Labels[generation] == value
		})
}

// observeRemoval watches until n copies of a kind from a source namespace have gone.
func (c *cluster) observeRemoval(ctx context.Context, k kind, source string, n int) (*observation, error) {
	return c.observe(ctx, fmt.Sprintf("removal of the copies of %s from %s", k.Resource, source), k.GroupVersionResource, inheritedFrom+"="+source, n,
		func(event watch.EventType, _ *metav1.PartialObjectMetadata) bool { return event == watch.Deleted })
}

// observeLabels watches until namespaces have the tree labels that they shall have.
func (c *cluster) observeLabels(ctx context.Context, want map[string]chain) (*observation, error) {
	return c.observe(ctx, "tree labels", namespacesResource, "", len(want),
		func(event watch.EventType, object *metav1.PartialObjectMetadata) bool {
			wanted, ok := want[object.Name]
			return ok && event != watch.Deleted && wanted.wrong(object.Labels) == ""
		})
}
