package cli

import (
	"context"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/ui"
)

func (r *uiReader) Access(ctx context.Context, namespace, verb, resource string) (*ui.Access, error) {
	if _, err := r.clients.namespaces.Get(ctx, namespace, metav1.GetOptions{}); err != nil {
		return nil, err
	}
	permissions, notes, err := readPermissions(ctx, r.clients, namespace)
	if err != nil {
		return nil, err
	}
	answer := &ui.Access{Notes: notes}
	switch {
	case verb == "" || resource == "":
		answer.Grants = permissions.All()
	default:
		permission, err := permissionOf(r.factory, verb, resource)
		if err != nil {
			return nil, err
		}
		var unread []string
		answer.Grants, unread = permissions.Who(permission)
		if len(unread) > 0 {
			answer.Notes = append(answer.Notes, "the rules of some ClusterRoles cannot be read: missing permission: list clusterroles."+rbacv1.GroupName+" in the whole cluster")
		}
	}
	return answer, nil
}
