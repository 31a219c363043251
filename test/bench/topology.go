package main

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// depth of the longest chains. A chain may hold 60 namespaces; rows put one or two more above or below a tree.
const deepest = 55

// parents returns, for each node of a tree of n nodes, the number of its parent, which is smaller; -1 for the first,
// the root. A tree of more nodes begins with the same ones, except that a full tree's nodes have as many children as it
// takes for two levels.
func parents(topology string, n int) ([]int, error) {
	p := make([]int, n)
	p[0] = -1
	switch topology {
	case "wide":
		// All below the root.
	case "full":
		// 1 + k + k² nodes.
		k := max(int(math.Ceil(math.Sqrt(float64(n)))), 1)
		for i := 1; i < n; i++ {
			p[i] = (i - 1) / k
		}
	case "skewer":
		// Chains as long as can be.
		for i := 1; i < n; i++ {
			if (i-1)%deepest != 0 {
				p[i] = i - 1
			}
		}
	case "mixed":
		// A random recursive tree: its depth grows with the logarithm of n.
		//nolint:gosec // the same tree each time is what is wanted
		random := rand.New(rand.NewPCG(1, 2))
		for i := 1; i < n; i++ {
			p[i] = random.IntN(i)
		}
	default:
		return nil, fmt.Errorf("-topology: %q is none of wide, full, skewer, mixed", topology)
	}
	return p, nil
}

// tree is a tree of namespaces.
type tree struct {
	// names, parents and depths are parallel; the root is the first.
	names   []string
	parents []int
	depths  []int
}

// plan returns a tree whose namespaces' names begin with the prefix.
func plan(prefix, topology string, n int) tree {
	p, err := parents(topology, n)
	if err != nil {
		panic(err) // the flag was checked
	}
	t := tree{parents: p, names: make([]string, n), depths: make([]int, n)}
	for i := range n {
		t.names[i] = fmt.Sprintf("%s-%06d", prefix, i)
		if i > 0 {
			t.depths[i] = t.depths[p[i]] + 1
		}
	}
	return t
}

func (t tree) root() string { return t.names[0] }

func (t tree) len() int { return len(t.names) }

// first returns the tree of the first n nodes.
func (t tree) first(n int) tree {
	return tree{names: t.names[:n], parents: t.parents[:n], depths: t.depths[:n]}
}

// parent returns the name of a node's parent, "" for the root.
func (t tree) parent(i int) string {
	if t.parents[i] < 0 {
		return ""
	}
	return t.names[t.parents[i]]
}

// leaves returns the nodes without children.
func (t tree) leaves() []int {
	inner := make([]bool, t.len())
	for _, p := range t.parents[1:] {
		inner[p] = true
	}
	var leaves []int
	for i := range inner {
		if !inner[i] {
			leaves = append(leaves, i)
		}
	}
	return leaves
}

// largest returns the root of the largest subtree that is at most a tenth of the tree.
func (t tree) largest() int {
	size := make([]int, t.len())
	best := t.len() - 1
	for i := t.len() - 1; i > 0; i-- {
		size[i]++
		if size[t.parents[i]] += size[i]; size[i] > size[best] && size[i] <= t.len()/10 {
			best = i
		}
	}
	return best
}

// leafBelow returns a leaf below a namespace, or the namespace itself if it is one.
func (t tree) leafBelow(namespace string) string {
	for _, leaf := range t.leaves() {
		for at := leaf; at >= 0; at = t.parents[at] {
			if t.names[at] == namespace {
				return t.names[leaf]
			}
		}
	}
	return namespace
}
