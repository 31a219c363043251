package kinds

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// Controllers write EndpointSlices with the labels of their Service, a copy's included.
func TestServicesThatAreCopiedHaveEndpointSlices(t *testing.T) {
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "services-for-propagator", Labels: map[string]string{"rbac.hnc.x-k8s.io/aggregate-to-propagator": "true"}},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"services"}, Verbs: []string{"get", "list", "watch", "create", "update", "delete"}}},
	}
	if _, err := admin.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	configure(t, "services Propagate")
	root, _, leaf := tree(t, "services")
	web := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Selector: map[string]string{"app": "web"}, Ports: []corev1.ServicePort{{Port: 80}}},
	}
	if _, err := admin.CoreV1().Services(root).Create(t.Context(), web, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	suite.EventuallyEqual(t, "EndpointSlices of the copy", "1", func() string {
		slices, err := admin.DiscoveryV1().EndpointSlices(leaf).List(t.Context(), metav1.ListOptions{LabelSelector: hnc.LabelInheritedFrom + "=" + root})
		if err != nil {
			return err.Error()
		}
		return fmt.Sprint(len(slices.Items))
	})
}
