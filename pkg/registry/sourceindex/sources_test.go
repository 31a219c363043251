package sourceindex

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/modes"
)

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
			eventually(t, "overwritten", row.want, func() string { return words(f.Overwritten(t.Context(), above, nil, into(above, "moved", "below"))) })
			for _, other := range [][]hnc.ResourceSpec{configMaps(hnc.AllowPropagate, ""), configMaps(hnc.Propagate, hnc.Keep), nil} {
				f.config.Modify(configured(other...))
				if other != nil && other[0].Mode == hnc.AllowPropagate && strings.Contains(row.objects[0], "select") {
					continue // the source has the annotation
				}
				eventually(t, fmt.Sprintf("overwritten with %v", other), "", func() string { return words(f.Overwritten(t.Context(), above, nil, into(above, "moved", "below"))) })
			}
		})
	}
}

// A source in the subtree selects its descendants by labels, which the move changes.
func TestH11SourcesOfTheSubtreeSelectByTheLabelsAfterTheMove(t *testing.T) {
	f := run(t, configMaps("", ""), "moved/n propagate.hnc.x-k8s.io/select=team=new", "leaf/n")
	f.start(t)
	labeled := func(team string) func(string) map[string]string {
		return func(string) map[string]string { return map[string]string{"team": team} }
	}
	for _, row := range []struct{ before, after, want string }{{"old", "new", "moved/n>leaf"}, {"new", "new", ""}, {"new", "old", ""}} {
		d := copies.Destination{Namespace: "leaf", Ancestors: []string{"root", "moved"}, Labels: labeled(row.after),
			Before: &copies.Destination{Namespace: "leaf", Ancestors: []string{"old", "moved"}, Labels: labeled(row.before)}}
		eventually(t, fmt.Sprintf("overwritten with labels %s, then %s", row.before, row.after), row.want, func() string {
			return words(f.Overwritten(t.Context(), []string{"root"}, nil, slices.Values([]copies.Destination{d})))
		})
	}
}

// What the subtree propagates may change in the request that moves it.
func TestH11ModesAreThoseAfterTheRequest(t *testing.T) {
	f := run(t, configMaps("", ""), "moved/n", "leaf/n")
	f.trees.list.(*hnc.HierarchyList).Items = []hnc.Hierarchy{*hierarchy("moved", configMaps(hnc.Ignore, "")...)}
	f.start(t)
	d := copies.Destination{Namespace: "leaf", Ancestors: []string{"root", "moved"}, Before: &copies.Destination{Namespace: "leaf", Ancestors: []string{"moved"}}}
	eventually(t, "modes", "true", func() string { return fmt.Sprint(f.ModesKnown()) })
	after := f.CurrentModes().With("moved", nil)
	for _, row := range []struct {
		after *Modes
		want  string
	}{{nil, ""}, {&after, "moved/n>leaf"}} {
		if got := words(f.Overwritten(t.Context(), []string{"root"}, row.after, slices.Values([]copies.Destination{d}))); got != row.want {
			t.Errorf("got %q, want %q", got, row.want)
		}
	}
}

// Otherwise everything that reads the modes would wait for one large move.
func TestTheIndexChangesWhileAMoveIsEvaluated(t *testing.T) {
	f := run(t, configMaps("", ""), "root/a", "moved/a", "below/a")
	f.start(t)
	above := []string{"root"}
	eventually(t, "overwritten", "root/a>moved", func() string { return words(f.Overwritten(t.Context(), above, nil, into(above, "moved"))) })
	f.Overwritten(t.Context(), above, nil, func(yield func(copies.Destination) bool) {
		for d := range into(above, "moved", "below") {
			done := make(chan struct{})
			go func() {
				defer close(done)
				f.Relist()
			}()
			select {
			case <-done:
			case <-time.After(10 * time.Second):
				t.Error("a change waits for the move")
				return
			}
			if !yield(d) {
				return
			}
		}
	})
}

func TestTheIndexChangesWhileManyObjectsAreCompared(t *testing.T) {
	var objects []string
	for i := range 2 * lockedObjects {
		objects = append(objects, fmt.Sprintf("root/a%d propagate.hnc.x-k8s.io/select=name=moved", i), fmt.Sprintf("moved/a%d", i))
	}
	f := run(t, configMaps("", ""), objects...)
	f.start(t)
	above := []string{"root"}
	overwritten := func(labels func(string) map[string]string) string {
		d := copies.Destination{Namespace: "moved", Ancestors: above, Labels: labels}
		writes, unknown := f.Overwritten(t.Context(), above, nil, slices.Values([]copies.Destination{d}))
		return fmt.Sprint(len(writes), unknown)
	}
	moved := func(namespace string) map[string]string { return map[string]string{"name": namespace} }
	want := fmt.Sprint(2*lockedObjects, []string(nil))
	eventually(t, "overwritten", want, func() string { return overwritten(moved) })
	var changed chan struct{}
	if got := overwritten(func(namespace string) map[string]string {
		if changed == nil {
			changed = make(chan struct{})
			go func() {
				defer close(changed)
				f.Relist()
			}()
			for f.mu.TryRLock() { // until the change waits
				f.mu.RUnlock()
				runtime.Gosched()
			}
			return moved(namespace)
		}
		select {
		case <-changed:
		case <-time.After(10 * time.Second):
			t.Error("a change waits for all objects")
		}
		return moved(namespace)
	}); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	select {
	case <-changed:
	default:
		t.Error("the labels were needed only once")
	}
}

