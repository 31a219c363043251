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
	"k8s.io/client-go/metadata"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

const inheritedFrom = hnc.LabelInheritedFrom

// parameters encodes list options.
var parameters = scheme.ParameterCodec

var namespacesResource = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

// verdict says whether an object is seen as expected.
type verdict func(watch.EventType, *metav1.PartialObjectMetadata) bool

// observation watches until as many objects as are wanted have been seen as expected.
type observation struct {
	client   metadata.ResourceInterface
	selector string
	right    verdict
	// removal says that what is wanted is that objects go.
	removal bool
	stop    context.CancelFunc
	done    chan struct{}
	seen    map[string]bool
	want    int
	what    string
	at      time.Time
	err     error
}

// observe begins to watch the metadata of objects. What is right already does not count, so it has to begin before the
// change. One watch of metadata is all that an observation costs the server, unless the server ends it because we can't
// keep up: then what is there is listed.
func (c *cluster) observe(ctx context.Context, o observation, resource schema.GroupVersionResource) (*observation, error) {
	o.client = c.metadata.Resource(resource)
	o.done, o.seen = make(chan struct{}), map[string]bool{}
	list, err := o.client.List(ctx, metav1.ListOptions{LabelSelector: "bench.example.com/nothing", Limit: 1})
	if err != nil {
		return nil, err
	}
	w, err := o.client.Watch(ctx, metav1.ListOptions{LabelSelector: o.selector, ResourceVersion: list.ResourceVersion})
	if err != nil {
		return nil, err
	}
	ctx, o.stop = context.WithCancel(ctx)
	go o.run(ctx, w)
	return &o, nil
}

func (o *observation) run(ctx context.Context, w watch.Interface) {
	defer close(o.done)
	for {
		over := o.follow(ctx, w)
		w.Stop()
		if !over && ctx.Err() == nil {
			w, over = o.relist(ctx)
		}
		switch {
		case ctx.Err() != nil:
			o.err = ctx.Err()
			return
		case o.err != nil:
			return
		case over:
			o.at = time.Now()
			return
		}
	}
}

// follow says whether all is as wanted, which it may not be when the watch ends.
func (o *observation) follow(ctx context.Context, w watch.Interface) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case event, open := <-w.ResultChan():
			object, ok := event.Object.(*metav1.PartialObjectMetadata)
			if !open || !ok {
				return false
			}
			o.see(event.Type, object)
			if len(o.seen) == o.want {
				return true
			}
		}
	}
}

func (o *observation) see(event watch.EventType, object *metav1.PartialObjectMetadata) {
	if key := object.Namespace + "/" + object.Name; o.right(event, object) {
		o.seen[key] = true
	} else {
		delete(o.seen, key)
	}
}

// relist lists the objects, and watches from there.
func (o *observation) relist(ctx context.Context) (w watch.Interface, over bool) {
	list, err := o.client.List(ctx, metav1.ListOptions{LabelSelector: o.selector})
	if err != nil {
		o.err = fmt.Errorf("%s: %w", o.what, err)
		return nil, false
	}
	o.seen = map[string]bool{}
	if o.removal {
		o.want = len(list.Items)
	} else {
		for i := range list.Items {
			o.see(watch.Modified, &list.Items[i])
		}
	}
	if len(o.seen) == o.want {
		return nil, true
	}
	if w, err = o.client.Watch(ctx, metav1.ListOptions{LabelSelector: o.selector, ResourceVersion: list.ResourceVersion}); err != nil {
		o.err = fmt.Errorf("%s: %w", o.what, err)
	}
	return w, false
}

// wait returns when the last of the objects was seen as expected.
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
	o.stop()
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
	return c.observe(ctx, observation{
		what: fmt.Sprintf("copies of %s from %s", k.Resource, source), selector: inheritedFrom + "=" + source, want: n,
		right: func(event watch.EventType, object *metav1.PartialObjectMetadata) bool {
			return event != watch.Deleted && object.Labels[generation] == value
		},
	}, k.GroupVersionResource)
}

// observeRaw watches until n objects of a resource are there with a generation.
func (c *cluster) observeRaw(ctx context.Context, resource schema.GroupVersionResource, value string, n int) (*observation, error) {
	return c.observe(ctx, observation{
		what: "plain " + resource.Resource, selector: generation + "=" + value, want: n,
		right: func(event watch.EventType, _ *metav1.PartialObjectMetadata) bool { return event != watch.Deleted },
	}, resource)
}

// observeRemoval watches until n copies of a kind from a source namespace have gone.
func (c *cluster) observeRemoval(ctx context.Context, k kind, source string, n int) (*observation, error) {
	return c.observe(ctx, observation{
		what: fmt.Sprintf("removal of the copies of %s from %s", k.Resource, source), selector: inheritedFrom + "=" + source, want: n, removal: true,
		right: func(event watch.EventType, _ *metav1.PartialObjectMetadata) bool { return event == watch.Deleted },
	}, k.GroupVersionResource)
}

// observeLabels watches until namespaces have the tree labels that they should have.
func (c *cluster) observeLabels(ctx context.Context, want map[string]chain) (*observation, error) {
	return c.observe(ctx, observation{
		what: "tree labels", want: len(want),
		right: func(event watch.EventType, object *metav1.PartialObjectMetadata) bool {
			wanted, ok := want[object.Name]
			return ok && event != watch.Deleted && wanted.mismatch(object.Labels) == ""
		},
	}, namespacesResource)
}
