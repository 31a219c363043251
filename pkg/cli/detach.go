package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

type detachOptions struct {
	genericiooptions.IOStreams
	factory *Factory

	object objectArg
	dryRun DryRunFlag
	wait   waitFlags
}

func newDetachCommand(f *Factory, streams genericiooptions.IOStreams) *cobra.Command {
	o := &detachOptions{IOStreams: streams, factory: f}
	cmd := &cobra.Command{
		Use:     "detach RESOURCE/NAME",
		Aliases: []string{"release"},
		Short:   "Make a copy of a kind that is no longer propagated an ordinary object",
		Long: `Make a copy of a kind that is no longer propagated (mode Ignore) an ordinary object, which users of its namespace can change and delete.

This requires permission to update the object, and being admin of the namespace that it was copied from.`,
		Example:           `  kubectl hns detach configmap/settings -n service-1`,
		ValidArgsFunction: CompleteArgs(1, f.CompleteResources),
		RunE:              RunOptions(o),
	}
	o.dryRun.AddFlag(cmd.Flags())
	cmd.Flags().DurationVar(&o.wait.timeout, "timeout", 30*time.Second, "How long to wait until it is done")
	return cmd
}

func (o *detachOptions) Complete(_ *cobra.Command, args []string) error {
	return o.object.complete(o.factory, args)
}

func (o *detachOptions) Validate() error { return o.object.Validate() }

func (o *detachOptions) Run(ctx context.Context) error {
	mapping, c, err := o.object.connect(o.factory)
	if err != nil {
		return err
	}
	name, namespace := o.object.name, o.object.namespace
	object, err := c.Dynamic.Resource(mapping.Resource).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	title := names.Object(mapping.GroupVersionKind.GroupKind(), name)
	source := object.GetLabels()[hnc.LabelInheritedFrom]
	if source == "" {
		return fmt.Errorf("%s in namespace %s is not a copy: there is nothing to detach", title, namespace)
	}
	if !o.dryRun.Client() {
		spec := v1alpha3.CopyReleaseSpec{Group: mapping.Resource.Group, Resource: mapping.Resource.Resource, Name: name, Source: source}
		if err := o.release(ctx, c, spec, title); err != nil {
			return err
		}
	}
	_, err = io.WriteString(o.Out, names.Line("%s detached from the one in %s: it is an ordinary object now%s", title, source, o.dryRun.Suffix()))
	return err
}

// release requests the release of a copy, and waits for it unless it is a dry run.
func (o *detachOptions) release(ctx context.Context, c *Clients, spec v1alpha3.CopyReleaseSpec, title string) error {
	client := c.Hierarchy.HncV1alpha3().CopyReleases(o.object.namespace)
	release, err := client.Create(ctx, &v1alpha3.CopyRelease{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "release-"},
		Spec:       spec,
	}, metav1.CreateOptions{DryRun: o.dryRun.options()})
	if err != nil {
		return &prefixedError{fmt.Sprintf("Could not detach %s.", title), err}
	}
	if o.dryRun.Enabled() {
		return nil
	}
	return o.wait.poll(ctx, o.ErrOut, func(ctx context.Context) (string, error) {
		now, err := client.Get(ctx, release.Name, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		switch condition := meta.FindStatusCondition(now.Status.Conditions, hnc.ConditionReady); {
		case condition == nil:
			return "the propagator has not detached it yet", nil
		case condition.Status != metav1.ConditionTrue:
			return "", fmt.Errorf("could not detach %s: %s", title, condition.Message)
		}
		return "", nil
	})
}
