package cache

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/wire"
)

// source is where the objects of a kind are read.
type source struct {
	// client and expected are what a reflector needs to know.
	client   any
	expected runtime.Object
	list     func(context.Context, metav1.ListOptions) (runtime.Object, error)
	watch    func(context.Context, metav1.ListOptions) (watch.Interface, error)
	convert  func(object any) (*copies.Object, error)
}

// sourceOf returns where a kind is read: in protobuf if possible, which costs least.
func (c *Cache) sourceOf(kind copies.Kind) source {
	if c.Reader.Reads(kind) {
		keep := func(o *wire.Object) *copies.Object { return copies.NewWireObject(o, kind, c.CopyRules) }
		return source{
			client: c.Reader, expected: &wire.Object{},
			list: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				// Much less is kept than is read.
				return c.Reader.List(ctx, kind, o, func(o *wire.Object) runtime.Object { return keep(o) })
			},
			watch: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				return c.Reader.Watch(ctx, kind, o)
			},
			convert: func(object any) (*copies.Object, error) { return keep(object.(*wire.Object)), nil },
		}
	}
	client := c.Dynamic.Resource(kind.GroupVersionResource)
	expected := &unstructured.Unstructured{}
	expected.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind))
	return source{
		client: c.Dynamic, expected: expected,
		list:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return client.List(ctx, o) },
		watch: client.Watch,
		convert: func(object any) (*copies.Object, error) {
			return copies.NewObject(object.(*unstructured.Unstructured), c.CopyRules)
		},
	}
}
