package copies

import (
	"iter"
	"maps"

	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

// Index holds the objects of one kind. It is not safe for concurrent use; its owner guards it.
type Index struct {
	Kind    Kind
	objects map[string]map[string]*Object
}

// NewIndex returns an empty index.
func NewIndex(kind Kind) *Index {
	return &Index{Kind: kind, objects: map[string]map[string]*Object{}}
}

// Get returns an object, nil if there is none.
func (x *Index) Get(namespace, name string) *Object { return x.objects[namespace][name] }

// In returns the objects of a namespace.
func (x *Index) In(namespace string) iter.Seq[*Object] { return maps.Values(x.objects[namespace]) }

// All returns all objects.
func (x *Index) All() iter.Seq[*Object] {
	return func(yield func(*Object) bool) {
		for _, objects := range x.objects {
			for _, o := range objects {
				if !yield(o) {
					return
				}
			}
		}
	}
}

// Set records an object that was seen unless what is recorded is as new. It returns what was recorded before, and whether
// the object takes its place. What a server stored in answer to our own write is remembered as holding what we wrote.
func (x *Index) Set(o *Object) (old *Object, changed bool) {
	old = x.Get(o.Namespace, o.Name)
	if old != nil {
		if o.ResourceVersion == old.ResourceVersion && o.Copy && o.Digest != old.Digest {
			seen := *o
			seen.stored = old.Digest
			x.put(&seen)
			return old, true
		}
		if !tree.Newer(o.ResourceVersion, old.ResourceVersion) {
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

// Wrote records a copy that was written with the source's content. ahead says that no watch has brought that version yet;
// otherwise what was recorded is right. It returns what was recorded before.
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
		Copy: true, InheritedFrom: source.Namespace, Digest: source.Digest,
	})
	return old
}

// Delete forgets an object unless another incarnation is recorded. It returns what it forgot.
func (x *Index) Delete(namespace, name string, uid types.UID) (old *Object) {
	old = x.Get(namespace, name)
	if old == nil || old.UID != uid {
		return nil
	}
	delete(x.objects[namespace], name)
	if len(x.objects[namespace]) == 0 {
		delete(x.objects, namespace)
	}
	return old
}

func (x *Index) put(o *Object) {
	if x.objects[o.Namespace] == nil {
		x.objects[o.Namespace] = map[string]*Object{}
	}
	x.objects[o.Namespace][o.Name] = o
}
