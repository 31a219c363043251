package copies

import (
	"iter"
	"maps"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/modes"
)

// Index holds the objects of one kind. It is not safe for concurrent use; its owner guards it.
type Index struct {
	Kind Kind
	// Policy applies to all sources, unless PolicyOf is set.
	modes.Policy
	// PolicyOf, unless it is nil, returns the policy for the sources of a namespace; see modes.Policies.Of. It has to be
	// quick.
	PolicyOf func(namespace string) modes.Policy
	// Roles is the index of Roles, which that of RoleBindings needs. Sources that refer to a Role have no copies
	// without it.
	Roles   *Index
	objects map[string]*contents
	// selective is the number of sources that select namespaces by labels.
	selective int
}

// contents are the objects of one namespace.
type contents struct {
	byName map[string]*Object
	copies int
	// byRole are the names of the RoleBindings by the Role that they refer to.
	byRole map[string]map[string]struct{}
}

// NewIndex returns an empty index of a kind in mode Propagate.
func NewIndex(kind Kind) *Index {
	return &Index{Kind: kind, Policy: modes.Policy{Mode: v1beta1.Propagate}, objects: map[string]*contents{}}
}

// Get returns an object, nil if there is none.
func (x *Index) Get(namespace, name string) *Object {
	if c := x.objects[namespace]; c != nil {
		return c.byName[name]
	}
	return nil
}

// In returns the objects of a namespace.
func (x *Index) In(namespace string) iter.Seq[*Object] {
	if c := x.objects[namespace]; c != nil {
		return maps.Values(c.byName)
	}
	return func(func(*Object) bool) {}
}

// Count returns the numbers of sources and copies in the namespaces for which counts returns true.
func (x *Index) Count(counts func(namespace string) bool) (sources, copies int) {
	for namespace := range x.objects {
		if counts(namespace) {
			s, c := x.CountIn(namespace)
			sources, copies = sources+s, copies+c
		}
	}
	return sources, copies
}

// CountIn returns the numbers of sources and copies in a namespace.
func (x *Index) CountIn(namespace string) (sources, copies int) {
	if c := x.objects[namespace]; c != nil {
		return len(c.byName) - c.copies, c.copies
	}
	return 0, 0
}

// Selective reports whether any source selects namespaces by labels.
func (x *Index) Selective() bool { return x.selective > 0 }

// All returns all objects.
func (x *Index) All() iter.Seq[*Object] {
	return func(yield func(*Object) bool) {
		for _, c := range x.objects {
			for _, o := range c.byName {
				if !yield(o) {
					return
				}
			}
		}
	}
}

// Set records an observed object unless the recorded one is as new. It returns the previous record, and whether the
// object replaces it. What a server stored in response to our own write is recorded as equivalent to what was written.
func (x *Index) Set(o *Object) (old *Object, changed bool) {
	old = x.Get(o.Namespace, o.Name)
	if old != nil {
		if o.ResourceVersion == old.ResourceVersion && o.Copy && o.Digest != old.Digest {
			seen := *o
			seen.stored = old.Digest
			x.put(&seen)
			return old, true
		}
		if c, err := resourceversion.CompareResourceVersion(o.ResourceVersion, old.ResourceVersion); err == nil && c <= 0 {
			return old, false
		}
		if old.UID == o.UID && old.Digest == o.Digest && (old.stored != Digest{}) {
			seen := *o
			seen.stored = old.stored
			o = &seen
		}
	}
	x.put(o)
	return old, true
}

// Wrote records a copy that was written with the source's content. ahead reports that no watch has brought that version
// yet; otherwise the record stays. It returns the previous record.
func (x *Index) Wrote(source *Object, namespace string, written Written, ahead bool) (old *Object) {
	old = x.Get(namespace, source.Name)
	if old != nil && old.ResourceVersion == written.ResourceVersion {
		if old.Digest != source.Digest {
			seen := *old
			seen.stored = source.Digest
			x.put(&seen)
		}
		return old
	}
	if !ahead {
		return old
	}
	x.put(&Object{
		Namespace: namespace, Name: source.Name, UID: written.UID, ResourceVersion: written.ResourceVersion,
		Copy: true, InheritedFrom: source.Namespace, Digest: source.Digest, fitness: fitnessOfCopy(source.role),
	})
	return old
}

// Delete removes an object unless another incarnation is recorded. It returns what it removed.
func (x *Index) Delete(namespace, name string, uid types.UID) (old *Object) {
	old = x.Get(namespace, name)
	if old == nil || old.UID != uid {
		return nil
	}
	x.take(old)
	return old
}

func (x *Index) put(o *Object) {
	if old := x.Get(o.Namespace, o.Name); old != nil {
		x.take(old)
	}
	c := x.objects[o.Namespace]
	if c == nil {
		c = &contents{byName: map[string]*Object{}}
		x.objects[o.Namespace] = c
	}
	c.byName[o.Name] = o
	x.count(c, o, 1)
}

func (x *Index) take(o *Object) {
	c := x.objects[o.Namespace]
	delete(c.byName, o.Name)
	x.count(c, o, -1)
	if len(c.byName) == 0 {
		delete(x.objects, o.Namespace)
	}
}

func (x *Index) count(c *contents, o *Object, n int) {
	c.countRole(o, n > 0)
	switch {
	case o.Copy:
		c.copies += n
	case o.exceptions.Selective():
		x.selective += n
	}
}

// policyOf returns the policy for the sources of a namespace.
func (x *Index) policyOf(namespace string) modes.Policy {
	if x.PolicyOf != nil {
		return x.PolicyOf(namespace)
	}
	return x.Policy
}