func TestH11KindsAreOverwrittenWithoutDiscovery(t *testing.T) {
	f := run(t, configMaps("", ""), "root/a", "moved/a")
	m := &clusterMapper{RESTMapper: f.Mapper.RESTMapper}
	f.Mapper = kinds.NewMapper(m)
	f.start(t)
	above := []string{"root"}
	eventually(t, "overwritten", "root/a>moved", func() string { return words(f.Overwritten(t.Context(), above, nil, into(above, "moved"))) })
	m.broken.Store(true)
	after := f.CurrentModes().With("moved", configMaps(hnc.Ignore, ""))
	if got := words(f.Overwritten(t.Context(), above, &after, into(above, "moved"))); !strings.HasPrefix(got, "root/a>moved ?") {
		t.Errorf("got %q", got)
	}
}

func TestH11WhatIsUnknownIsReported(t *testing.T) {
	f := run(t, configMaps("", ""), "root/a", "moved/a")
	f.client.PrependReactor("list", "configmaps", func(clienttesting.Action) (bool, kruntime.Object, error) { return true, nil, fmt.Errorf("away") })
	f.maxWait = 0
	above := []string{"root"}
	if got := words(f.Overwritten(t.Context(), above, nil, into(above, "moved"))); got != "?the configured kinds" {
		t.Errorf("before anything is known: %q", got)
	}
	f.start(t)
	eventually(t, "unknown", "?configmaps", func() string { return words(f.Overwritten(t.Context(), above, nil, into(above, "moved"))) })
}

func TestOtherRulesApplyAfterRelist(t *testing.T) {
	f := run(t, configMaps("", ""), "root/a team=none", "moved/a")
	f.start(t)
	above := []string{"root"}
	overwritten := func() string { return words(f.Overwritten(t.Context(), above, nil, into(above, "moved"))) }
	eventually(t, "overwritten", "root/a>moved", overwritten)
	f.rules.Store(&copies.Rules{Skipped: []labels.Selector{labels.SelectorFromSet(labels.Set{"team": "none"})}})
	f.Relist()
	eventually(t, "overwritten by other rules", "", overwritten)
	f.rules.Store(&copies.Rules{})
	f.Relist()
	eventually(t, "overwritten by the first rules", "root/a>moved", overwritten)
}

func TestIndexFollowsWatch(t *testing.T) {
	f := run(t, configMaps("", ""), "root/a")
	f.start(t)
	above := []string{"root"}
	overwritten := func() string { return words(f.Overwritten(t.Context(), above, nil, into(above, "moved"))) }
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

func TestK7OnlyNewlyPropagatedKinds(t *testing.T) {
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
		if got := words(f.OverwrittenBy(t.Context(), Modes{Cluster: row.before}, Modes{Cluster: row.after}, into(above, "moved"))); got != row.want {
			t.Errorf("from %v to %v: %q, want %q", row.before, row.after, got, row.want)
		}
	}
}

// What a hierarchy changes is not looked for in the whole cluster.
func TestOnlyTheConcernedNamespacesAreListedIfTheyAreFew(t *testing.T) {
	many := make([]string, fewNamespaces)
	for i := range many {
		many[i] = fmt.Sprintf("moved-%d", i)
	}
	for _, row := range []struct {
		into []string
		want string
	}{
		{[]string{"moved", "other"}, "mid moved other root"},
		{many, ""},
		{nil, "nothing"},
	} {
		f := run(t, nil, "root/a", "moved/a", "apart/a")
		writes, unknown := f.OverwrittenBy(t.Context(), Modes{}, Modes{Cluster: configMaps("", "")}, into([]string{"root", "mid"}, row.into...))
		if slices.Contains(row.into, "moved") && words(writes, unknown) != "root/a>moved" {
			t.Errorf("into %v: %q", row.into, words(writes, unknown))
		}
		listed := []string{}
		for _, action := range f.client.Actions() {
			listed = append(listed, action.GetNamespace())
		}
		if got := strings.Join(listed, " "); got != row.want && (len(listed) > 0 || row.want != "nothing") {
			t.Errorf("into %v: it lists %q, want %q", row.into, got, row.want)
		}
	}
}

