package propagator

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/wire"
)

// origin is where the objects of a kind are read.
type origin struct {
	// client and expected are what a reflector has to know.
	client   any
	expected runtime.Object
	list     func(context.Context, metav1.ListOptions) (runtime.Object, error)
	watch    func(context.Context, metav1.ListOptions) (watch.Interface, error)
	convert  func(object any) (*copies.Object, error)
}

// originOf returns where a kind is read: in protobuf if possible, for that costs least.
func (p *Propagator) originOf(kind copies.Kind) origin {
	if p.Reader.Reads(kind) {
		keep := func(o *wire.Object) *copies.Object { return copies.NewWireObject(o, kind, &p.Rules) }
		return origin{
			client: p.Reader, expected: &wire.Object{},
			list: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				// What is kept is much less than what is read.
				return p.Reader.List(ctx, kind, o, func(o *wire.Object) runtime.Object { return keep(o) })
			},
			watch: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				return p.Reader.Watch(ctx, kind, o)
			},
			convert: func(object any) (*copies.Object, error) { return keep(object.(*wire.Object)), nil },
		}
	}
	client := p.Dynamic.Resource(kind.GroupVersionResource)
	expected := &unstructured.Unstructured{}
	expected.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind))
	return origin{
		client: p.Dynamic, expected: expected,
		list:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return client.List(ctx, o) },
		watch: client.Watch,
		convert: func(object any) (*copies.Object, error) {
			return copies.NewObject(object.(*unstructured.Unstructured), &p.Rules)
		},
	}
}
