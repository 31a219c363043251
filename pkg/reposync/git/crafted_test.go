package git

import (
	"bytes"
	"fmt"
	"testing"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	gitstorage "github.com/go-git/go-git/v5/storage"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/load"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// crafted is a repository whose objects no Git client would write.
type crafted struct {
	t   *testing.T
	git *gogit.Repository
}

func newCrafted(t *testing.T, storer gitstorage.Storer) *crafted {
	t.Helper()
	git, err := gogit.Init(storer, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &crafted{t, git}
}

func (c *crafted) store(kind plumbing.ObjectType, content []byte) plumbing.Hash {
	c.t.Helper()
	o := &plumbing.MemoryObject{}
	o.SetType(kind)
	if _, err := o.Write(content); err != nil {
		c.t.Fatal(err)
	}
	hash, err := c.git.Storer.SetEncodedObject(o)
	if err != nil {
		c.t.Fatal(err)
	}
	return hash
}

func (c *crafted) blob(content string) object.TreeEntry {
	return object.TreeEntry{Name: "a.yaml", Mode: filemode.Regular, Hash: c.store(plumbing.BlobObject, []byte(content))}
}

// tree stores a tree without looking at its entries.
func (c *crafted) tree(name string, entries ...object.TreeEntry) object.TreeEntry {
	var content bytes.Buffer
	for _, e := range entries {
		_, _ = fmt.Fprintf(&content, "%o %s\x00", uint32(e.Mode), e.Name)
		content.Write(e.Hash[:])
	}
	return object.TreeEntry{Name: name, Mode: filemode.Dir, Hash: c.store(plumbing.TreeObject, content.Bytes())}
}

// commit stores a commit of a tree.
func (c *crafted) commit(root object.TreeEntry) plumbing.Hash {
	c.t.Helper()
	return c.store(plumbing.CommitObject, fmt.Appendf(nil, "tree %s\nauthor a <a@example.com> 1 +0000\ncommitter a <a@example.com> 1 +0000\n\nc\n", root.Hash))
}

// loaded returns the errors of loading a commit of a tree, if a fiftieth of the directories and entries may be read.
func (c *crafted) loaded(root object.TreeEntry) report.Errors {
	c.t.Helper()
	snapshot, err := snapshotOf(c.git, c.commit(root))
	if err != nil {
		c.t.Fatal(err)
	}
	tree := snapshot.FS.(*treeFS)
	*tree.directories, *tree.entries = *tree.directories/50, *tree.entries/50
	objects, errs := load.Load(snapshot.FS, load.DefaultLimits)
	if len(errs) > 0 && objects != nil {
		c.t.Errorf("%d objects are loaded although there are errors", len(objects))
	}
	return errs
}
