package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// modeNames are the modes in which a kind can be propagated.
var modeNames = []string{string(v1beta1.Propagate), string(v1beta1.AllowPropagate), string(v1beta1.Remove), string(v1beta1.Ignore)}

// canonicalMode returns a mode as the API spells it. Case does not matter.
func canonicalMode(mode string) string {
	for _, known := range modeNames {
		if strings.EqualFold(mode, known) {
			return known
		}
	}
	return mode
}

func newConfigCommand(f *Factory, streams genericiooptions.IOStreams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show and change which kinds are propagated in the cluster, and the other settings",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newConfigGetCommand(f, streams), newConfigSetCommand(f, streams), newConfigUnsetCommand(f, streams),
		newSetResourceCommand(f, streams), newDeleteTypeCommand(f, streams), newDescribeConfigCommand(f, streams))
	return cmd
}

// changeConfiguration changes the specification of the configuration, or creates the configuration, and reports whether
// that changes anything.
func changeConfiguration(ctx context.Context, c *Clients, dryRun *DryRunFlag, change func(*v1beta1.HNCConfigurationSpec) error) (changed bool, err error) {
	err = retryOnModified(func() error {
		config, err := GetConfiguration(ctx, c)
		if err != nil {
			return err
		}
		before := config.Spec.DeepCopy()
		if err := change(&config.Spec); err != nil {
			return err
		}
		if changed = !apiequality.Semantic.DeepEqual(&config.Spec, before); !changed || dryRun.Client() {
			return nil
		}
		written, err := writeConfiguration(ctx, c, config, dryRun)
		if err == nil {
			changed = !apiequality.Semantic.DeepEqual(&written.Spec, before) // It has the server's defaults.
		}
		return err
	})
	return changed, err
}

// writeConfiguration updates the configuration, or creates it, and returns it with the server's defaults.
func writeConfiguration(ctx context.Context, c *Clients, config *v1beta1.HNCConfiguration, dryRun *DryRunFlag) (*v1beta1.HNCConfiguration, error) {
	client := c.Hierarchy.HncV1beta1().HNCConfigurations()
	var written *v1beta1.HNCConfiguration
	var err error
	if config.ResourceVersion == "" {
		written, err = client.Create(ctx, config, metav1.CreateOptions{DryRun: dryRun.options()})
	} else {
		written, err = client.Update(ctx, config, metav1.UpdateOptions{DryRun: dryRun.options()})
	}
	if err != nil {
		return nil, &prefixedError{"Could not update the HNC Configuration:", err}
	}
	return written, nil
}

// GetConfiguration returns the configuration; a missing one is empty.
func GetConfiguration(ctx context.Context, c *Clients) (*v1beta1.HNCConfiguration, error) {
	config, err := c.Hierarchy.HncV1beta1().HNCConfigurations().Get(ctx, hnc.ConfigurationName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) && !isUnserved(err) {
		return &v1beta1.HNCConfiguration{ObjectMeta: metav1.ObjectMeta{Name: hnc.ConfigurationName}}, nil
	}
	return config, err
}
