package sourceindex

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata/fake"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
)

// store is a Store with a fixed list.
type store struct {
	list kruntime.Object
	*watch.FakeWatcher
}

func configured(resources ...hnc.ResourceSpec) *hnc.HNCConfiguration {
	return &hnc.HNCConfiguration{ObjectMeta: metav1.ObjectMeta{Name: hnc.ConfigurationName, ResourceVersion: "1"}, Spec: hnc.HNCConfigurationSpec{Resources: resources}}
}

func hierarchy(namespace string, resources ...hnc.ResourceSpec) *hnc.Hierarchy {
	return &hnc.Hierarchy{ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton, Namespace: namespace, ResourceVersion: "1"}, Spec: hnc.HierarchySpec{Propagation: resources}}
}

func (s *store) List(context.Context, *metainternalversion.ListOptions) (kruntime.Object, error) {
	return s.list, nil
}

func (s *store) NewList() kruntime.Object { return s.list }

func (s *store) ConvertToTable(context.Context, kruntime.Object, kruntime.Object) (*metav1.Table, error) {
	return nil, nil
}

func (s *store) Watch(_ context.Context, o *metainternalversion.ListOptions) (watch.Interface, error) {
	if o.SendInitialEvents != nil {
		return nil, fmt.Errorf("not supported")
	}
	return s.FakeWatcher, nil
}

// source returns the metadata of an object "namespace/name key=value...", where key=value is an annotation.
func source(kind, text string) *metav1.PartialObjectMetadata {
	words := strings.Fields(text)
	m := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: kind}}
	m.Namespace, m.Name, _ = strings.Cut(words[0], "/")
	m.UID, m.ResourceVersion = types.UID(text), "1"
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		if key == "finalizer" {
			m.Finalizers = []string{value}
			continue
		}
		if key == "team" {
			metav1.SetMetaDataLabel(&m.ObjectMeta, key, value)
			continue
		}
		metav1.SetMetaDataAnnotation(&m.ObjectMeta, key, value)
	}
	return m
}

type fixture struct {
	*Sources
	client *fake.FakeMetadataClient
	config *store
	trees  *store
	rules  atomic.Pointer[copies.Rules]
}

// run returns Sources of a cluster with these ConfigMaps.
func run(t *testing.T, resources []hnc.ResourceSpec, objects ...string) *fixture {
	t.Helper()
	s := fake.NewTestScheme()
	if err := metav1.AddMetaToScheme(s); err != nil {
		t.Fatal(err)
	}
	var all []kruntime.Object
	for _, text := range objects {
		all = append(all, source("ConfigMap", text))
	}
	f := &fixture{client: fake.NewSimpleMetadataClient(s, all...)}
	f.config = &store{&hnc.HNCConfigurationList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: []hnc.HNCConfiguration{*configured(resources...)}}, watch.NewFake()}
	f.trees = &store{&hnc.HierarchyList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}, watch.NewFake()}
	f.rules.Store(&copies.Rules{})
	f.Sources = New(Config{Metadata: f.client, Kubernetes: kubefake.NewClientset(), Mapper: kinds.NewMapper(testrestmapper.TestOnlyStaticRESTMapper(scheme.Scheme)), Rules: f.rules.Load})
	return f
}

func (f *fixture) start(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.Run(ctx, f.config, f.trees)
	}()
	t.Cleanup(func() { stop(); <-done })
}

func eventually(t *testing.T, what, want string, f func() string) {
	t.Helper()
	var got string
	if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
		got = f()
		return got == want, nil
	}); err != nil {
		t.Fatalf("%s: %q, want %q", what, got, want)
	}
}

func configMaps(mode hnc.SynchronizationMode, policy hnc.ConflictPolicy) []hnc.ResourceSpec {
	return []hnc.ResourceSpec{{Resource: "configmaps", Mode: mode, OnConflict: policy}}
}

// into returns destinations with the same ancestors.
func into(above []string, names ...string) func(func(copies.Destination) bool) {
	return func(yield func(copies.Destination) bool) {
		for _, name := range names {
			d := copies.Destination{Namespace: name, Ancestors: above, Labels: func(namespace string) map[string]string { return map[string]string{"name": namespace} }}
			if !yield(d) {
				return
			}
		}
	}
}

func words(writes []copies.Write, unknown []string) string {
	var list []string
	for _, w := range writes {
		list = append(list, w.From()+"/"+w.Name+">"+w.Namespace)
	}
	for _, u := range unknown {
		list = append(list, "?"+u)
	}
	return strings.Join(list, " ")
}
