package migration

import (
	"context"
	"fmt"
	"strings"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/restmapper"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/migration/each"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagatorroles"
)

// grantTimeout limits how long Kubernetes may take to aggregate new ClusterRoles.
const grantTimeout = 30 * time.Second

// labelGranted marks the ClusterRoles that a migration has created.
const labelGranted = "migration." + hnc.GroupName + "/granted"

// kindsOf returns the configured kinds that are propagated. Kinds that the cluster does not have are left out: the API
// server says so when they are imported.
func (c *clients) kindsOf(resources []v1beta1.ResourceSpec) ([]schema.GroupResource, error) {
	groups, err := restmapper.GetAPIGroupResources(c.kube.Discovery())
	if err != nil {
		return nil, err
	}
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	var kinds []schema.GroupResource
	for _, r := range resources {
		if r.Mode == v1beta1.Ignore {
			continue
		}
		if found, err := mapper.ResourceFor(schema.GroupVersionResource{Group: r.Group, Resource: strings.ToLower(r.Resource)}); err == nil {
			kinds = append(kinds, found.GroupResource())
		}
	}
	return kinds, nil
}

// ungranted returns the kinds on which the propagator lacks permissions. HNC may write all kinds.
func (c *clients) ungranted(ctx context.Context, kinds []schema.GroupResource) ([]schema.GroupResource, error) {
	var lacking []schema.GroupResource
	for _, kind := range kinds {
		missing, err := propagatorroles.Missing(ctx, c.kube, kind)
		if err != nil {
			return nil, err
		}
		if len(missing) > 0 {
			lacking = append(lacking, kind)
		}
	}
	return lacking, nil
}

// describePermissions prints the kinds on which the propagator lacks permissions, and checks that the user may grant
// them.
func (m *Migration) describePermissions(ctx context.Context, resources []v1beta1.ResourceSpec) error {
	kinds, err := m.kindsOf(resources)
	if err != nil {
		return err
	}
	lacking, err := m.ungranted(ctx, kinds)
	if err != nil || len(lacking) == 0 {
		return err
	}
	lines := make([]string, 0, len(lacking))
	for _, resource := range lacking {
		lines = append(lines, resource.String())
		if m.NoGrant {
			continue
		}
		_, err := m.kube.RbacV1().ClusterRoles().Create(ctx, propagatorroles.Role(resource), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("hns-propagator needs permissions on %s, which you may not grant: %w\nWith --grant=false, the migration continues, and copies of these objects stay as they are", resource, err)
		}
	}
	if m.NoGrant {
		return m.printList("hns-propagator has no permissions on these kinds, so that their copies stay as they are (kubectl hns config set grants them):", lines)
	}
	return m.printList("hns-propagator is granted the permissions on these kinds, which HNC has propagated, before its writes are computed:", lines)
}

// grantPermissions gives the propagator the permissions on the imported kinds, and waits until it has them.
func (m *Migration) grantPermissions(ctx context.Context) error {
	if m.NoGrant {
		return nil
	}
	e, err := m.exported(ctx)
	if err != nil {
		return err
	}
	all, err := m.imports(ctx, e)
	if err != nil {
		return err
	}
	kinds, err := m.kindsOf(all.resources)
	if err != nil {
		return err
	}
	lacking, err := m.ungranted(ctx, kinds)
	if err != nil || len(lacking) == 0 {
		return err
	}
	for _, resource := range lacking {
		role := propagatorroles.Role(resource)
		role.Labels[labelGranted] = "true"
		_, err := m.kube.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{FieldManager: fieldManager})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("the permissions of hns-propagator on %s: %w", resource, err)
		}
	}
	err = wait.PollUntilContextTimeout(ctx, 250*time.Millisecond, grantTimeout, true, func(ctx context.Context) (bool, error) {
		lacking, err = m.ungranted(ctx, kinds)
		return len(lacking) == 0, err
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return fmt.Errorf("hns-propagator still lacks permissions on %v after %s: none of its ClusterRoles aggregates those with the label of clusterrole %s", lacking, grantTimeout, propagatorroles.Role(lacking[0]).Name)
	}
	return err
}

// revokePermissions deletes the ClusterRoles that the migration has created.
func (c *clients) revokePermissions(ctx context.Context) error {
	roles, err := c.kube.RbacV1().ClusterRoles().List(ctx, metav1.ListOptions{LabelSelector: labelGranted + "=true"})
	if err != nil {
		return err
	}
	return each.Of(ctx, roles.Items, func(ctx context.Context, role rbacv1.ClusterRole) error {
		return gone(c.kube.RbacV1().ClusterRoles().Delete(ctx, role.Name, metav1.DeleteOptions{}))
	})
}
