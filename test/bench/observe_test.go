package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
)

// objects answers lists with some objects, and each watch with one that ends after some events.
type objects struct {
	metadata.ResourceInterface
	list   []metav1.PartialObjectMetadata
	events []watch.Event
}

func (o *objects) List(context.Context, metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	return &metav1.PartialObjectMetadataList{Items: o.list}, nil
}

func (o *objects) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	w := watch.NewFakeWithChanSize(len(o.events), false)
	for _, e := range o.events {
		w.Action(e.Type, e.Object)
	}
	w.Stop()
	o.events = nil
	return w, nil
}

func named(i int) metav1.PartialObjectMetadata {
	return metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(i)}}
}

func TestAnObservationGoesOnWhenTheServerEndsItsWatch(t *testing.T) {
	one, two := named(1), named(2)
	exists := func(event watch.EventType, _ *metav1.PartialObjectMetadata) bool { return event != watch.Deleted }
	gone := func(event watch.EventType, _ *metav1.PartialObjectMetadata) bool { return event == watch.Deleted }
	for name, test := range map[string]struct {
		observation
		objects
		over bool
	}{
		"all were seen":                {observation{want: 2, right: exists}, objects{nil, nil, []watch.Event{{Type: watch.Added, Object: &one}, {Type: watch.Added, Object: &two}}}, true},
		"one was seen, both are there": {observation{want: 2, right: exists}, objects{nil, []metav1.PartialObjectMetadata{one, two}, []watch.Event{{Type: watch.Added, Object: &one}}}, true},
		"one was seen and is there":    {observation{want: 2, right: exists}, objects{nil, []metav1.PartialObjectMetadata{one}, []watch.Event{{Type: watch.Added, Object: &one}}}, false},
		"one has gone, none is there":  {observation{want: 2, right: gone, removal: true}, objects{nil, nil, []watch.Event{{Type: watch.Deleted, Object: &one}}}, true},
		"one has gone, one is there":   {observation{want: 2, right: gone, removal: true}, objects{nil, []metav1.PartialObjectMetadata{two}, []watch.Event{{Type: watch.Deleted, Object: &one}}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := &test.observation
			o.client, o.seen, o.done = &test.objects, map[string]bool{}, make(chan struct{})
			ctx, stop := context.WithCancel(t.Context())
			o.stop = stop
			w, _ := o.client.Watch(ctx, metav1.ListOptions{})
			go o.run(ctx, w)
			timeout := time.Minute
			if !test.over {
				timeout = 50 * time.Millisecond
			}
			if at, err := o.wait(t.Context(), timeout); (err == nil) != test.over || at.IsZero() == test.over {
				t.Errorf("at %v: %v", at, err)
			}
		})
	}
}
