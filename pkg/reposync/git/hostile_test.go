package git

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

const someMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"

func TestHostileTrees(t *testing.T) {
	named := func(entry object.TreeEntry, name string) object.TreeEntry {
		entry.Name = name
		return entry
	}
	for name, row := range map[string]struct {
		tree func(c *crafted) object.TreeEntry
		code report.Code
		want string
	}{
		"an entry leads up": {func(c *crafted) object.TreeEntry { return c.tree("cluster", named(c.tree("", c.blob(someMap)), "..")) }, report.UnreadableFile, `illegal name ".."`},
		"an entry is a path": {func(c *crafted) object.TreeEntry { return c.tree("cluster", named(c.blob(someMap), "../../a.yaml")) },
			report.UnreadableFile, `illegal name "../../a.yaml"`},
		"an entry is absolute":      {func(c *crafted) object.TreeEntry { return c.tree("cluster", named(c.blob(someMap), "/etc/a.yaml")) }, report.UnreadableFile, `illegal name "/etc/a.yaml"`},
		"an entry has no name":      {func(c *crafted) object.TreeEntry { return c.tree("cluster", named(c.blob(someMap), "")) }, report.UnreadableFile, "empty filename"},
		"an entry is the directory": {func(c *crafted) object.TreeEntry { return c.tree("cluster", named(c.blob(someMap), ".")) }, report.UnreadableFile, "illegal name"},
		"a submodule": {func(c *crafted) object.TreeEntry {
			return c.tree("cluster", object.TreeEntry{Name: "a.yaml", Mode: filemode.Submodule, Hash: plumbing.NewHash(strings.Repeat("1", 40))})
		}, report.UnreadableFile, "not a regular file"},
		"a missing file": {func(c *crafted) object.TreeEntry {
			return c.tree("cluster", object.TreeEntry{Name: "a.yaml", Mode: filemode.Regular, Hash: plumbing.NewHash(strings.Repeat("1", 40))})
		}, report.UnreadableFile, "object not found"},
		"a file that is a directory": {func(c *crafted) object.TreeEntry {
			return c.tree("cluster", named(object.TreeEntry{Mode: filemode.Dir, Hash: c.blob(someMap).Hash}, "d"))
		}, report.UnreadableFile, "cannot be read"},
		"a binary file": {func(c *crafted) object.TreeEntry { return c.tree("cluster", c.blob("\x7fELF\x00\x01")) }, report.UnreadableFile, "not valid YAML"},
		"10 000 nested directories": {func(c *crafted) object.TreeEntry {
			inner := c.tree("d", c.blob(someMap))
			for range 10_000 {
				inner = c.tree("d", inner)
			}
			return named(inner, "cluster")
		}, report.LimitExceeded, "nested deeper than 64"},
		// 2^40 directories in 40 trees.
		"trees that contain each other": {func(c *crafted) object.TreeEntry {
			inner := c.tree("d", c.blob(someMap))
			for range 40 {
				inner = c.tree("cluster", named(inner, "a"), named(inner, "b"))
			}
			return inner
		}, report.UnreadableFile, "more than 100000 directories"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCrafted(t, memory.NewStorage())
			errs := c.loaded(c.tree("", row.tree(c)))
			if len(errs) == 0 || errs[0].Code != row.code || !strings.Contains(errs.Error(), row.want) || len(errs[0].Paths) == 0 {
				t.Errorf("want %s with %q, got %v", row.code, row.want, errs)
			}
		})
	}
	t.Run("what is outside of the directories is not read", func(t *testing.T) {
		c := newCrafted(t, memory.NewStorage())
		modules := c.blob("[submodule \"x\"]\n\tpath = cluster\n\turl = file:///etc\n")
		hooks := c.tree("hooks", c.blob("#!/bin/sh\ntouch /tmp/owned\n"))
		if errs := c.loaded(c.tree("", c.tree("..", c.blob("x")), named(modules, ".gitmodules"), named(hooks, ".git"), c.tree("cluster", c.blob(someMap)))); len(errs) > 0 {
			t.Error(errs)
		}
	})
}

func TestTreesAreLimited(t *testing.T) {
	c := newCrafted(t, &storage{filesystem.NewStorage(osfs.New(t.TempDir()), cache.NewObjectLRUDefault()), nil, 0})
	entries := make([]object.TreeEntry, 0, 200_000)
	blob := c.blob(someMap)
	for i := range cap(entries) {
		blob.Name = fmt.Sprintf("%06d.yaml", i)
		entries = append(entries, blob)
	}
	errs := c.loaded(c.tree("", c.tree("cluster", entries...)))
	if len(errs) != 1 || !strings.Contains(errs.Error(), "a tree of the repository has more than 4 MiB") {
		t.Errorf("got %v", errs)
	}
}
