package migration

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// Roles of HNC that its bindings refer to; HNC 1.0 and earlier has that of the proxy.
var hncRoles = []string{"hnc-manager-role", "hnc-proxy-role", "hnc-resourcelist", "hnc-leader-election-role"}

// leftovers are the objects of HNC's manifests that the migration leaves, by resource.
var leftovers = []struct {
	resource schema.GroupVersionResource
	// namespace is empty for resources of the whole cluster.
	namespace string
	names     []string
}{
	{schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}, hnc.HNCNamespace, deployments},
	{schema.GroupVersionResource{Version: "v1", Resource: "services"}, hnc.HNCNamespace, []string{"hnc-webhook-service", "hnc-controller-manager-metrics-service", listServer}},
	{schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, hnc.HNCNamespace, []string{"hnc-webhook-server-cert", listServer}},
	{schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"}, hnc.HNCNamespace, []string{"hnc-leader-election-role"}},
	{schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"}, "",
		[]string{"hnc-manager-role", "hnc-proxy-role", "hnc-resourcelist", "hnc-view", "hnc-edit", "hnc-admin", "hnc-admin-role"}},
}

// printLeftovers prints the commands that delete what is left of HNC. What the user may not read is left out.
func printLeftovers(ctx context.Context, m *Migration) error {
	var commands []string
	add := func(resource, namespace string, found []string) {
		if len(found) == 0 {
			return
		}
		command := "kubectl delete"
		for _, name := range found {
			// The name of a binding may look like a flag.
			command += " " + names.ShellWord(resource+"/"+name)
		}
		if namespace != "" {
			command += " -n " + namespace
		}
		commands = append(commands, command)
	}
	for _, l := range leftovers {
		var found []string
		for _, name := range l.names {
			_, err := m.dynamic.Resource(l.resource).Namespace(l.namespace).Get(ctx, name, metav1.GetOptions{})
			if err == nil {
				found = append(found, name)
			} else if !apierrors.IsNotFound(err) && !apierrors.IsForbidden(err) {
				return err
			}
		}
		add(l.resource.Resource, l.namespace, found)
	}
	var bindings []string
	if list, err := m.kube.RbacV1().RoleBindings(hnc.HNCNamespace).List(ctx, metav1.ListOptions{}); err == nil {
		for _, b := range list.Items {
			if slices.Contains(hncRoles, b.RoleRef.Name) {
				bindings = append(bindings, b.Name)
			}
		}
	}
	add("rolebindings", hnc.HNCNamespace, bindings)
	bindings = nil
	if list, err := m.kube.RbacV1().ClusterRoleBindings().List(ctx, metav1.ListOptions{}); err == nil {
		for _, b := range list.Items {
			if slices.Contains(hncRoles, b.RoleRef.Name) {
				bindings = append(bindings, b.Name)
			}
		}
	}
	add("clusterrolebindings", "", bindings)
	return m.printList("These objects of HNC have no use any more. To delete them:", commands)
}
