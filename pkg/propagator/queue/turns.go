package queue

// turns hands out keys, one of each tree in turn, and of a tree one of each class in turn.
type turns struct {
	// trees are those that have keys. Each of them is in waiting once.
	trees   map[string]*share
	waiting fifo[*share]
}

// share are the keys of one tree, by class.
type share struct {
	tree  string
	fifos [classes]fifo[Key]
	// next is the class whose turn it is.
	next Class
	keys int
}

func (t *turns) push(tree string, key Key) {
	s := t.trees[tree]
	if s == nil {
		s = &share{tree: tree}
		t.trees[tree] = s
		t.waiting.push(s)
	}
	s.fifos[key.Class].push(key)
	s.keys++
}

// pop returns the next key. There must be one.
func (t *turns) pop() Key {
	s := t.waiting.pop()
	key := s.pop()
	if s.keys > 0 {
		t.waiting.push(s)
	} else {
		delete(t.trees, s.tree)
	}
	return key
}

func (s *share) pop() Key {
	for s.fifos[s.next].len() == 0 {
		s.next = (s.next + 1) % classes
	}
	key := s.fifos[s.next].pop()
	s.next = (s.next + 1) % classes
	s.keys--
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
