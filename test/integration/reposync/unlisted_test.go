package reposync

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

const binding = `apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: %s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: nobody}]
`

// TestUnlistedKindsDoNotEndPruning commits a kind that the account may not list, and removes RoleBindings while it is
// there and after it has been reverted.
func TestUnlistedKindsDoNotEndPruning(t *testing.T) {
	const first, second, lease = "namespaces/unlisted-shop/first.yaml", "namespaces/unlisted-shop/second.yaml", "namespaces/unlisted-shop/lease.yaml"
	r := newRepository(t, with(with(namespace("unlisted-shop"), first, fmt.Sprintf(binding, "first")), second, fmt.Sprintf(binding, "second")))
	spec := r.spec()
	spec.ServiceAccount.Name = unlisting
	start(t, "unlisted", spec)
	synced(t, "unlisted", r.head(t))
	gone := func(name string) {
		t.Helper()
		suite.Eventually(t, name+" is deleted", func() error {
			_, err := admin.RbacV1().RoleBindings("unlisted-shop").Get(t.Context(), name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return nil
			}
			return fmt.Errorf("it exists: %w", err)
		})
	}
	r.commit(t, map[string]string{lease: "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: lease}\n", first: ""})
	failing(t, "unlisted", hnc.ReasonApplyFailed, "cannot watch leases.coordination.k8s.io")
	gone("first")
	synced(t, "unlisted", r.commit(t, map[string]string{lease: ""}))
	s, err := admin.HNC.HncV1alpha3().RepositorySyncs().Get(t.Context(), "unlisted", metav1.GetOptions{})
	if err != nil || strings.Contains(fmt.Sprint(s.Status.Kinds), "leases") {
		t.Errorf("the kind is still looked for: %v, %v", s, err)
	}
	synced(t, "unlisted", r.commit(t, map[string]string{second: ""}))
	gone("second")
}
