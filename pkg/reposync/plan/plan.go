package plan

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
)

// Live is an object of the cluster that has the label of the RepositorySync and is not a copy.
type Live struct {
	UID types.UID
	// Version is the object's resource version.
	Version uint64
	// Owned is a hash of the entry with the fields that the RepositorySync owns, 0 if it owns none. The API server
	// changes the entry when another client changes or removes one of them.
	Owned uint64
	// Managed is a hash of the entries of all field managers.
	Managed uint64
	// Detached objects are not deleted (client.lifecycle.config.k8s.io/deletion: detach).
	Detached bool
	// Terminating objects are being deleted.
	Terminating bool
}

// Applied is the result of applying an object.
type Applied struct {
	// Hash is that of the content.
	Hash uint64
	Live
	// Touched is true after another client may have changed what the RepositorySync owns, also if the entry of its
	// field manager is as before: clients may write that, too.
	Touched bool
}

// State is what is known of the cluster.
type State struct {
	// Live are the objects that the RepositorySync has applied before.
	Live map[ID]Live
	// Applied are the results of this process.
	Applied map[ID]Applied
	// Unknown are the kinds whose objects are not all known. None of them is deleted or released, and without the
	// namespaces, nothing in a namespace that is not from the repository: a namespace that stays keeps its policies.
	Unknown map[schema.GroupKind]bool
	// Incomplete is true if objects of unknown kinds are left out of the repository. Only permissions in namespaces are
	// deleted then, whose kinds are always known.
	Incomplete bool
}

// keeps reports whether an object must stay, because not enough is known.
func (s *State) keeps(id ID, wanted map[ID]bool) bool {
	return s.Unknown[id.Kind] || s.Incomplete && !id.Waits() || id.Namespace != "" && s.Unknown[object.Namespace] && !wanted[ID{Kind: object.Namespace, Name: id.Namespace}]
}

// detached reports whether an object is not deleted when it leaves the repository. The result of applying it decides if
// there is one: clients may write the annotation, and then an entry of the field manager that owns it.
func (s *State) detached(id ID) bool {
	live := s.Live[id]
	if applied, known := s.Applied[id]; known && applied.UID == live.UID {
		return applied.Detached
	}
	return live.Detached
}

// Plan is what has to be written.
type Plan struct {
	// Apply are the objects to be created or updated, by phase.
	Apply [phases][]*Object
	// Drifted are those of them that somebody else has changed or deleted, or may have changed.
	Drifted map[ID]bool
	// Late are the Hierarchies with abstract ancestors that have the names of namespaces to be deleted: they are
	// applied when these have been.
	Late []*Object
	// Delete are the objects to be deleted, in order. Those in a namespace of DeleteNamespaces are left out: they are
	// deleted with it.
	Delete []ID
	// Granted are the permissions in the namespaces of DeleteNamespaces, and in those that are being deleted. They are
	// deleted first, so that they are gone if a namespace stays.
	Granted []ID
	// DeleteNamespaces are the namespaces to be deleted.
	DeleteNamespaces []ID
	// Release are the objects that lose the label and are left alone from then on.
	Release []ID
	// Forget are objects that are left alone and do not have the label any more.
	Forget []ID
}

// Compute returns what has to be written. Without prune, nothing that has left the repository is deleted or released.
func Compute(desired []*Object, state *State, prune bool) *Plan {
	p := &Plan{Drifted: map[ID]bool{}}
	wanted := make(map[ID]bool, len(desired))
	for _, d := range desired {
		wanted[d.ID] = true
		live, exists := state.Live[d.ID]
		if _, known := state.Applied[d.ID]; d.Remnant && !exists && !known {
			continue
		}
		switch d.Handling {
		case Unmanaged:
			// What this process has applied is let go without its label, too: prune would delete it by that result.
			if _, known := state.Applied[d.ID]; exists {
				p.Release = append(p.Release, d.ID)
			} else if known {
				p.Forget = append(p.Forget, d.ID)
			}
		case CreateOnly:
			if !exists {
				p.Apply[d.Phase] = append(p.Apply[d.Phase], d)
			}
		case Managed:
			applied, known := state.Applied[d.ID]
			switch {
			case !known || applied.Hash != d.Hash:
				p.Apply[d.Phase] = append(p.Apply[d.Phase], d)
			case !exists || live.UID != applied.UID || live.Owned != applied.Owned || live.Terminating || applied.Touched:
				p.Apply[d.Phase] = append(p.Apply[d.Phase], d)
				p.Drifted[d.ID] = true
			}
		}
	}
	if prune {
		p.prune(wanted, state)
		p.postpone()
	}
	return p
}

// Corrected returns the drifted objects whose application has changed something: it renews the entry of the field
// manager then.
func (p *Plan) Corrected(before, after *State) []ID {
	return slices.DeleteFunc(slices.SortedFunc(maps.Keys(p.Drifted), CompareIDs), func(id ID) bool {
		return before.Applied[id].Owned == after.Applied[id].Owned
	})
}

