package repository

import (
	"path"
	"slices"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
)

// directory is a directory in namespaces/ that contains objects, or has others below that do.
type directory struct {
	path, name string
	parent     *directory
	children   []*directory
	// namespaces are the Namespace objects; an abstract directory has none.
	namespaces []*object.Object
	selectors  []*object.Object
	// objects are all others.
	objects []*object.Object
}

func (d *directory) isAbstract() bool { return len(d.namespaces) == 0 }

// walk visits the directory and all below it, parents first.
func (d *directory) walk(visit func(*directory)) {
	visit(d)
	for _, child := range d.children {
		child.walk(visit)
	}
}

// isAboveNamespace reports whether the directory or one below it contains a Namespace.
func (d *directory) isAboveNamespace() bool {
	return !d.isAbstract() || slices.ContainsFunc(d.children, (*directory).isAboveNamespace)
}

// hasObjects reports whether the directory or one below it contains objects of any kind.
func (d *directory) hasObjects() bool {
	return len(d.namespaces)+len(d.selectors)+len(d.objects) > 0 || slices.ContainsFunc(d.children, (*directory).hasObjects)
}

// ancestors returns the directories above, nearest first, without namespaces/ itself.
func (d *directory) ancestors() []*directory {
	var above []*directory
	for a := d.parent; a != nil && a.parent != nil; a = a.parent {
		above = append(above, a)
	}
	return above
}

// abstractAncestors returns the names of the directories above, nearest first and each once, without the directory's
// own name.
func (d *directory) abstractAncestors() []string {
	var names []string
	for _, a := range d.ancestors() {
		if a.name != d.name && !slices.Contains(names, a.name) {
			names = append(names, a.name)
		}
	}
	return names
}

// treeLabels returns the distances to the directories of the path.
func (d *directory) treeLabels() map[string]string {
	path := []string{d.name}
	for _, a := range d.ancestors() {
		path = append(path, a.name)
	}
	return hnc.TreeLabels(path)
}

// buildTree makes the tree of directories. Objects arrive by path, so the tree is in order too.
func (c *compilation) buildTree() {
	c.root = &directory{path: object.NamespacesDir, name: object.NamespacesDir}
	c.selectors = map[string]*object.Object{}
	known := map[string]*directory{c.root.path: c.root}
	var find func(string) *directory
	find = func(dir string) *directory {
		if d, ok := known[dir]; ok {
			return d
		}
		parent := find(path.Dir(dir))
		d := &directory{path: dir, name: path.Base(dir), parent: parent}
		parent.children = append(parent.children, d)
		known[dir] = d
		return d
	}
	for _, o := range c.objects {
		if o.TopDir() != object.NamespacesDir {
			continue
		}
		d := find(o.Dir())
		switch {
		case o.Is(object.Namespace):
			d.namespaces = append(d.namespaces, o)
		case o.Is(object.NamespaceSelector):
			d.selectors = append(d.selectors, o)
			c.selectors[o.GetName()] = o
		default:
			d.objects = append(d.objects, o)
		}
	}
}
