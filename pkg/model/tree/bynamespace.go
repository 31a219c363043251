package tree

import "iter"

// ByNamespace are records by namespace and name. A namespace without records has no entry.
type ByNamespace[T any] map[string]map[string]T

// Set records what has a name in a namespace.
func (m ByNamespace[T]) Set(namespace, name string, record T) {
	if m[namespace] == nil {
		m[namespace] = map[string]T{}
	}
	m[namespace][name] = record
}

// Delete forgets what has a name in a namespace.
func (m ByNamespace[T]) Delete(namespace, name string) {
	if delete(m[namespace], name); len(m[namespace]) == 0 {
		delete(m, namespace)
	}
}

// All returns the records, in no order.
func (m ByNamespace[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, byName := range m {
			for _, record := range byName {
				if !yield(record) {
					return
				}
			}
		}
	}
}
