package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/managed"
	propagatortree "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

// What the simulation has: trees of as many namespaces, with as many sources in each root.
const treeSize, treeSources = 100, 10

// shards is how many propagators share the trees in the second part.
const shards = 4

// measureDecide holds a picture of many trees in memory, as the propagator does, and decides about all of it: once whole, and once
// what one of several propagators would have that share the trees by their roots.
func measureDecide(_ context.Context, b *bench) error {
	n := b.pick(100_000, 2000)
	var errs []error
	for _, part := range []struct {
		name  string
		trees int
		note  string
	}{
		{"decide", n / treeSize, ""},
		{"decide-shard", n / treeSize / shards, fmt.Sprintf("one of %d propagators that share the trees", shards)},
	} {
		var enter, all, change, memory series
		copied := 0
		err := b.each(func(int) error {
			s := simulation{tree: propagatortree.New(managed.Default()), index: copies.NewIndex(copies.Kinds[1])}
			before := heap()
			begun := time.Now()
			if err := s.fill(part.trees); err != nil {
				return err
			}
			enter.values = append(enter.values, time.Since(begun).Seconds())
			memory.values = append(memory.values, float64(heap()-before)/1e6)

			begun = time.Now()
			if err := s.decideAll(); err != nil {
				return err
			}
			all.values = append(all.values, time.Since(begun).Seconds())

			begun = time.Now()
			if err := s.changeEach(); err != nil {
				return err
			}
			change.values = append(change.values, time.Since(begun).Seconds()*1e6/float64(part.trees))
			copied = s.copies
			runtime.KeepAlive(s)
			return nil
		})
		note := fmt.Sprintf("%d namespaces, %d copies", part.trees*treeSize, copied)
		if part.note != "" {
			note += "; " + part.note
		}
		errs = append(errs, err,
			b.report(part.name+"-enter", "s", part.trees*treeSize, enter, none, "entering all namespaces, hierarchies and copies; ", note),
			b.report(part.name+"-all", "s", part.trees*treeSize, all, none, "deciding about everything once, as after a restart; ", note),
			b.report(part.name+"-change", "µs", treeSize-1, change, none, "deciding about the copies of one changed source; ", note),
			b.report(part.name+"-memory", "MB", part.trees*treeSize, memory, none, "heap of the picture; ", note))
	}
	return errors.Join(errs...)
}

// heap returns the bytes in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// simulation is the picture of a cluster.
type simulation struct {
	tree    *propagatortree.Tree
	index   *copies.Index
	names   []string
	roots   []string
	copies  int
	version int
}

func (s *simulation) next() string {
	s.version++
	return fmt.Sprint(s.version)
}

// fill enters trees with all copies that they shall have.
func (s *simulation) fill(trees int) error {
	for i := range trees {
		t := plan(fmt.Sprintf("tree-%d", i), "mixed", treeSize)
		for j, name := range t.names {
			s.tree.SetNamespace(&propagatortree.Namespace{Name: name, UID: types.UID(name), ResourceVersion: s.next()})
			if j > 0 {
				s.tree.SetHierarchy(&propagatortree.Hierarchy{Namespace: name, UID: types.UID("h-" + name), ResourceVersion: s.next(), Parent: t.parent(j)})
			}
		}
		for j := range treeSources {
			source, err := s.source(t.root(), j, "1")
			if err != nil {
				return err
			}
			for _, name := range t.names[1:] {
				written := copies.Written{UID: types.UID(fmt.Sprint(name, j)), ResourceVersion: s.next()}
				s.index.Wrote(source, name, written, true)
				s.copies++
			}
		}
		s.roots, s.names = append(s.roots, t.root()), append(s.names, t.names...)
	}
	return nil
}

// source enters a source.
func (s *simulation) source(namespace string, i int, value string) (*copies.Object, error) {
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": rbacv1.SchemeGroupVersion.String(), "kind": "RoleBinding",
		"roleRef":  map[string]any{"apiGroup": rbacv1.GroupName, "kind": "ClusterRole", "name": "view"},
		"subjects": []any{map[string]any{"apiGroup": rbacv1.GroupName, "kind": rbacv1.GroupKind, "name": value}},
	}}
	u.SetNamespace(namespace)
	u.SetName(fmt.Sprint("source-", i))
	u.SetUID(types.UID(fmt.Sprint(namespace, i)))
	u.SetResourceVersion(s.next())
	o, err := copies.NewObject(u, &copies.Rules{})
	if err != nil {
		return nil, err
	}
	s.index.Set(o)
	return o, nil
}

func (s *simulation) destination(namespace string) copies.Destination {
	return copies.Destination{Namespace: namespace, Ancestors: s.tree.Ancestors(namespace), Labels: func() map[string]string { return nil }}
}

// decideAll decides about each namespace; nothing has to be written.
func (s *simulation) decideAll() error {
	for _, name := range s.names {
		if s.tree.Frozen(name) {
			return fmt.Errorf("WRONG: %s is frozen", name)
		}
		if removals, writes := s.index.DecideAll(s.destination(name)); len(removals)+len(writes) > 0 {
			return fmt.Errorf("WRONG: %d removals and %d writes in %s", len(removals), len(writes), name)
		}
	}
	return nil
}

// changeEach changes one source in each root, and decides about its copies: each has to be updated.
func (s *simulation) changeEach() error {
	for _, root := range s.roots {
		source, err := s.source(root, 0, "2")
		if err != nil {
			return err
		}
		for _, name := range s.tree.Descendants(root) {
			w := s.index.Decide(s.destination(name), source.Name)
			if w == nil || w.Verb != copies.Update {
				return fmt.Errorf("WRONG: %v in %s", w, name)
			}
		}
	}
	return nil
}