func TestModesOfHierarchyApplyToSourcesBelow(t *testing.T) {
	above := []string{"root", "mid"}
	f := run(t, nil, "root/a", "mid/b", "moved/a", "moved/b")
	f.start(t)
	overwritten := func() string { return words(f.Overwritten(t.Context(), above, nil, into(above, "moved"))) }
	eventually(t, "no modes", "", overwritten)
	f.trees.Add(hierarchy("mid", configMaps("", "")...))
	eventually(t, "below mid", "mid/b>moved", overwritten)
	f.trees.Add(hierarchy("root", configMaps("", "")...))
	eventually(t, "below the root", "root/a>moved mid/b>moved", overwritten)
	f.trees.Modify(hierarchy("mid", configMaps("", hnc.Keep)...))
	eventually(t, "kept below mid", "root/a>moved", overwritten)
	f.trees.Delete(hierarchy("root", configMaps("", "")...))
	eventually(t, "no more below the root", "", overwritten)
	modes := func(namespace string) Modes { return Modes{}.With(namespace, configMaps("", "")) }
	for _, row := range []struct {
		before, after Modes
		want          string
	}{
		{Modes{}, modes("mid"), "mid/b>moved"},
		{Modes{}, modes("root"), "root/a>moved mid/b>moved"},
		{modes("mid"), modes("root"), "root/a>moved"},
		{modes("root"), modes("mid"), ""},
		{modes("root").With("mid", configMaps(hnc.Remove, "")), modes("root"), "mid/b>moved"},
		{modes("root"), Modes{}, ""},
	} {
		writes, unknown := f.OverwrittenBy(t.Context(), row.before, row.after, into(above, "moved"))
		slices.SortFunc(writes, func(a, b copies.Write) int { return strings.Compare(a.Name, b.Name) })
		if got := words(writes, unknown); got != row.want {
			t.Errorf("from %v to %v: %q, want %q", row.before, row.after, got, row.want)
		}
	}
}

func TestCopiesAndHelmReleasesAreNotListed(t *testing.T) {
	for resource, want := range map[string]string{
		"secrets":    "type!=kubernetes.io/service-account-token,type!=helm.sh/release.v1",
		"configmaps": "metadata.name!=kube-root-ca.crt,metadata.name!=istio-ca-root-cert",
		"services":   "",
	} {
		o := sourcesOnly(copies.Kind{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: resource}}, metav1.ListOptions{})
		if o.FieldSelector != want || o.LabelSelector != "!"+hnc.LabelInheritedFrom {
			t.Errorf("%s: %+v", resource, o)
		}
	}
	quotas := sourcesOnly(copies.Kind{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "resourcequotas"}}, metav1.ListOptions{})
	if quotas.LabelSelector != "!"+hnc.LabelInheritedFrom+",!"+hnc.LabelQuota {
		t.Errorf("resourcequotas: %+v", quotas)
	}
}

// A cluster of 10 000 namespaces with five sources each.
func TestIndexOfLargeClusterIsSmall(t *testing.T) {
	before := heap()
	index := copies.NewIndex(copies.RoleBindings)
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

// A move without conflicts in a large cluster: the cost in addition to the validation by the tree.
func BenchmarkOverwritten(b *testing.B) {
	s := New(Config{})
	rules := copies.Rules{}
	for _, of := range copies.Kinds {
		k := &kind{WithPolicies: kinds.WithPolicies{Kind: of, Policies: modes.Policies{Cluster: modes.Policy{Mode: "Propagate"}}}, index: copies.NewIndex(of), synced: true}
		for i := range 10_000 {
			for j := range 5 {
				k.index.Set(copies.NewSource(source(of.Kind, fmt.Sprintf("namespace-%d/object-%d-%d", i, i, j)), of, &rules))
			}
		}
		s.kinds = append(s.kinds, k)
	}
	s.resolved, s.watching = true, true
	above := []string{"namespace-1", "namespace-2", "namespace-3", "namespace-4", "namespace-5"}
	for _, size := range []int{1, 1000} {
		names := make([]string, size)
		for i := range names {
			names[i] = fmt.Sprintf("namespace-%d", 10+i)
		}
		b.Run(fmt.Sprintf("subtree=%d", size), func(b *testing.B) {
			for b.Loop() {
				if writes, unknown := s.Overwritten(b.Context(), above, nil, into(above, names...)); len(writes)+len(unknown) > 0 {
					b.Fatal(writes, unknown)
				}
			}
		})
	}
}
