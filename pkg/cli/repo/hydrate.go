package repo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/hydrate"
)

type repoHydrateOptions struct {
	genericiooptions.IOStreams
	factory *cli.Factory

	repo               repoFlags
	flat, keepMetadata bool
	format, output     string
}

func newRepoHydrateCommand(f *cli.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &repoHydrateOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:   "hydrate",
		Short: "Print the objects of a repository for a cluster",
		Long: `Print the objects of a repository, with everything that namespaces inherit, to one file for each object: <namespace>/<kind>_<name>.yaml.
With several clusters, each has its own directory. The output directory is replaced; it must be empty or have been written by this command.
Nothing is written if the repository has errors.`,
		Example: `  kubectl hns repo hydrate
  kubectl hns repo hydrate --path policy --output /tmp/compiled
  kubectl hns repo hydrate --clusters prod-1 --flat --output prod-1.yaml
  kubectl hns repo hydrate --clusters prod-1 --output - | kubectl diff -f -`,
		Args: cobra.NoArgs,
		RunE: cli.RunOptions(o),
	}
	o.repo.add(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&o.flat, "flat", false, "Print all objects of one cluster to one file")
	flags.StringVarP(&o.format, "format", "o", string(hydrate.YAML), "One of: "+strings.Join(hydrate.Formats, ", "))
	flags.StringVar(&o.output, "output", "compiled", `The directory, or with --flat the file, to write to; "-" is standard output, flat`)
	flags.BoolVar(&o.keepMetadata, "keep-metadata", false, "Keep the labels and annotations that only the repository uses, and add the tree labels of namespaces")
	cli.CompleteFlag(cmd, "format", func(*cobra.Command, string) []string { return hydrate.Formats })
	return cmd
}

func (o *repoHydrateOptions) Complete(cmd *cobra.Command, _ []string) error {
	if o.flat && !cmd.Flags().Changed("output") {
		o.output += "." + o.format
	}
	return nil
}

func (o *repoHydrateOptions) Validate() error {
	if !slices.Contains(hydrate.Formats, o.format) {
		return cli.UsageErrorf("--format=%s is not one of %s", o.format, strings.Join(hydrate.Formats, ", "))
	}
	return nil
}

func (o *repoHydrateOptions) Run(ctx context.Context) error {
	all, err := o.repo.compile(ctx, o.factory, o.ErrOut)
	if err != nil {
		return err
	}
	printCompiled(o.ErrOut, all)
	if all.failed() {
		return cli.ErrReported
	}
	if o.flat || o.output == "-" {
		return o.writeFlat(all)
	}
	var files []hydrate.File
	for _, cluster := range all.clusters {
		printed, err := hydrate.Files(hydrate.Objects(cluster.result, o.keepMetadata), hydrate.Format(o.format))
		if err != nil {
			return err
		}
		for _, f := range printed {
			if len(all.clusters) > 1 {
				f.Name = cluster.name + "/" + f.Name
			}
			files = append(files, f)
		}
	}
	line := cli.NewProgress(o.ErrOut)
	line.Showf("writing %d files ...", len(files))
	err = replaceDirectory(o.repo.path, o.output, files)
	line.Clear()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.Out, "Wrote %d objects to %s\n", len(files), o.output)
	return err
}

// writeFlat writes the objects of the one cluster to a file or to standard output.
func (o *repoHydrateOptions) writeFlat(all *compiled) error {
	if len(all.clusters) != 1 {
		var names []string
		for _, cluster := range all.clusters {
			names = append(names, cluster.name)
		}
		return cli.UsageErrorf("one file holds the objects of one cluster; select it by --clusters, of %s", strings.Join(names, ", "))
	}
	objects := hydrate.Objects(all.clusters[0].result, o.keepMetadata)
	content, err := hydrate.Flat(objects, hydrate.Format(o.format))
	if err != nil {
		return err
	}
	if o.output == "-" {
		_, err = cli.Exact(o.Out).Write(content)
		return err
	}
	if err := replaceFile(o.repo.path, o.output, content); err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.Out, "Wrote %d objects to %s\n", len(objects), o.output)
	return err
}
