package sourceindex

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
)

// clusterMapper counts look-ups. It finds gizmos if they are installed, after a reset, and nothing while it is broken.
type clusterMapper struct {
	meta.RESTMapper
	lookups, resets   atomic.Int64
	installed, broken atomic.Bool
	known             atomic.Bool
}

var gizmos = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gizmos"}

func (m *clusterMapper) Reset() {
	m.resets.Add(1)
	m.known.Store(m.installed.Load())
}

func (m *clusterMapper) ResourceFor(r schema.GroupVersionResource) (schema.GroupVersionResource, error) {
	m.lookups.Add(1)
	switch {
	case m.broken.Load():
		return r, errors.New("no discovery")
	case r.Resource == gizmos.Resource && m.known.Load():
		return gizmos, nil
	}
	return m.RESTMapper.ResourceFor(r)
}

func (m *clusterMapper) KindsFor(r schema.GroupVersionResource) ([]schema.GroupVersionKind, error) {
	if r == gizmos {
		return []schema.GroupVersionKind{gizmos.GroupVersion().WithKind("Gizmo")}, nil
	}
	return m.RESTMapper.KindsFor(r)
}

func (m *clusterMapper) RESTMapping(k schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if k.Group == gizmos.Group {
		return &meta.RESTMapping{Resource: gizmos, GroupVersionKind: gizmos.GroupVersion().WithKind(k.Kind), Scope: meta.RESTScopeNamespace}, nil
	}
	return m.RESTMapper.RESTMapping(k, versions...)
}

// mapped returns Sources with a clusterMapper, and these modes of the cluster.
func mapped(t *testing.T, resources ...hnc.ResourceSpec) (*fixture, *clusterMapper) {
	t.Helper()
	f := run(t, resources)
	m := &clusterMapper{RESTMapper: f.Mapper.RESTMapper}
	f.Mapper = kinds.NewMapper(m)
	return f, m
}

// A mapper searches the kinds of the whole cluster, and a tree may have thousands of entries. The ledger asks for modes
// in its only goroutine.
func TestKindsAreLookedUpOncePerChangeOfModes(t *testing.T) {
	t.Parallel()
	f, m := mapped(t)
	f.start(t)
	secrets := schema.GroupResource{Resource: "secrets"}
	propagated := func(chain ...string) func() string {
		return func() string { return fmt.Sprint(f.Propagated(secrets, chain)) }
	}
	const namespaces, entries = 100, 26
	for i := range namespaces {
		var resources []hnc.ResourceSpec
		for j := range entries {
			name := []string{"secrets", "configmaps"}[j%2]
			resources = append(resources, hnc.ResourceSpec{Resource: strings.ToUpper(name[:j/2%6]) + name[j/2%6:]})
		}
		f.trees.Add(hierarchy(fmt.Sprintf("n%d", i), resources...))
	}
	eventually(t, "the last hierarchy", "true", propagated(fmt.Sprintf("n%d", namespaces-1)))
	if n := m.lookups.Load(); n > namespaces {
		t.Errorf("%d look-ups for two kinds in %d entries", n, namespaces*entries)
	}
	before := m.lookups.Load()
	for range 1000 {
		if f.Propagated(secrets, []string{"other"}) || f.Mode(secrets, []string{"leaf", "n0"}) != v1beta1.Propagate {
			t.Fatal("wrong policies")
		}
	}
	if n := m.lookups.Load() - before; n > 10 {
		t.Errorf("%d look-ups for 2000 calls", n)
	}
	f.trees.Modify(hierarchy("n0"))
	eventually(t, "without entries", "false", propagated("n0"))
}

// The modes are resolved again from time to time, also while the index is not needed.
func TestKindsThatAppearLaterAreFound(t *testing.T) {
	t.Parallel()
	f, m := mapped(t, hnc.ResourceSpec{Resource: gizmos.Resource}, hnc.ResourceSpec{Resource: "secrets"})
	f.idle = 10 * time.Millisecond
	f.start(t)
	mode := func() string {
		return string(f.Mode(gizmos.GroupResource(), []string{"root"}) + " " + f.Mode(schema.GroupResource{Resource: "secrets"}, []string{"root"}))
	}
	eventually(t, "before it exists", "Ignore Propagate", mode)
	m.installed.Store(true)
	eventually(t, "when it exists", "Propagate Propagate", mode)
	m.installed.Store(false)
	m.Reset()
	eventually(t, "when it is gone", "Ignore Propagate", mode)
}

