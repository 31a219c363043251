package forest

import "slices"

// Placement gives a namespace a parent, "" for none.
type Placement struct{ Name, Parent string }

// Order returns the indexes of placements in the order in which to make them one by one. A namespace follows its new ancestors: its chain is then the
// one that it has after all placements, so that each of these steps leaves trees without cycles if the result has none. Where that leaves a choice, a
// namespace comes before its old ancestors, so that it leaves the tree that it is in now. Otherwise, and for cycles in the result, the order
// is kept. The names must be different; parent returns the present parent of a namespace.
func Order(placements []Placement, parent func(name string) string) []int {
	target := make(map[string]int, len(placements))
	for i, p := range placements {
		target[p.Name] = i
	}
	newParent := func(name string) string {
		if i, ok := target[name]; ok {
			return placements[i].Parent
		}
		return parent(name)
	}
	// For each placement, the number of those that must, or should, come first, and those that wait for it.
	required, preferred := make([]int, len(placements)), make([]int, len(placements))
	requiredBy, preferredBy := make([][]int, len(placements)), make([][]int, len(placements))
	for i, p := range placements {
		above := ancestors(p.Name, newParent)
		for _, name := range above {
			if j, ok := target[name]; ok && j != i {
				required[i]++
				requiredBy[j] = append(requiredBy[j], i)
			}
		}
		for _, name := range ancestors(p.Name, parent) {
			if j, ok := target[name]; ok && j != i && !slices.Contains(above, name) {
				preferred[j]++
				preferredBy[i] = append(preferredBy[i], j)
			}
		}
	}
	order := make([]int, 0, len(placements))
	for done := make([]bool, len(placements)); len(order) < len(placements); {
		next := pick(done, required, preferred)
		done[next] = true
		order = append(order, next)
		for _, i := range requiredBy[next] {
			required[i]--
		}
		for _, i := range preferredBy[next] {
			preferred[i]--
		}
	}
	return order
}

// pick returns the next placement.
func pick(done []bool, required, preferred []int) int {
	next, quality := -1, 0
	for i := range done {
		q := 1
		switch {
		case done[i]:
			continue
		case required[i] == 0 && preferred[i] == 0:
			return i
		case required[i] == 0:
			q = 2
		}
		if q > quality {
			next, quality = i, q
		}
	}
	return next
}

// ancestors returns the ancestors of a namespace, up to the first repetition.
func ancestors(name string, parent func(string) string) []string {
	var all []string
	seen := map[string]bool{name: true}
	for at := parent(name); at != "" && !seen[at]; at = parent(at) {
		seen[at] = true
		all = append(all, at)
	}
	return all
}
