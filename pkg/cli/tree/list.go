package tree

// List is what programs read of trees: namespaces in the order in which they are shown, each with its place.
type List struct {
	Items []Listed `json:"items"`
}

// Listed is a namespace in a list.
type Listed struct {
	*Node
	// Root is where the walk to it began, and Depth the distance to there.
	Root  string `json:"root"`
	Depth int    `json:"depth"`
}

// List returns the namespaces below the roots, which it includes.
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
