package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

func newRelease(e *Environment) *cobra.Command {
	wait := waiting{on: true}
	cmd := &cobra.Command{
		Use:   "release RESOURCE/NAME",
		Short: "Make a copy of a kind that is not propagated any more an ordinary object",
		Long: `Make a copy of a kind that is not propagated any more (mode Ignore) an ordinary object, which its namespace's users can change and delete.

This needs the right to update the object, and being admin of the namespace that it comes from.`,
		Example:           `  kubectl hns release configmap/settings -n service-1`,
		ValidArgsFunction: completeArgs(1, e.completeResources),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				args = strings.SplitN(args[0], "/", 2)
			}
			if len(args) != 2 || args[0] == "" || args[1] == "" {
				return usage("name one object: RESOURCE/NAME")
			}
			namespace, err := e.namespace()
			if err != nil {
				return err
			}
			return e.release(cmd.Context(), args[0], args[1], namespace, &wait)
		},
	}
	cmd.Flags().DurationVar(&wait.timeout, "timeout", 30*time.Second, "How long to wait until it is done")
	return cmd
}

func (e *Environment) release(ctx context.Context, resource, name, namespace string, wait *waiting) error {
	mapping, err := e.mapping(resource)
	if err != nil {
		return err
	}
	c, err := e.connect()
	if err != nil {
		return err
	}
	o, err := c.dynamic.Resource(mapping.Resource).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	named := mapping.Resource.GroupResource().String() + "/" + name
	source := o.GetLabels()[hnc.LabelInheritedFrom]
	if source == "" {
		return fmt.Errorf("%s in namespace %s is no copy: there is nothing to release", named, namespace)
	}
	client := c.hierarchy.HncV1beta1().CopyReleases(namespace)
	r, err := client.Create(ctx, &v1beta1.CopyRelease{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "release-"},
		Spec:       v1beta1.CopyReleaseSpec{Group: mapping.Resource.Group, Resource: mapping.Resource.Resource, Name: name, Source: source},
	}, metav1.CreateOptions{})
	if err != nil {
		return &failure{fmt.Sprintf("Could not release %s.", named), err}
	}
	err = e.wait(ctx, wait, func(ctx context.Context) (string, error) {
		now, err := client.Get(ctx, r.Name, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		switch condition := meta.FindStatusCondition(now.Status.Conditions, hnc.ConditionReleased); {
		case condition == nil:
			return "the propagator has not released it yet", nil
		case condition.Status != metav1.ConditionTrue:
			return "", fmt.Errorf("could not release %s: %s", named, condition.Message)
		}
		return "", nil
	})
	if err == nil {
		_, err = fmt.Fprintf(e.Out, "Released %s in %s: it was a copy from %s, and is an ordinary object now\n", named, namespace, source)
	}
	return err
}
