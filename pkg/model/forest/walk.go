package forest

// Height returns the number of levels below a namespace: 0 if nothing is below. It is at most that of a whole tree, or
// one more for a higher one.
func (f *Forest) Height(name string) (height int) {
	f.Walk(name, func(_ string, depth int) bool {
		height = max(height, depth)
		return depth < maxDepth
	})
	return height
}

// Walk visits name and its descendants depth first: each namespace before its children, siblings by name. depth is
// the distance from name. Where visit returns false, it skips the descendants. In a cycle each member is visited
// once.
func (f *Forest) Walk(name string, visit func(name string, depth int) bool) {
	type step struct {
		name  string
		depth int
	}
	// Iterative, because an imported chain may be too long for recursion.
	seen := map[string]bool{}
	stack := []step{{name: name}}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[at.name] {
			continue
		}
		seen[at.name] = true
		if !visit(at.name, at.depth) {
			continue
		}
		children := f.Children(at.name)
		for i := len(children) - 1; i >= 0; i-- {
			stack = append(stack, step{children[i], at.depth + 1})
		}
	}
}
