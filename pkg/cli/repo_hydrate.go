package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/hydrate"
)

// hydration is what the flags of hydrate say.
type hydration struct {
	repoFlags
	flat, keepMetadata bool
	format, output     string
}

func newRepoHydrate(e *Environment) *cobra.Command {
	var h hydration
	cmd := &cobra.Command{
		Use:   "hydrate",
		Short: "Print the objects that a repository means for a cluster",
		Long: `Print the objects that a repository means, with everything that namespaces inherit, to a file for each object: <namespace>/<kind>_<name>.yaml.
With several clusters each has a directory of its own. The output directory is replaced; it must be empty or have been written by this command.
Nothing is written if the repository has errors.`,
		Example: `  kubectl hns repo hydrate
  kubectl hns repo hydrate --path policy --output /tmp/compiled
  kubectl hns repo hydrate --clusters prod-1 --flat --output prod-1.yaml
  kubectl hns repo hydrate --clusters prod-1 --output - | kubectl diff -f -`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(hydrate.Formats, h.format) {
				return usage("--format=%s is none of %s", h.format, strings.Join(hydrate.Formats, ", "))
			}
			if h.flat && !cmd.Flags().Changed("output") {
				h.output += "." + h.format
			}
			return e.hydrate(cmd.Context(), &h)
		},
	}
	h.add(e, cmd)
	flags := cmd.Flags()
	flags.BoolVar(&h.flat, "flat", false, "Print all objects of one cluster to one file")
	flags.StringVarP(&h.format, "format", "o", string(hydrate.YAML), "One of: "+strings.Join(hydrate.Formats, ", "))
	flags.StringVar(&h.output, "output", "compiled", `The directory, or with --flat the file, to write to; "-" is standard output, flat`)
	flags.BoolVar(&h.keepMetadata, "keep-metadata", false, "Keep the labels and annotations that only the repository needs, and show the tree labels of namespaces")
	e.completeFlag(cmd, "format", func(*cobra.Command, string) []string { return hydrate.Formats })
	return cmd
}

func (e *Environment) hydrate(ctx context.Context, h *hydration) error {
	all, err := h.compile(ctx, e)
	if err != nil {
		return err
	}
	e.reportCompiled(all)
	if all.failed() {
		return errSilent
	}
	if h.flat || h.output == "-" {
		return e.hydrateFlat(h, all)
	}
	var files []hydrate.File
	for _, cluster := range all.clusters {
		printed, err := hydrate.Files(hydrate.Objects(cluster.result, h.keepMetadata), hydrate.Format(h.format))
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
	line := e.progress()
	line.show("writing %d files ...", len(files))
	err = replaceDirectory(h.path, h.output, files)
	line.end()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.Out, "Wrote %d objects to %s\n", len(files), h.output)
	return err
}

func (e *Environment) hydrateFlat(h *hydration, all *compiled) error {
	if len(all.clusters) != 1 {
		var names []string
		for _, cluster := range all.clusters {
			names = append(names, cluster.name)
		}
		return usage("one file holds the objects of one cluster; choose it by --clusters, of %s", strings.Join(names, ", "))
	}
	objects := hydrate.Objects(all.clusters[0].result, h.keepMetadata)
	content, err := hydrate.Flat(objects, hydrate.Format(h.format))
	if err != nil {
		return err
	}
	if h.output == "-" {
		_, err = e.Out.Write(content)
		return err
	}
	if err := replaceFile(h.path, h.output, content); err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.Out, "Wrote %d objects to %s\n", len(objects), h.output)
	return err
}
