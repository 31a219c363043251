package sources

import (
	"context"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
)

// selected restricts a list or a watch to objects that are no copies, and that are not left out for what they are: in a cluster with Helm most
// Secrets are releases, and every namespace has a ConfigMap with certificates.
func selected(k copies.Kind, o metav1.ListOptions) metav1.ListOptions {
	o.LabelSelector = "!" + hnc.LabelInheritedFrom
	var fields []string
	switch {
	case k.Group != "":
	case k.Resource == "secrets":
		for _, t := range copies.ExcludedSecrets {
			fields = append(fields, "type!="+string(t))
		}
	case k.Resource == "configmaps":
		for _, name := range copies.ExcludedConfigMaps {
			fields = append(fields, "metadata.name!="+name)
		}
	}
	o.FieldSelector = strings.Join(fields, ",")
	return o
}

// watch returns a kind that is watched until the context ends or it is stopped.
func (s *Sources) watch(ctx context.Context, t Treatment) *kind {
	ctx, stop := context.WithCancel(ctx)
	of := t.Kind
	k := &kind{Treatment: t, index: copies.NewIndex(of), stop: stop}
	client := s.Metadata.Resource(of.GroupVersionResource)
	lw := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list, err := client.List(ctx, selected(of, o))
			s.missing(err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			w, err := client.Watch(ctx, selected(of, o))
			s.missing(err)
			return w, err
		},
	}, s.Metadata)
	logger := klog.FromContext(ctx)
	reflector := cache.NewReflectorWithOptions(lw, &metav1.PartialObjectMetadata{}, &feed{s, k}, cache.ReflectorOptions{
		Name: "sources of " + of.GroupResource().String(), Logger: &logger,
		Backoff: &wait.Backoff{Duration: 500 * time.Millisecond, Factor: 2, Jitter: 1, Steps: 6, Cap: 10 * time.Second},
	})
	go reflector.RunWithContext(ctx)
	return k
}

// missing has the kinds looked for again when a server does not know one, which may have gone or have another version by now.
func (s *Sources) missing(err error) {
	if apierrors.IsNotFound(err) {
		s.outdated.Store(true)
		s.again()
	}
}

// feed is the store that a reflector writes to.
type feed struct {
	sources *Sources
	kind    *kind
}

var _ cache.TransformingStore = &feed{}

func (f *feed) record(object any) *copies.Object {
	if o, ok := object.(*copies.Object); ok {
		return o
	}
	return copies.NewSource(object.(*metav1.PartialObjectMetadata), f.kind.index.Kind, &f.sources.Rules)
}

// Transformer lets a reflector keep records instead of objects while it collects a list.
func (f *feed) Transformer() cache.TransformFunc {
	return func(object any) (any, error) { return f.record(object), nil }
}

func (f *feed) Add(object any) error { return f.Update(object) }

func (f *feed) Update(object any) error {
	o := f.record(object)
	f.sources.mu.Lock()
	defer f.sources.mu.Unlock()
	f.kind.index.Set(o)
	return nil
}

func (f *feed) Delete(object any) error {
	o := f.record(object)
	f.sources.mu.Lock()
	defer f.sources.mu.Unlock()
	f.kind.index.Delete(o.Namespace, o.Name, o.UID)
	return nil
}

func (f *feed) Replace(objects []any, _ string) error {
	index := copies.NewIndex(f.kind.index.Kind)
	for _, object := range objects {
		index.Set(f.record(object))
	}
	f.sources.mu.Lock()
	defer f.sources.mu.Unlock()
	f.kind.index, f.kind.synced = index, true
	return nil
}

func (f *feed) Resync() error { return nil }
