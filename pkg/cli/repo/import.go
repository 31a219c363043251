package repo

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/modes"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/extract"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/hydrate"
)

type repoImportOptions struct {
	genericiooptions.IOStreams
	factory *cli.Factory

	roots     []string
	path      string
	resources []string
	secrets   bool
}

func newRepoImportCommand(f *cli.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &repoImportOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:   "import [NAMESPACE...]",
		Short: "Write a repository from the trees of a cluster",
		Long: `Write a repository from the trees below these namespaces, or from all namespaces that are not excluded from hierarchies. The directories of a
namespace are its ancestors. Objects that all descendants inherit are in the abstract directory of their namespace; copies are left out. If a namespace
is not a root, what it inherits from above is in its abstract directory, too. What a cluster sets, such as
status, UIDs and owners, is left out, and so are objects that controllers own. Nothing in the cluster changes.

Objects are of the kinds that the cluster propagates, ResourceQuotas, LimitRanges, and the kinds of --resources. Secrets are written with --secrets only,
because Git keeps them forever.`,
		Example: `  kubectl hns repo import --path policy
  kubectl hns repo import acme --path policy --resources configmaps,deployments.apps`,
		ValidArgsFunction: cli.CompleteArgs(1000, f.CompleteNamespaces),
		RunE:              cli.RunOptions(o),
	}
	flags := cmd.Flags()
	flags.StringVar(&o.path, "path", ".", "The directory of the new repository; it must be empty except for files whose names begin with a dot")
	flags.StringSliceVar(&o.resources, "resources", nil, "More kinds to write, by their plural names, with their groups")
	flags.BoolVar(&o.secrets, "secrets", false, "Write Secrets, with their content, in clear text; not those of ServiceAccounts and of Helm")
	_ = cmd.MarkFlagDirname("path")
	cli.CompleteFlag(cmd, "resources", f.CompleteResources)
	return cmd
}

func (o *repoImportOptions) Complete(_ *cobra.Command, args []string) error {
	o.roots = args
	return nil
}

func (o *repoImportOptions) Validate() error {
	for _, name := range o.roots {
		if err := cli.ValidateNamespace(name); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(o.path)
	if err == nil && slices.ContainsFunc(entries, func(entry fs.DirEntry) bool { return !strings.HasPrefix(entry.Name(), ".") }) {
		return fmt.Errorf("the directory %s is not empty; choose another one by --path", o.path)
	}
	return nil
}

func (o *repoImportOptions) Run(ctx context.Context) error {
	c, err := o.factory.Clients()
	if err != nil {
		return err
	}
	kinds, err := o.kinds(ctx, c)
	if err != nil {
		return err
	}
	namespaces, err := o.namespaces(ctx, c)
	if err != nil {
		return err
	}
	objects, err := o.objects(ctx, c, kinds, namespaces)
	if err != nil {
		return err
	}
	files, err := extract.Files(namespaces, objects)
	if err != nil {
		return err
	}
	for name, content := range initialFiles {
		files = append(files, hydrate.File{Name: name, Content: []byte(content)})
	}
	if err := os.MkdirAll(o.path, 0o750); err != nil {
		return err
	}
	if err := writeBelow(o.path, files); err != nil {
		return err
	}
	check := &repoVetOptions{IOStreams: o.IOStreams, factory: o.factory, repo: repoFlags{path: o.path, sourceFormat: "hierarchy", allowSharedNames: true}}
	check.repo.kinds.timeout = defaultServerTimeout
	if _, err := fmt.Fprintf(o.Out, "Wrote %d files of %d namespaces to %s\n", len(files), len(namespaces), o.path); err != nil {
		return err
	}
	return check.Run(ctx)
}

// kinds returns the resources to read.
func (o *repoImportOptions) kinds(ctx context.Context, c *cli.Clients) ([]schema.GroupVersionResource, error) {
	config, err := cli.GetConfiguration(ctx, c)
	if err != nil {
		return nil, err
	}
	secrets := schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	kinds := []schema.GroupVersionResource{{Version: "v1", Resource: "resourcequotas"}, {Version: "v1", Resource: "limitranges"}}
	add := func(resource schema.GroupVersionResource) {
		if !slices.Contains(kinds, resource) && resource != secrets {
			kinds = append(kinds, resource)
		}
	}
	// The status spells them as the configuration does.
	for _, r := range config.Status.Resources {
		if !(modes.Policy{Mode: r.Mode}).Copies() {
			continue
		}
		mapping, err := o.factory.Mapping(schema.GroupResource{Group: r.Group, Resource: r.Resource}.String())
		if err != nil {
			return nil, err
		}
		add(mapping.Resource)
	}
	for _, name := range o.resources {
		mapping, err := o.factory.Mapping(name)
		if err != nil {
			return nil, err
		}
		if mapping.Resource == secrets && !o.secrets {
			return nil, cli.UsageErrorf("--resources: Secrets are written with --secrets only")
		}
		add(mapping.Resource)
	}
	if o.secrets {
		kinds = append(kinds, secrets)
	}
	return kinds, nil
}
