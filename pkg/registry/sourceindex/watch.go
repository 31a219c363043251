package sourceindex

import (
	"context"
	"strings"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
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
func (s *Sources) watch(ctx context.Context, p kinds.WithPolicies) *kind {
	ctx, stop := context.WithCancel(ctx)
	of := p.Kind
	k := &kind{WithPolicies: p, index: copies.NewIndex(of), stop: stop}
	from := s.reader(of, metav1.NamespaceAll)
	lw := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list, err := from.list(ctx, sourcesOnly(of, o))
			s.handleNotFound(err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			w, err := from.watch(ctx, sourcesOnly(of, o))
			s.handleNotFound(err)
			return w, err
		},
	}, from.client)
	logger := klog.FromContext(ctx)
	reflector := cache.NewReflectorWithOptions(lw, from.expected, &indexStore{s, k}, cache.ReflectorOptions{
		Name: "sources of " + of.GroupResource().String(), Logger: &logger,
		Backoff: &wait.Backoff{Duration: 500 * time.Millisecond, Factor: 2, Jitter: 1, Steps: 6, Cap: 10 * time.Second},
	})
	go reflector.RunWithContext(ctx)
	return k
}

// reader is where the objects of a kind are read.
type reader struct {
	// client and expected are what a reflector needs to know.
	client   any
	expected runtime.Object
	list     func(context.Context, metav1.ListOptions) (runtime.Object, error)
	watch    func(context.Context, metav1.ListOptions) (watch.Interface, error)
}

// reader returns where a kind is read in a namespace: its metadata, or RoleBindings.
func (s *Sources) reader(of copies.Kind, namespace string) reader {
	if of == copies.RoleBindings {
		client := s.Kubernetes.RbacV1().RoleBindings(namespace)
		return reader{
			client: s.Kubernetes, expected: &rbacv1.RoleBinding{}, watch: client.Watch,
			list: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return client.List(ctx, o) },
		}
	}
	client := s.Metadata.Resource(of.GroupVersionResource).Namespace(namespace)
	return reader{
		client: s.Metadata, expected: &metav1.PartialObjectMetadata{}, watch: client.Watch,
		list: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return client.List(ctx, o) },
	}
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
	return f.sources.record(f.kind.index.Kind, object)
}

// record returns the record of an object of a kind.
func (s *Sources) record(of copies.Kind, object any) *copies.Object {
	switch o := object.(type) {
	case *copies.Object:
		return o
	case *rbacv1.RoleBinding:
		return copies.NewRoleBinding(o, s.Rules())
	}
	return copies.NewSource(object.(*metav1.PartialObjectMetadata), of, s.Rules())
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
