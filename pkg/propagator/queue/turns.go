package queue

// turns hands out keys of one or more classes, one of each tree in turn, and lower classes first within a tree.
type turns struct {
	first   Class
	classes int
	// trees are those that have keys. Each of them is in waiting once.
	trees   map[string]*share
	waiting fifo[*share]
}

// share are the keys of one tree.
type share struct {
	tree  string
	fifos []fifo[Key]
}

func (t *turns) push(tree string, key Key) {
	s := t.trees[tree]
	if s == nil {
		s = &share{tree: tree, fifos: make([]fifo[Key], t.classes)}
		t.trees[tree] = s
		t.waiting.push(s)
	}
	s.fifos[key.Class-t.first].push(key)
}

// pop returns the next key. There must be one.
func (t *turns) pop() Key {
	s := t.waiting.pop()
	key, more := s.pop()
	if more {
		t.waiting.push(s)
	} else {
		delete(t.trees, s.tree)
	}
	return key
}

func (s *share) pop() (key Key, more bool) {
	popped := false
	for i := range s.fifos {
		f := &s.fifos[i]
		if !popped && f.len() > 0 {
			key, popped = f.pop(), true
		}
		more = more || f.len() > 0
	}
	return key, more
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
