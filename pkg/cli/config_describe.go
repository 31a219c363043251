package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

type describeConfigOptions struct {
	genericiooptions.IOStreams
	factory *Factory

	output OutputFlag
}

func newDescribeConfigCommand(f *Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &describeConfigOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:   "describe",
		Short: "Show which kinds are propagated, and the conditions of the configuration",
		Args:  ExactArgs(0, "none"),
		RunE:  RunOptions(o),
	}
	o.output.AddFlag(cmd)
	return cmd
}

func (o *describeConfigOptions) Complete(*cobra.Command, []string) error { return nil }

func (o *describeConfigOptions) Validate() error { return o.output.Validate() }

func (o *describeConfigOptions) Run(ctx context.Context) error {
	c, err := o.factory.Clients()
	if err != nil {
		return err
	}
	config, err := GetConfiguration(ctx, c)
	if err != nil {
		return err
	}
	config.SetGroupVersionKind(v1beta1.SchemeGroupVersion.WithKind("HNCConfiguration"))
	if printed, err := o.output.Print(o.Out, config, func() []string { return []string{"hncconfiguration." + hnc.GroupName + "/" + config.Name} }); printed {
		return err
	}
	_, err = fmt.Fprint(o.Out, describeConfiguration(&config.Status))
	return err
}

// describeConfiguration formats the configuration as docs/spec/hnc.md 4 has it.
func describeConfiguration(status *v1beta1.HNCConfigurationStatus) string {
	verbs := map[v1beta1.SynchronizationMode]string{
		v1beta1.Propagate: "Propagating", v1beta1.Remove: "Removing", v1beta1.AllowPropagate: "AllowPropagate", v1beta1.Ignore: "Ignoring",
	}
	var s strings.Builder
	s.WriteString("Synchronized resources:\n")
	for _, r := range status.Resources {
		s.WriteString(names.Line("* %s: %s (%s/%s)", verbs[r.Mode], r.Resource, r.Group, r.Version))
	}
	s.WriteString("\nConditions:\n")
	for _, condition := range tree.Problems(status.Details()) {
		s.WriteString(names.Line("%s", tree.FormatCondition(condition)))
	}
	return s.String()
}
