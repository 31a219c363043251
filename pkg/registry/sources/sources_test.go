package sources

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
)

// store is a store with a list.
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

// source returns the metadata of an object "namespace/name key=value...", whose words are annotations.
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
		metav1.SetMetaDataAnnotation(&m.ObjectMeta, key, value)
	}
	return m
}

type fixture struct {
	*Sources
	client *fake.FakeMetadataClient
	config *store
	trees  *store
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
	f.Sources = New(Config{Metadata: f.client, Mapper: testrestmapper.TestOnlyStaticRESTMapper(scheme.Scheme)})
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

// into returns destinations, all below the same ancestors.
func into(above []string, names ...string) func(func(copies.Destination) bool) {
	return func(yield func(copies.Destination) bool) {
		for _, name := range names {
			d := copies.Destination{Namespace: name, Ancestors: above, Labels: func() map[string]string { return map[string]string{"name": name} }}
			if !yield(d) {
				return
			}
		}
	}
}

func words(writes []copies.Write, unknown []string) string {
	var list []string
	for _, w := range writes {
		list = append(list, w.Source.Namespace+"/"+w.Name+">"+w.Namespace)
	}
	for _, u := range unknown {
		list = append(list, "?"+u)
	}
	return strings.Join(list, " ")
}

func TestH11WhatIsOverwritten(t *testing.T) {
	above := []string{"root", "mid"}
	for _, row := range []struct {
		name    string
		objects []string
		want    string
	}{
		{"the same name", []string{"mid/a", "moved/a", "moved/b"}, "mid/a>moved"},
		{"further below", []string{"mid/a", "below/a"}, "mid/a>below"},
		{"the topmost wins", []string{"mid/a", "root/a", "below/a"}, "root/a>below"},
		{"in the order of namespaces and names", []string{"mid/b", "root/a", "below/a", "moved/b", "moved/a"}, "root/a>moved mid/b>moved root/a>below"},
		{"only one's own", []string{"moved/a", "below/a", "elsewhere/b"}, ""},
		{"not to that one", []string{"mid/a propagate.hnc.x-k8s.io/select=name=below", "moved/a", "below/a"}, "mid/a>below"},
		{"to none", []string{"mid/a propagate.hnc.x-k8s.io/none=true", "moved/a"}, ""},
		{"not readable", []string{"mid/a propagate.hnc.x-k8s.io/none=x", "moved/a"}, ""},
		{"the next one if the topmost doesn't go there", []string{"root/a propagate.hnc.x-k8s.io/none=true", "mid/a", "moved/a"}, "mid/a>moved"},
		{"a source with finalizers", []string{"mid/a finalizer=x/y", "moved/a"}, ""},
		{"an object with finalizers", []string{"mid/a", "moved/a finalizer=x/y"}, "mid/a>moved"},
		{"never copied", []string{"mid/kube-root-ca.crt", "moved/kube-root-ca.crt"}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := run(t, configMaps("", ""), row.objects...)
			f.start(t)
			eventually(t, "overwritten", row.want, func() string { return words(f.Overwritten(above, into(above, "moved", "below"))) })
			for _, other := range [][]hnc.ResourceSpec{configMaps(hnc.AllowPropagate, ""), configMaps(hnc.Propagate, hnc.Keep), nil} {
				f.config.Modify(configured(other...))
				if other != nil && other[0].Mode == hnc.AllowPropagate && strings.Contains(row.objects[0], "select") {
					continue // it asks for it
				}
				eventually(t, fmt.Sprintf("overwritten with %v", other), "", func() string { return words(f.Overwritten(above, into(above, "moved", "below"))) })
			}
		})
	}
}

func TestH11WhatIsNotKnownIsTold(t *testing.T) {
	f := run(t, configMaps("", ""), "root/a", "moved/a")
	f.client.PrependReactor("list", "configmaps", func(clienttesting.Action) (bool, kruntime.Object, error) { return true, nil, fmt.Errorf("away") })
	above := []string{"root"}
	if got := words(f.Overwritten(above, into(above, "moved"))); got != "?the configured kinds" {
		t.Errorf("before anything is known: %q", got)
	}
	f.start(t)
	eventually(t, "unknown", "?configmaps", func() string { return words(f.Overwritten(above, into(above, "moved"))) })
}

func TestTheIndexFollowsTheObjects(t *testing.T) {
	f := run(t, configMaps("", ""), "root/a")
	f.start(t)
	above := []string{"root"}
	overwritten := func() string { return words(f.Overwritten(above, into(above, "moved"))) }
	eventually(t, "known", "", overwritten)
	client := f.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("moved").(fake.MetadataClient)
	m := source("ConfigMap", "moved/a")
	m.ResourceVersion = "2"
	if _, err := client.CreateFake(m, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "one that has come", "root/a>moved", overwritten)
	if err := client.Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "one that has gone", "", overwritten)
}

