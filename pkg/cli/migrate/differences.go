package migrate

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/observe"
)

// differenceExamples is how many objects are named for each kind of writes.
const differenceExamples = 5

type differencesOptions struct {
	genericiooptions.IOStreams
	factory *cli.Factory
	trust   string
}

// newDifferencesCommand returns a command for kubectl hns doctor.
func newDifferencesCommand(f *cli.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &differencesOptions{IOStreams: streams, factory: f}
	return &cobra.Command{
		Use:    "differences TRUSTED",
		Short:  "List what hns-propagator would write after a restore, by dry runs",
		Hidden: true,
		Args:   cli.ExactArgs(1, "what is correct where the hierarchies and the labels differ, hierarchies or namespaces"),
		RunE:   cli.RunOptions(o),
	}
}

func (o *differencesOptions) Complete(_ *cobra.Command, args []string) error {
	o.trust = args[0]
	return nil
}

func (*differencesOptions) Validate() error { return nil }

func (o *differencesOptions) Run(ctx context.Context) error {
	c, err := o.factory.Clients()
	if err != nil {
		return err
	}
	args, err := observe.InstalledArgs(ctx, c.Kube)
	if err != nil {
		return err
	}
	config, err := o.factory.Config()
	if err != nil {
		return err
	}
	config.Impersonate = rest.ImpersonationConfig{UserName: hnc.PropagatorUser}
	report, err := observe.Run(ctx, config, args, o.trust)
	if err != nil {
		return err
	}
	for _, line := range report.Lines(differenceExamples) {
		if _, err := fmt.Fprintln(o.Out, line); err != nil {
			return err
		}
	}
	return nil
}