// prune decides about objects that have left the repository.
func (p *Plan) prune(wanted map[ID]bool, state *State) {
	goes := map[string]bool{}
	for id, live := range state.Live {
		switch {
		case wanted[id] || id.Kind != object.Namespace || live.Owned == 0 || state.keeps(id, wanted):
		case state.detached(id) || repository.Detached(id.Name):
			p.Release = append(p.Release, id)
		default:
			goes[id.Name] = true
			if !live.Terminating {
				p.DeleteNamespaces = append(p.DeleteNamespaces, id)
			}
		}
	}
	for id, live := range state.Live {
		switch {
		// An object that the RepositorySync owns no field of only has its label: somebody else has set that. One that
		// is being deleted is left out, unless it has copies, or grants permissions, as long as it has finalizers.
		case wanted[id] || id.Kind == object.Namespace || live.Owned == 0 || live.Terminating && id.Namespace == "" && !id.Grants() || state.keeps(id, wanted):
		case state.detached(id):
			p.Release = append(p.Release, id)
		default:
			p.Delete = append(p.Delete, id)
		}
	}
	for id, applied := range state.Applied {
		// Somebody has removed the label, or the entry of the field manager. An object that is gone is no error.
		if live, exists := state.Live[id]; wanted[id] || id.Kind == object.Namespace || applied.Detached || exists && live.Owned != 0 || state.keeps(id, wanted) {
			continue
		}
		p.Delete = append(p.Delete, id)
	}
	p.Delete = slices.DeleteFunc(p.Delete, func(id ID) bool {
		if goes[id.Namespace] && id.Grants() {
			p.Granted = append(p.Granted, id)
		}
		return goes[id.Namespace]
	})
	slices.SortFunc(p.Delete, CompareIDs)
	slices.SortFunc(p.DeleteNamespaces, CompareIDs)
	slices.SortFunc(p.Release, CompareIDs)
}

// postpone moves the Hierarchies to Late whose abstract ancestors are namespaces until these are deleted.
func (p *Plan) postpone() {
	deleted := make(map[string]bool, len(p.DeleteNamespaces))
	for _, id := range p.DeleteNamespaces {
		deleted[id.Name] = true
	}
	p.Apply[PhaseHierarchies] = slices.DeleteFunc(p.Apply[PhaseHierarchies], func(o *Object) bool {
		late := slices.ContainsFunc(o.above, func(name string) bool { return deleted[name] })
		if late {
			p.Late = append(p.Late, o)
		}
		return late
	})
}

// CompareIDs orders objects as they are deleted.
func CompareIDs(a, b ID) int {
	return cmp.Or(cmp.Compare(b.deletedAs(), a.deletedAs()), cmp.Compare(a.Namespace, b.Namespace),
		cmp.Compare(a.Kind.String(), b.Kind.String()), cmp.Compare(a.Name, b.Name))
}

// Revoke takes the permissions in namespaces that are deleted out of the plan, and returns them in order.
func (p *Plan) Revoke() []ID {
	revoked := p.Granted
	p.Granted = nil
	p.Delete = slices.DeleteFunc(p.Delete, func(id ID) bool {
		if id.Waits() {
			revoked = append(revoked, id)
		}
		return id.Waits()
	})
	slices.SortFunc(revoked, CompareIDs)
	return revoked
}

// Prunes returns how many objects are deleted or released.
func (p *Plan) Prunes() int {
	return len(p.Granted) + len(p.Delete) + len(p.DeleteNamespaces) + len(p.Release)
}

// Len returns how many objects are written.
func (p *Plan) Len() int {
	n := p.Prunes() + len(p.Late)
	for _, objects := range p.Apply {
		n += len(objects)
	}
	return n
}

// Keep takes namespaces out of the plan that must not be deleted, with all objects in them but permissions: a namespace
// that stays keeps its policies.
func (p *Plan) Keep(namespaces map[string]bool) {
	p.DeleteNamespaces = slices.DeleteFunc(p.DeleteNamespaces, func(id ID) bool { return namespaces[id.Name] })
	p.Granted = slices.DeleteFunc(p.Granted, func(id ID) bool {
		if namespaces[id.Namespace] {
			p.Delete = append(p.Delete, id)
		}
		return namespaces[id.Namespace]
	})
	slices.SortFunc(p.Delete, CompareIDs)
}

// Confine takes out of the plan the deletions and releases that another plan does not contain, or whose object is not
// the same one. It returns those that only the other plan contains from then on.
func (p *Plan) Confine(to *Plan, same func(ID) bool) map[ID]bool {
	// What is granted in a namespace is not listed on its own.
	granted := map[ID]bool{}
	for _, id := range to.Granted {
		granted[id] = true
	}
	confine := func(ids *[]ID, to []ID) {
		contained := maps.Clone(granted)
		for _, id := range to {
			contained[id] = true
		}
		*ids = slices.DeleteFunc(*ids, func(id ID) bool { return !contained[id] || !same(id) })
	}
	confine(&p.Granted, to.Delete)
	confine(&p.Delete, to.Delete)
	confine(&p.DeleteNamespaces, to.DeleteNamespaces)
	confine(&p.Release, to.Release)
	left := map[ID]bool{}
	for _, id := range slices.Concat(to.Delete, to.DeleteNamespaces, to.Release) {
		left[id] = true
	}
	for _, id := range slices.Concat(p.Granted, p.Delete, p.DeleteNamespaces, p.Release) {
		delete(left, id)
	}
	return left
}
