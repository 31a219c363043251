package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
)

func newRepoInit(e *Environment) *cobra.Command {
	var (
		path  string
		force bool
	)
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Make an empty repository",
		Long:  "Make the directories of an empty repository, and a Repo object. The directory must be empty but for files whose names begin with a dot.",
		Example: `  kubectl hns repo init
  kubectl hns repo init --path policy`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return e.initRepo(path, force) },
	}
	cmd.Flags().StringVar(&path, "path", ".", "Where to make it; the directory is created if it does not exist")
	cmd.Flags().BoolVar(&force, "force", false, "Also in a directory that is not empty. Files that exist are left alone")
	_ = cmd.MarkFlagDirname("path")
	return cmd
}

// initialFiles are the files of an empty repository.
var initialFiles = map[string]string{
	"README.md": `# Policy repository

| Directory | Holds |
| --- | --- |
| namespaces/ | namespaces and their objects; objects of a directory without a Namespace go to all namespaces below it |
| cluster/ | objects outside namespaces |
| clusterregistry/ | Cluster and ClusterSelector objects |
| system/ | the Repo object, and HierarchyConfig objects |

Check it with: kubectl hns repo vet
`,
	"system/README.md": `# System

This directory contains the Repo object, which says how this repository is to be read, and any number of HierarchyConfig objects, which say
which kinds are inherited.
`,
	"system/repo.yaml": `apiVersion: configmanagement.gke.io/v1
kind: Repo
metadata:
  name: repo
spec:
  version: 1.0.0
`,
}

func (e *Environment) initRepo(path string, force bool) error {
	if err := os.MkdirAll(path, 0o750); err != nil {
		return err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	if !force && slices.ContainsFunc(entries, func(entry fs.DirEntry) bool { return !strings.HasPrefix(entry.Name(), ".") }) {
		return fmt.Errorf("the directory %s is not empty; choose another one by --path, or add what is missing by --force", path)
	}
	for _, dir := range object.TopDirs {
		if err := os.MkdirAll(filepath.Join(path, dir), 0o750); err != nil {
			return err
		}
	}
	for name, content := range initialFiles {
		err := create(filepath.Join(path, filepath.FromSlash(name)), content)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	_, err = fmt.Fprintln(e.Out, "Done!")
	return err
}

// create writes a new file, and fails if it exists.
func create(name, content string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	return errors.Join(err, f.Close())
}
