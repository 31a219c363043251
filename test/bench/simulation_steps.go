package main

import (
	"fmt"
	"slices"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/namespacestate"
)

// decideAll decides about each namespace of the trees that this propagator has; nothing has to be written.
func (s *simulation) decideAll() (int, error) {
	for i, t := range s.trees {
		if i%s.parts == 0 {
			if err := s.right(t.names); err != nil {
				return 0, err
			}
		}
	}
	return 1, s.right(slices.Concat([]string{s.old, s.new}, s.moved.names))
}

// right returns an error unless everything in the namespaces is as expected.
func (s *simulation) right(names []string) error {
	for _, name := range names {
		if s.tree.Frozen(name) {
			return fmt.Errorf("MISMATCH: %s is frozen", name)
		}
		if s.update(name) {
			return fmt.Errorf("MISMATCH: labels or status of %s", name)
		}
		if removals, writes := s.objects.DecideAll(namespacestate.Destination(s.tree, name)); len(removals)+len(writes) > 0 {
			return fmt.Errorf("MISMATCH: %d removals and %d writes in %s", len(removals), len(writes), name)
		}
	}
	return nil
}

// changeOne changes one source in each root of a few trees, and decides about its copies: each has to be updated.
func (s *simulation) changeOne() (int, error) {
	const few = 10
	times := 0
	for i := 0; i < len(s.trees) && times < few; i += s.parts {
		root := s.trees[i].root()
		source, err := s.source(root, 0, "2")
		if err != nil {
			return 0, err
		}
		s.set(source)
		for _, name := range s.tree.Descendants(root) {
			w := s.objects.Decide(namespacestate.Destination(s.tree, name), source.Name)
			if w == nil || w.Verb != copies.Update {
				return 0, fmt.Errorf("MISMATCH: %v in %s", w, name)
			}
			s.wrote(*w)
		}
		times++
	}
	return times, nil
}

// addLeaves enters new namespaces below a root, one after another, and decides about them.
func (s *simulation) addLeaves() (int, error) {
	const leaves = 100
	root := s.trees[0].root()
	for i := range leaves {
		name := fmt.Sprint("leaf-", i)
		s.namespace(name)
		s.parent(name, root)
		if !s.update(name) {
			return 0, fmt.Errorf("MISMATCH: %s gets no labels", name)
		}
		_, writes := s.objects.DecideAll(namespacestate.Destination(s.tree, name))
		if len(writes) != treeSources {
			return 0, fmt.Errorf("MISMATCH: %d writes in %s", len(writes), name)
		}
		for _, w := range writes {
			s.wrote(w)
		}
	}
	return leaves, nil
}

// move moves a subtree, and decides about all that is in it: as many copies go as come.
func (s *simulation) move() (int, error) {
	affected := s.parent(s.moved.root(), s.new)
	if len(affected.Moved) != s.moved.len() {
		return 0, fmt.Errorf("MISMATCH: %d namespaces have moved", len(affected.Moved))
	}
	for _, name := range affected.Moved {
		if !s.update(name) {
			return 0, fmt.Errorf("MISMATCH: %s gets no other labels", name)
		}
		removals, writes := s.objects.DecideAll(namespacestate.Destination(s.tree, name))
		if len(removals) != treeSources || len(writes) != treeSources {
			return 0, fmt.Errorf("MISMATCH: %d removals and %d writes in %s", len(removals), len(writes), name)
		}
		for _, w := range slices.Concat(removals, writes) {
			s.wrote(w)
		}
	}
	return 1, nil
}

// takeOver reads, enters and decides about the trees of another propagator.
func (s *simulation) takeOver() (int, error) {
	s.listed = nil
	for i := 1; i < len(s.trees); i += s.parts {
		if err := s.list(s.trees[i].root(), s.trees[i].names[1:]); err != nil {
			return 0, err
		}
	}
	for _, o := range s.listed {
		s.set(o)
	}
	for i := 1; i < len(s.trees); i += s.parts {
		if err := s.right(s.trees[i].names); err != nil {
			return 0, err
		}
	}
	return 1, nil
}