// Each discovery reads all kinds of the cluster, and everybody who moves a namespace can have the kinds resolved.
func TestOneDiscoveryForAMissingKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, m := mapped(t)
		resolve := func(what string, want int64) {
			t.Helper()
			for range 10 {
				time.Sleep(time.Second)
				f.resolveKinds(t.Context())
			}
			if n := m.resets.Load(); n != want {
				t.Errorf("%s: %d discoveries, want %d", what, n, want)
			}
		}
		f.setConfigurations([]any{configured(hnc.ResourceSpec{Resource: gizmos.Resource}, hnc.ResourceSpec{Resource: "gadgets"})})
		resolve("after the first change", 1)
		f.setHierarchy(hierarchy("a", hnc.ResourceSpec{Resource: gizmos.Resource}), false)
		resolve("after another change", 2)
		time.Sleep(resolvePeriod - 10*time.Second)
		resolve("after some time", 3)
	})
}

func TestModesAreKnownOnlyWhenAllAreResolved(t *testing.T) {
	f, m := mapped(t)
	configMaps := configMaps("", "")
	if !f.Propagated(copies.Roles.GroupResource(), []string{"root"}) || f.Mode(copies.RoleBindings.GroupResource(), []string{"root"}) != v1beta1.Propagate {
		t.Error("Roles and RoleBindings are not propagated at first")
	}
	known := func(what string, want bool) {
		t.Helper()
		if f.resolveKinds(t.Context()); f.ModesKnown() != want {
			t.Errorf("%s: %t", what, !want)
		}
	}
	known("before anything is read", false)
	f.setConfigurations([]any{configured(configMaps...)})
	known("before the hierarchies are read", false)
	m.broken.Store(true)
	f.setHierarchies(nil)
	known("without discovery", false)
	m.broken.Store(false)
	known("at last", true)
	m.broken.Store(true)
	known("what was known", true)
}

// A move must see what was set before it, also if the watch brings nothing at that revision.
func TestTreesAreReadAtARevision(t *testing.T) {
	f, _ := mapped(t)
	stored := &hnc.HierarchyList{Items: []hnc.Hierarchy{*hierarchy("listed", configMaps("", "")...), *hierarchy("other")}}
	names := func(revision int64) string {
		trees, known, err := f.Trees(t.Context(), revision)
		if err != nil {
			t.Error(err)
		}
		return fmt.Sprint(known, slices.Sorted(maps.Keys(trees)))
	}
	f.follow(&store{stored, watch.NewFake()}, func() string { return "5" })
	if got := names(0); got != "false []" {
		t.Errorf("before they are read: %s", got)
	}
	f.setHierarchies([]any{hierarchy("watched", configMaps("", "")...)})
	for revision, want := range map[int64]string{0: "true [watched]", 5: "true [watched]", 6: "true [listed]"} {
		if got := names(revision); got != want {
			t.Errorf("at revision %d: %s, want %s", revision, got, want)
		}
	}
}

// Otherwise a limit would keep copies out while kube-apiserver does not respond.
func TestWhatWasFoundStaysWithoutDiscovery(t *testing.T) {
	f, m := mapped(t)
	f.setConfigurations([]any{configured(configMaps("", "")...)})
	f.setHierarchies(nil)
	configMaps := schema.GroupResource{Resource: "configmaps"}
	if !f.resolveKinds(t.Context()) || !f.Propagated(configMaps, []string{"root"}) {
		t.Fatal("not found")
	}
	m.broken.Store(true)
	if f.resolveKinds(t.Context()) || !f.Propagated(configMaps, []string{"root"}) {
		t.Error("it is forgotten, or not looked for again")
	}
	// What is no longer named does not stay.
	f.setConfigurations([]any{configured(hnc.ResourceSpec{Resource: "secrets"})})
	if f.resolveKinds(t.Context()) || f.Propagated(configMaps, []string{"root"}) {
		t.Error("it is propagated because another kind could not be looked up")
	}
	f.setConfigurations([]any{configured(hnc.ResourceSpec{Resource: "configmaps", Mode: hnc.Ignore})})
	if f.resolveKinds(t.Context()) || f.Propagated(configMaps, []string{"root"}) {
		t.Error("it is propagated after its mode has changed")
	}
	f.setConfigurations([]any{configured()})
	if !f.resolveKinds(t.Context()) || f.Propagated(configMaps, []string{"root"}) {
		t.Error("it is still propagated without an entry")
	}
}
