package queue

// turns hands out keys, one of each tree in turn, of a tree one of each class in turn, and of a class one of each
// namespace in turn.
type turns struct {
	// trees are those that have keys. Each of them is in waiting once.
	trees   map[string]*share
	waiting fifo[*share]
}

// share are the keys of one tree.
type share struct {
	tree string
	// lanes are those that have keys. The namespace of each of them is in waiting once, by class.
	lanes   map[lane]*fifo[Key]
	waiting [classes]fifo[string]
	// next is the class whose turn it is.
	next Class
}

// lane is what the keys of one class and namespace have in common.
type lane struct {
	class     Class
	namespace string
}

func (t *turns) push(tree string, key Key) {
	s := t.trees[tree]
	if s == nil {
		s = &share{tree: tree, lanes: map[lane]*fifo[Key]{}}
		t.trees[tree] = s
		t.waiting.push(s)
	}
	s.push(key)
}

// pop returns the next key. There must be one.
func (t *turns) pop() Key {
	s := t.waiting.pop()
	key := s.pop()
	if len(s.lanes) > 0 {
		t.waiting.push(s)
	} else {
		delete(t.trees, s.tree)
	}
	return key
}

func (s *share) push(key Key) {
	at := lane{key.Class, key.Namespace}
	keys := s.lanes[at]
	if keys == nil {
		keys = &fifo[Key]{}
		s.lanes[at] = keys
		s.waiting[key.Class].push(key.Namespace)
	}
	keys.push(key)
}

func (s *share) pop() Key {
	for s.waiting[s.next].len() == 0 {
		s.next = (s.next + 1) % classes
	}
	at := lane{s.next, s.waiting[s.next].pop()}
	key := s.lanes[at].pop()
	if s.lanes[at].len() > 0 {
		s.waiting[at.class].push(at.namespace)
	} else {
		delete(s.lanes, at)
	}
	s.next = (s.next + 1) % classes
	return key
}

// fifo frees what it has handed out once that is half of its items.
type fifo[T any] struct {
	items []T
	head  int
}

func (f *fifo[T]) len() int { return len(f.items) - f.head }

func (f *fifo[T]) push(item T) { f.items = append(f.items, item) }

func (f *fifo[T]) pop() T {
	item := f.items[f.head]
	f.head++
	if f.head*2 > len(f.items) {
		f.items = append([]T(nil), f.items[f.head:]...)
		f.head = 0
	}
	return item
}
