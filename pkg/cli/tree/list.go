package tree

// List is the machine-readable form of trees: namespaces in the order in which the text shows them, each with its root
// and depth.
type List struct {
	Items []Listed `json:"items"`
}

// Listed is a namespace in a list.
type Listed struct {
	*Node
	// Root is where the walk to the namespace began, and Depth its distance from there.
	Root  string `json:"root"`
	Depth int    `json:"depth"`
}

// List returns the roots and the namespaces below them.
func (t *Tree) List(roots []string) List {
	list := List{Items: []Listed{}}
	for _, root := range roots {
		t.Walk(root, func(v Visit) bool {
			if !v.Again {
				list.Items = append(list.Items, Listed{Node: v.Node, Root: root, Depth: v.Depth})
			}
			return true
		})
	}
	return list
}
