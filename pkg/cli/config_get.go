package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

type configGetOptions struct {
	genericiooptions.IOStreams
	factory *Factory

	// key is the kind or setting to show, "" for all that are set.
	key string
}

func newConfigGetCommand(f *Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &configGetOptions{IOStreams: streams, factory: f}
	return &cobra.Command{
		Use:   "get [RESOURCE[.GROUP] | SETTING]",
		Short: "Show the modes of the kinds and the settings, or the value of one",
		Long: `Show the modes of the kinds and the settings that the configuration has, or print the value of one. What it does not have has its default;
kubectl explain hncconfigurations.spec says which. Roles and RoleBindings are always propagated.`,
		Example: `  kubectl hns config get
  kubectl hns config get secrets
  kubectl hns config get rules.managedNamespaceLabels`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return UsageErrorf("got %d arguments, want one kind or setting, or none", len(args))
			}
			return nil
		},
		ValidArgsFunction: CompleteArgs(1, f.completeSettings),
		RunE:              RunOptions(o),
	}
}

func (o *configGetOptions) Complete(_ *cobra.Command, args []string) error {
	if len(args) == 1 {
		o.key = args[0]
	}
	return nil
}

func (o *configGetOptions) Validate() error {
	if o.key == "" {
		return nil
	}
	return unknownSetting(o.key)
}

func (o *configGetOptions) Run(ctx context.Context) error {
	c, err := o.factory.Clients()
	if err != nil {
		return err
	}
	config, err := GetConfiguration(ctx, c)
	if err != nil {
		return err
	}
	if o.key == "" {
		rows, err := configurationRows(&config.Spec)
		if err != nil {
			return err
		}
		return printSettings(o.Out, rows)
	}
	value, err := o.valueOf(&config.Spec)
	if err != nil {
		return err
	}
	if value == "" {
		return fmt.Errorf("the configuration does not have %s", o.key)
	}
	_, err = io.WriteString(o.Out, names.Line("%s", value))
	return err
}

// valueOf returns the mode of the kind, or the value of the setting; "" if the configuration does not have it.
func (o *configGetOptions) valueOf(spec *v1beta1.HNCConfigurationSpec) (string, error) {
	if settings[o.key] != nil {
		return setting(spec, o.key)
	}
	i, err := o.factory.entryOf(spec.Resources, kindArg(o.key))
	if err != nil || i < 0 {
		return "", err
	}
	return string(spec.Resources[i].Mode), nil
}

// configurationRows returns what the configuration has: the kinds with their modes, and the settings with their values.
func configurationRows(spec *v1beta1.HNCConfigurationSpec) ([][2]string, error) {
	var rows [][2]string
	for _, r := range spec.Resources {
		rows = append(rows, [2]string{schema.GroupResource{Group: r.Group, Resource: r.Resource}.String(), string(r.Mode)})
	}
	for _, path := range settingNames() {
		if isOwn(settings[path]) {
			continue // Its fields have rows.
		}
		value, err := setting(spec, path)
		if err != nil {
			return nil, err
		}
		if value != "" {
			rows = append(rows, [2]string{path, value})
		}
	}
	return rows, nil
}

func printSettings(w io.Writer, rows [][2]string) error {
	table := printers.GetNewTabWriter(w)
	_, _ = fmt.Fprintln(table, "SETTING\tVALUE")
	for _, row := range rows {
		// Values are complete.
		_, _ = io.WriteString(table, names.Printable(row[0])+"\t"+names.Printable(row[1])+"\n")
	}
	return table.Flush()
}
