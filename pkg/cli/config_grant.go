package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagatorroles"
)

// aggregationTimeout limits how long Kubernetes may take to aggregate a new ClusterRole.
const aggregationTimeout = 30 * time.Second

// checkPropagator returns an error if the propagator lacks permissions on the configured kind and they are not to be
// granted.
func (o *setResourceOptions) checkPropagator(ctx context.Context, c *Clients) error {
	if o.dryRun.Client() {
		return nil
	}
	mapper, err := o.factory.mapper()
	if err != nil {
		return err
	}
	found, err := kinds.OfCluster(mapper, schema.GroupVersionResource{Group: o.entry.Group, Resource: strings.ToLower(o.entry.Resource)})
	if err != nil {
		return unknownResource(o.entry.Resource, err)
	}
	resource := found.GroupResource()
	lacks, err := propagatorroles.Missing(ctx, c.Kube, resource)
	switch {
	case apierrors.IsForbidden(err) && !o.granting:
		Warnf(o.ErrOut, "whether hns-propagator has the permissions on %s is not known: missing permission: %s; if it lacks them, kubectl hns config describe shows OutOfSync, "+
			"and an administrator may grant them:\n  %s", resource, missingPermission(err), o.grantCommand())
		return nil
	case err != nil || len(lacks) == 0:
		return err
	case o.grant:
		err := o.grantPermissions(ctx, c, resource)
		if !apierrors.IsForbidden(err) || o.granting {
			return err
		}
		return &prefixedError{fmt.Sprintf("The configuration is stored%s, but hns-propagator may not %s %s, so none are propagated.\n"+
			"You may not grant these permissions. An administrator may, with this command:\n  %s",
			o.dryRun.Suffix(), strings.Join(lacks, ", "), resource, o.grantCommand()), err}
	}
	return fmt.Errorf("the configuration is stored%s, but hns-propagator may not %s %s, so none are propagated. To grant these permissions, run:\n  %s",
		o.dryRun.Suffix(), strings.Join(lacks, ", "), resource, o.grantCommand())
}

// grantCommand returns the command that stores the entry and grants the permissions.
func (o *setResourceOptions) grantCommand() string {
	kind := schema.GroupResource{Group: o.entry.Group, Resource: o.entry.Resource}
	return fmt.Sprintf("kubectl hns config set %s %s --grant", kind, cmp.Or(o.entry.Mode, v1beta1.Propagate))
}

// grantPermissions creates a ClusterRole for the kind that is aggregated into the propagator's, and waits until it
// takes effect.
func (o *setResourceOptions) grantPermissions(ctx context.Context, c *Clients, resource schema.GroupResource) error {
	role := propagatorroles.Role(resource)
	_, err := c.Kube.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{DryRun: o.dryRun.options()})
	if apierrors.IsForbidden(err) && !o.granting {
		return err
	}
	if err != nil {
		return &prefixedError{fmt.Sprintf("The configuration is stored%s, but hns-propagator could not be granted the permissions on %s:", o.dryRun.Suffix(), resource), err}
	}
	if _, err := fmt.Fprintf(o.Out, "clusterrole.%s/%s created%s\nIt allows hns-propagator to %s %s in all namespaces.\n", rbacv1.GroupName, role.Name, o.dryRun.Suffix(),
		strings.Join(hnc.PropagatorVerbs(), ", "), resource); err != nil || o.dryRun.Enabled() {
		return err
	}
	wait := &waitFlags{timeout: aggregationTimeout}
	return wait.poll(ctx, o.ErrOut, func(ctx context.Context) (string, error) {
		lacks, err := propagatorroles.Missing(ctx, c.Kube, resource)
		if err != nil || len(lacks) == 0 {
			return "", err
		}
		return fmt.Sprintf("hns-propagator may not %s %s yet: none of its ClusterRoles aggregates those with the label %s=true",
			strings.Join(lacks, ", "), resource, hnc.LabelAggregateToPropagator), nil
	})
}
