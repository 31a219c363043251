package quotas

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
)

// Store holds the quotas and their ResourceQuotas, by namespace and name.
type Store struct {
	quotas  tree.ByNamespace[*Quota]
	objects tree.ByNamespace[*Object]
}

// New returns an empty Store.
func New() *Store {
	return &Store{tree.ByNamespace[*Quota]{}, tree.ByNamespace[*Object]{}}
}

// Quota returns a quota, nil if there is none.
func (s *Store) Quota(key Key) *Quota { return s.quotas[key.Namespace][key.Name] }

// QuotasIn returns the quotas in a namespace, in the order of their names.
func (s *Store) QuotasIn(namespace string) []*Quota { return sorted(s.quotas[namespace]) }

// Quotas returns all quotas, in no order.
func (s *Store) Quotas() iter.Seq[*Quota] { return s.quotas.All() }

// Empty reports whether there is neither a quota nor a ResourceQuota of one.
func (s *Store) Empty() bool { return len(s.quotas) == 0 && len(s.objects) == 0 }

// Object returns a ResourceQuota, nil if there is none.
func (s *Store) Object(key Key) *Object { return s.objects[key.Namespace][key.Name] }

// ObjectsIn returns the ResourceQuotas in a namespace, in the order of their names.
func (s *Store) ObjectsIn(namespace string) []*Object { return sorted(s.objects[namespace]) }

// Objects returns all ResourceQuotas, in no order.
func (s *Store) Objects() iter.Seq[*Object] { return s.objects.All() }

// SetQuota records a quota unless the recorded one is as new. It returns the one before, and whether q is recorded.
func (s *Store) SetQuota(q *Quota) (old *Quota, changed bool) {
	old = s.Quota(q.Key)
	if old != nil && !tree.Newer(q.ResourceVersion, old.ResourceVersion) {
		return old, false
	}
	s.quotas.Set(q.Namespace, q.Name, q)
	return old, true
}

// DeleteQuota forgets a quota unless another incarnation is recorded, and returns it.
func (s *Store) DeleteQuota(key Key, uid types.UID) *Quota {
	old := s.Quota(key)
	if old == nil || old.UID != uid {
		return nil
	}
	s.quotas.Delete(key.Namespace, key.Name)
	return old
}

// SetObject does the same as SetQuota for a ResourceQuota.
func (s *Store) SetObject(o *Object) (old *Object, changed bool) {
	old = s.Object(o.Key)
	if old != nil && !tree.Newer(o.ResourceVersion, old.ResourceVersion) {
		return old, false
	}
	s.objects.Set(o.Namespace, o.Name, o)
	return old, true
}

// DeleteObject does the same as DeleteQuota for a ResourceQuota.
func (s *Store) DeleteObject(key Key, uid types.UID) *Object {
	old := s.Object(key)
	if old == nil || old.UID != uid {
		return nil
	}
	s.objects.Delete(key.Namespace, key.Name)
	return old
}

func sorted[T any](byName map[string]*T) []*T {
	if len(byName) == 0 {
		return nil
	}
	list := make([]*T, 0, len(byName))
	for _, name := range slices.SortedFunc(maps.Keys(byName), strings.Compare) {
		list = append(list, byName[name])
	}
	return list
}
