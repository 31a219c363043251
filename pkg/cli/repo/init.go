package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
)

type repoInitOptions struct {
	genericiooptions.IOStreams

	path  string
	force bool
}

func newRepoInitCommand(streams genericiooptions.IOStreams) *cobra.Command {
	o := &repoInitOptions{IOStreams: streams}
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Create an empty repository",
		Long:  "Create the directories of an empty repository, and a Repo object. The directory must be empty except for files whose names begin with a dot.",
		Example: `  kubectl hns repo init
  kubectl hns repo init --path policy`,
		Args: cobra.NoArgs,
		RunE: cli.RunOptions(o),
	}
	cmd.Flags().StringVar(&o.path, "path", ".", "The directory of the repository; it is created if it does not exist")
	cmd.Flags().BoolVar(&o.force, "force", false, "Allow a directory that is not empty. Existing files are left unchanged")
	_ = cmd.MarkFlagDirname("path")
	return cmd
}

func (o *repoInitOptions) Complete(*cobra.Command, []string) error { return nil }

func (o *repoInitOptions) Validate() error { return nil }

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

This directory contains the Repo object, which holds the version of the repository's format, and any number of HierarchyConfig objects, which
select the kinds that are inherited.
`,
	"system/repo.yaml": `apiVersion: configmanagement.gke.io/v1
kind: Repo
metadata:
  name: repo
spec:
  version: 1.0.0
`,
}

func (o *repoInitOptions) Run(context.Context) error {
	if err := os.MkdirAll(o.path, 0o750); err != nil {
		return err
	}
	entries, err := os.ReadDir(o.path)
	if err != nil {
		return err
	}
	if !o.force && slices.ContainsFunc(entries, func(entry fs.DirEntry) bool { return !strings.HasPrefix(entry.Name(), ".") }) {
		return fmt.Errorf("the directory %s is not empty; choose another one by --path, or add missing files by --force", o.path)
	}
	for _, dir := range object.TopDirs {
		if err := os.MkdirAll(filepath.Join(o.path, dir), 0o750); err != nil {
			return err
		}
	}
	for name, content := range initialFiles {
		err := createFile(filepath.Join(o.path, filepath.FromSlash(name)), content)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	_, err = fmt.Fprintln(o.Out, "Done!")
	return err
}

// createFile writes a new file. It returns an error if the file exists.
func createFile(name, content string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	return errors.Join(err, f.Close())
}
