package migration

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/restmapper"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/grant"
)

// grantTimeout limits how long Kubernetes may take to aggregate new ClusterRoles.
const grantTimeout = 30 * time.Second

// ungranted returns the configured kinds on which the propagator lacks rights. HNC may write all kinds. Kinds that the
// cluster does not have are left out.
func (c *clients) ungranted(ctx context.Context, resources []v1beta1.ResourceSpec) ([]schema.GroupResource, error) {
	groups, err := restmapper.GetAPIGroupResources(c.kube.Discovery())
	if err != nil {
		return nil, err
	}
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	var lacking []schema.GroupResource
	for _, r := range resources {
		if r.Mode == v1beta1.Ignore {
			continue
		}
		found, err := mapper.ResourceFor(schema.GroupVersionResource{Group: r.Group, Resource: strings.ToLower(r.Resource)})
		if err != nil {
			continue // The API server says so when the kind is imported.
		}
		missing, err := grant.Missing(ctx, c.kube, found.GroupResource())
		if err != nil {
			return nil, err
		}
		if len(missing) > 0 {
			lacking = append(lacking, found.GroupResource())
		}
	}
	return lacking, nil
}

// describeRights prints the kinds on which the propagator lacks rights, and checks that the user may grant them.
func (m *Migration) describeRights(ctx context.Context, resources []v1beta1.ResourceSpec) error {
	lacking, err := m.ungranted(ctx, resources)
	if err != nil || len(lacking) == 0 {
		return err
	}
	lines := make([]string, 0, len(lacking))
	for _, resource := range lacking {
		lines = append(lines, resource.String())
		if m.NoGrant {
			continue
		}
		_, err := m.kube.RbacV1().ClusterRoles().Create(ctx, grant.Role(resource), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("hns-propagator needs rights on %s, which you may not grant: %w\nWith --grant=false, the migration goes on, and copies of these objects stay as they are", resource, err)
		}
	}
	if m.NoGrant {
		return m.printList("hns-propagator has no rights on these kinds, so that their copies stay as they are (kubectl hns config set-resource grants them):", lines)
	}
	return m.printList("hns-propagator is granted the rights on these kinds, which HNC has propagated, before its writes are computed:", lines)
}

// grantRights gives the propagator the rights on the imported kinds, and waits until it has them.
func (m *Migration) grantRights(ctx context.Context) error {
	if m.NoGrant {
		return nil
	}
	e, err := m.exported()
	if err != nil {
		return err
	}
	all, err := m.imports(ctx, e)
	if err != nil {
		return err
	}
	lacking, err := m.ungranted(ctx, all.resources)
	if err != nil || len(lacking) == 0 {
		return err
	}
	for _, resource := range lacking {
		_, err := m.kube.RbacV1().ClusterRoles().Create(ctx, grant.Role(resource), metav1.CreateOptions{FieldManager: fieldManager})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("the rights of hns-propagator on %s: %w", resource, err)
		}
	}
	err = wait.PollUntilContextTimeout(ctx, 250*time.Millisecond, grantTimeout, true, func(ctx context.Context) (bool, error) {
		lacking, err = m.ungranted(ctx, all.resources)
		return len(lacking) == 0, err
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return fmt.Errorf("hns-propagator still lacks rights on %v after %s: none of its ClusterRoles aggregates those with the label of clusterrole %s", lacking, grantTimeout, grant.Role(lacking[0]).Name)
	}
	return err
}
