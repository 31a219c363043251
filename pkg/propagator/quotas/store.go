package quotas

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// Store holds the quotas and their ResourceQuotas, by namespace and name.
type Store struct {
	quotas  map[string]map[string]*Quota
	objects map[string]map[string]*Object
}

// New returns an empty Store.
func New() *Store {
	return &Store{quotas: map[string]map[string]*Quota{}, objects: map[string]map[string]*Object{}}
}

// Quota returns a quota, nil if there is none.
func (s *Store) Quota(key Key) *Quota { return s.quotas[key.Namespace][key.Name] }

// QuotasIn returns the quotas in a namespace, in the order of their names.
func (s *Store) QuotasIn(namespace string) []*Quota { return sorted(s.quotas[namespace]) }

// Quotas returns all quotas, in no order.
func (s *Store) Quotas() iter.Seq[*Quota] { return all(s.quotas) }

// Empty reports whether there is neither a quota nor a ResourceQuota of one.
func (s *Store) Empty() bool { return len(s.quotas) == 0 && len(s.objects) == 0 }

// Object returns a ResourceQuota, nil if there is none.
func (s *Store) Object(key Key) *Object { return s.objects[key.Namespace][key.Name] }

// ObjectsIn returns the ResourceQuotas in a namespace, in the order of their names.
func (s *Store) ObjectsIn(namespace string) []*Object { return sorted(s.objects[namespace]) }

// Objects returns all ResourceQuotas, in no order.
func (s *Store) Objects() iter.Seq[*Object] { return all(s.objects) }

// SetQuota records a quota unless the recorded one is as new. It returns the one before, and whether q is recorded.
func (s *Store) SetQuota(q *Quota) (old *Quota, changed bool) {
	old = s.Quota(q.Key)
	if old != nil && !newer(q.ResourceVersion, old.ResourceVersion) {
		return old, false
	}
	set(s.quotas, q.Key, q)
	return old, true
}

// DeleteQuota forgets a quota unless another incarnation is recorded, and returns it.
func (s *Store) DeleteQuota(key Key, uid types.UID) *Quota {
	old := s.Quota(key)
	if old == nil || old.UID != uid {
		return nil
	}
	remove(s.quotas, key)
	return old
}

// SetObject does the same as SetQuota for a ResourceQuota.
func (s *Store) SetObject(o *Object) (old *Object, changed bool) {
	old = s.Object(o.Key)
	if old != nil && !newer(o.ResourceVersion, old.ResourceVersion) {
		return old, false
	}
	set(s.objects, o.Key, o)
	return old, true
}

// DeleteObject does the same as DeleteQuota for a ResourceQuota.
func (s *Store) DeleteObject(key Key, uid types.UID) *Object {
	old := s.Object(key)
	if old == nil || old.UID != uid {
		return nil
	}
	remove(s.objects, key)
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

func all[T any](byNamespace map[string]map[string]*T) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for _, byName := range byNamespace {
			for _, record := range byName {
				if !yield(record) {
					return
				}
			}
		}
	}
}

func set[T any](byNamespace map[string]map[string]*T, key Key, record *T) {
	if byNamespace[key.Namespace] == nil {
		byNamespace[key.Namespace] = map[string]*T{}
	}
	byNamespace[key.Namespace][key.Name] = record
}

func remove[T any](byNamespace map[string]map[string]*T, key Key) {
	delete(byNamespace[key.Namespace], key.Name)
	if len(byNamespace[key.Namespace]) == 0 {
		delete(byNamespace, key.Namespace)
	}
}

// newer reports whether the version of a record is newer than the known one. Versions that can't be compared count as
// newer.
func newer(version, known string) bool {
	c, err := resourceversion.CompareResourceVersion(version, known)
	return err != nil || c > 0
}
