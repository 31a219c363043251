package controlplane

import (
	"context"
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// aggregated returns an error unless the ClusterRole admin has the permissions of editors on our API, if those are
// installed. kube-controller-manager aggregates edit first, and admin from that, so admins would have a part of their
// permissions for a while.
func (cp *ControlPlane) aggregated(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(cp.admin)
	if err != nil {
		return err
	}
	ours, err := client.RbacV1().ClusterRoles().Get(ctx, "hns-aggregate-to-edit", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	admin, err := client.RbacV1().ClusterRoles().Get(ctx, "admin", metav1.GetOptions{})
	if err != nil {
		return err
	}
	for _, rule := range ours.Rules {
		if !slices.ContainsFunc(admin.Rules, func(r rbacv1.PolicyRule) bool { return equality.Semantic.DeepEqual(r, rule) }) {
			return fmt.Errorf("the ClusterRole admin lacks a rule of %s", ours.Name)
		}
	}
	return nil
}
