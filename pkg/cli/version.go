package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/discovery"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// annotationVersion is the annotation of root commands with the version of the executable.
const annotationVersion = "version"

// addVersionFlag adds --version to a root command. Cobra's own flag would need a template to print the executable's
// name, and the linker keeps all exported methods in executables with templates: 20 MB.
func addVersionFlag(root *cobra.Command) {
	var show bool
	root.Flags().BoolVarP(&show, "version", "v", false, "version for "+root.DisplayName())
	run := root.RunE
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if show {
			return printVersion(cmd)
		}
		return run(cmd, args)
	}
}

func printVersion(cmd *cobra.Command) error {
	root := cmd.Root()
	name := strings.ReplaceAll(root.DisplayName(), " ", "-")
	return printVersions(cmd.OutOrStdout(), [][2]string{{name, root.Annotations[annotationVersion]}})
}

// printVersions prints programs with their versions, as each prints its own.
func printVersions(w io.Writer, programs [][2]string) error {
	for _, p := range programs {
		if p[1] == "" {
			continue
		}
		if _, err := io.WriteString(w, names.Line("%s version %s", p[0], p[1])); err != nil {
			return err
		}
	}
	return nil
}

// versions are those of what takes part. Those of servers are empty if only the client's is asked for.
type versions struct {
	Client     string `json:"clientVersion"`
	Server     string `json:"serverVersion,omitempty"`
	Kubernetes string `json:"kubernetesVersion,omitempty"`
}

type versionOptions struct {
	genericiooptions.IOStreams
	factory *Factory

	versions versions
	client   bool
	output   OutputFlag
}

func newVersionCommand(f *Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &versionOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of the plugin, of hns-apiserver and of Kubernetes",
		Example: `  kubectl hns version
  kubectl hns version --client`,
		Args: ExactArgs(0, "none"),
		RunE: RunOptions(o),
	}
	cmd.Flags().BoolVar(&o.client, "client", false, "Print the version of the plugin only, without asking the cluster")
	o.output.AddFormats(cmd, "json", "yaml")
	return cmd
}

func (o *versionOptions) Complete(cmd *cobra.Command, _ []string) error {
	o.versions.Client = cmd.Root().Annotations[annotationVersion]
	return nil
}

func (o *versionOptions) Validate() error { return o.output.Validate() }

// Run prints the plugin's version even if the cluster does not answer.
func (o *versionOptions) Run(ctx context.Context) error {
	var err error
	if !o.client {
		err = o.askServers(ctx)
	}
	printed, printErr := o.output.Print(o.Out, o.versions, nil)
	if !printed {
		printErr = printVersions(o.Out, [][2]string{{"kubectl-hns", o.versions.Client}, {hnc.APIServerName, o.versions.Server}, {"kube-apiserver", o.versions.Kubernetes}})
	}
	if printErr != nil {
		return printErr
	}
	return err
}

// askServers reads the versions of kube-apiserver, and of hns-apiserver from its OpenAPI, which everybody may read.
func (o *versionOptions) askServers(ctx context.Context) error {
	c, err := o.factory.Clients()
	if err != nil {
		return err
	}
	kubernetes, err := c.Kube.Discovery().ServerVersion()
	if err != nil {
		return err
	}
	o.versions.Kubernetes = kubernetes.GitVersion
	text, err := readOpenAPI(ctx, c.Kube.Discovery())
	if err != nil {
		return err
	}
	var document struct {
		Info struct {
			Version string `json:"version"`
		} `json:"info"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return fmt.Errorf("the OpenAPI of %s: %w", v1beta1.SchemeGroupVersion, err)
	}
	o.versions.Server = document.Info.Version
	return nil
}

// publication is how long kube-apiserver may serve an API without its OpenAPI, which it reads from the API's server.
const publication = 10 * time.Second

// readOpenAPI returns the OpenAPI of v1beta1.
func readOpenAPI(ctx context.Context, client discovery.DiscoveryInterface) (text []byte, err error) {
	_ = wait.PollUntilContextTimeout(ctx, 250*time.Millisecond, publication, true, func(ctx context.Context) (done bool, _ error) {
		text, err = client.RESTClient().Get().AbsPath("/openapi/v3/apis", v1beta1.SchemeGroupVersion.String()).Do(ctx).Raw()
		if !apierrors.IsNotFound(err) {
			return true, nil
		}
		_, unserved := client.ServerResourcesForGroupVersion(v1beta1.SchemeGroupVersion.String())
		return unserved != nil, nil
	})
	return text, err
}