func TestK7OnlyAKindThatBeginsToBePropagated(t *testing.T) {
	objects := []string{"root/a", "moved/a", "moved/b"}
	above := []string{"root"}
	for _, row := range []struct {
		before, after []hnc.ResourceSpec
		want          string
	}{
		{nil, configMaps(hnc.Propagate, ""), "root/a>moved"},
		{nil, configMaps("", ""), "root/a>moved"},
		{configMaps(hnc.Remove, ""), configMaps(hnc.Propagate, ""), "root/a>moved"},
		{configMaps(hnc.Ignore, ""), []hnc.ResourceSpec{{Resource: "configmap", Mode: hnc.Propagate}}, "root/a>moved"},
		{nil, configMaps(hnc.AllowPropagate, ""), ""},
		{nil, configMaps(hnc.Propagate, hnc.Keep), ""},
		{nil, configMaps(hnc.Remove, ""), ""},
		{configMaps(hnc.AllowPropagate, ""), configMaps(hnc.Propagate, ""), ""},
		{configMaps(hnc.Propagate, hnc.Keep), configMaps(hnc.Propagate, ""), ""},
	} {
		f := run(t, nil, objects...)
		if got := words(f.OverwrittenBy(t.Context(), Said{Cluster: row.before}, Said{Cluster: row.after}, into(above, "moved"))); got != row.want {
			t.Errorf("from %v to %v: %q, want %q", row.before, row.after, got, row.want)
		}
	}
}

func TestWhatAHierarchySaysIsAboutTheSourcesBelowIt(t *testing.T) {
	above := []string{"root", "mid"}
	f := run(t, nil, "root/a", "mid/b", "moved/a", "moved/b")
	f.start(t)
	overwritten := func() string { return words(f.Overwritten(above, into(above, "moved"))) }
	eventually(t, "nothing is said", "", overwritten)
	f.trees.Add(hierarchy("mid", configMaps("", "")...))
	eventually(t, "below mid", "mid/b>moved", overwritten)
	f.trees.Add(hierarchy("root", configMaps("", "")...))
	eventually(t, "below the root", "root/a>moved mid/b>moved", overwritten)
	f.trees.Modify(hierarchy("mid", configMaps("", hnc.Keep)...))
	eventually(t, "kept below mid", "root/a>moved", overwritten)
	f.trees.Delete(hierarchy("root", configMaps("", "")...))
	eventually(t, "no more below the root", "", overwritten)
	said := func(namespace string) Said { return Said{}.With(namespace, configMaps("", "")) }
	for _, row := range []struct {
		before, after Said
		want          string
	}{
		{Said{}, said("mid"), "mid/b>moved"},
		{Said{}, said("root"), "root/a>moved mid/b>moved"},
		{said("mid"), said("root"), "root/a>moved"},
		{said("root"), said("mid"), ""},
		{said("root").With("mid", configMaps(hnc.Remove, "")), said("root"), "mid/b>moved"},
		{said("root"), Said{}, ""},
	} {
		writes, unknown := f.OverwrittenBy(t.Context(), row.before, row.after, into(above, "moved"))
		slices.SortFunc(writes, func(a, b copies.Write) int { return strings.Compare(a.Name, b.Name) })
		if got := words(writes, unknown); got != row.want {
			t.Errorf("from %v to %v: %q, want %q", row.before, row.after, got, row.want)
		}
	}
}

func TestCopiesAndReleasesAreNotAskedFor(t *testing.T) {
	for resource, want := range map[string]string{
		"secrets":    "type!=kubernetes.io/service-account-token,type!=helm.sh/release.v1",
		"configmaps": "metadata.name!=kube-root-ca.crt,metadata.name!=istio-ca-root-cert",
		"services":   "",
	} {
		o := selected(copies.Kind{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: resource}}, metav1.ListOptions{})
		if o.FieldSelector != want || o.LabelSelector != "!"+hnc.LabelInheritedFrom {
			t.Errorf("%s: %+v", resource, o)
		}
	}
}

// A cluster of 10 000 namespaces with five sources each.
func TestTheIndexOfALargeClusterIsSmall(t *testing.T) {
	before := heap()
	index := copies.NewIndex(copies.Kinds[1])
	rules := copies.Rules{}
	for i := range 10_000 {
		for j := range 5 {
			m := source("RoleBinding", fmt.Sprintf("namespace-%d/binding-%d", i, j))
			m.UID = types.UID(fmt.Sprintf("%036d", i*5+j))
			m.Annotations = maps.Clone(map[string]string{"kubectl.kubernetes.io/last-applied-configuration": strings.Repeat("x", 1000)})
			index.Set(copies.NewSource(m, index.Kind, &rules))
		}
	}
	size := heap() - before
	t.Logf("%d MB", size>>20)
	if size > 40<<20 {
		t.Errorf("50 000 sources take %d MB", size>>20)
	}
	runtime.KeepAlive(index)
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A move without collisions in a large cluster: what it costs besides the judgement of the tree.
func BenchmarkOverwritten(b *testing.B) {
	s := New(Config{})
	rules := copies.Rules{}
	for _, of := range copies.Kinds {
		k := &kind{Treatment: Treatment{Kind: of, Policies: copies.Policies{Cluster: copies.Policy{Mode: "Propagate"}}}, index: copies.NewIndex(of), synced: true}
		for i := range 10_000 {
			for j := range 5 {
				k.index.Set(copies.NewSource(source(of.Kind, fmt.Sprintf("namespace-%d/object-%d-%d", i, i, j)), of, &rules))
			}
		}
		s.kinds = append(s.kinds, k)
	}
	s.resolved = true
	above := []string{"namespace-1", "namespace-2", "namespace-3", "namespace-4", "namespace-5"}
	for _, size := range []int{1, 1000} {
		names := make([]string, size)
		for i := range names {
			names[i] = fmt.Sprintf("namespace-%d", 10+i)
		}
		b.Run(fmt.Sprintf("subtree=%d", size), func(b *testing.B) {
			for b.Loop() {
				if writes, unknown := s.Overwritten(above, into(above, names...)); len(writes)+len(unknown) > 0 {
					b.Fatal(writes, unknown)
				}
			}
		})
	}
}
