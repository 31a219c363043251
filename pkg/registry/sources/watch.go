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

// sourcesOnly restricts list options to objects that may be sources. In clusters with Helm most Secrets are releases,
// and every namespace has a ConfigMap with certificates.
func sourcesOnly(k copies.Kind, o metav1.ListOptions) metav1.ListOptions {
	o.LabelSelector = "!" + hnc.LabelInheritedFrom
	var fields []string
	switch {
	case k.Group != "":
	case k.Resource == "secrets":
		for _, t := range copies.ExcludedSecrets {
			fields = append(fields, "type!="+string(t))
		}
	case k.Resource == "resourcequotas":
		// They change with each object that they count.
		o.LabelSelector += ",!" + hnc.LabelQuota
	case k.Resource == "configmaps":
		for _, name := range copies.ExcludedConfigMaps {
			fields = append(fields, "metadata.name!="+name)
		}
	}
	o.FieldSelector = strings.Join(fields, ",")
	return o
}

// watch starts to watch a kind until the context ends or stop is called.
func (s *Sources) watch(ctx context.Context, p KindPolicy) *kind {
	ctx, stop := context.WithCancel(ctx)
	of := p.Kind
	k := &kind{KindPolicy: p, index: copies.NewIndex(of), stop: stop}
	client := s.Metadata.Resource(of.GroupVersionResource)
	lw := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list, err := client.List(ctx, sourcesOnly(of, o))
			s.handleNotFound(err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			w, err := client.Watch(ctx, sourcesOnly(of, o))
			s.handleNotFound(err)
			return w, err
		},
	}, s.Metadata)
	logger := klog.FromContext(ctx)
	reflector := cache.NewReflectorWithOptions(lw, &metav1.PartialObjectMetadata{}, &indexStore{s, k}, cache.ReflectorOptions{
		Name: "sources of " + of.GroupResource().String(), Logger: &logger,
		Backoff: &wait.Backoff{Duration: 500 * time.Millisecond, Factor: 2, Jitter: 1, Steps: 6, Cap: 10 * time.Second},
	})
	go reflector.RunWithContext(ctx)
	return k
}

// handleNotFound schedules discovery when a server does not know a kind: the kind was removed, or has another
// version.
func (s *Sources) handleNotFound(err error) {
	if apierrors.IsNotFound(err) {
		s.mapperOutdated.Store(true)
		s.enqueueResolve()
	}
}

// indexStore is the reflector's store. An informer would keep the metadata of all objects in addition to the index.
type indexStore struct {
	sources *Sources
	kind    *kind
}

var _ cache.TransformingStore = &indexStore{}

func (f *indexStore) record(object any) *copies.Object {
	if o, ok := object.(*copies.Object); ok {
		return o
	}
	return copies.NewSource(object.(*metav1.PartialObjectMetadata), f.kind.index.Kind, f.sources.Rules())
}

// Transformer lets the reflector keep records instead of objects while it reads a list.
func (f *indexStore) Transformer() cache.TransformFunc {
	return func(object any) (any, error) { return f.record(object), nil }
}

func (f *indexStore) Add(object any) error { return f.Update(object) }

func (f *indexStore) Update(object any) error {
	o := f.record(object)
	f.sources.mu.Lock()
	defer f.sources.mu.Unlock()
	f.kind.index.Set(o)
	return nil
}

func (f *indexStore) Delete(object any) error {
	o := f.record(object)
	f.sources.mu.Lock()
	defer f.sources.mu.Unlock()
	f.kind.index.Delete(o.Namespace, o.Name, o.UID)
	return nil
}

func (f *indexStore) Replace(objects []any, _ string) error {
	index := copies.NewIndex(f.kind.index.Kind)
	for _, object := range objects {
		index.Set(f.record(object))
	}
	f.sources.mu.Lock()
	defer f.sources.mu.Unlock()
	f.kind.index, f.kind.synced = index, true
	f.sources.progressed()
	return nil
}

func (f *indexStore) Resync() error { return nil }
