package cli

import (
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/diagnosis"
)

// The freeze of a migration can be all that is left of it.
func TestAFreezeWithoutAMigration(t *testing.T) {
	c, _, _ := testCluster(t, nil)
	c.Kube = fake.NewClientset()
	if err := noMigration(t.Context(), c); err != nil {
		t.Errorf("without a freeze: %v", err)
	}
	c.Kube = fake.NewClientset(&admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: hnc.MigrationPolicy}})
	if err := noMigration(t.Context(), c); err == nil || !strings.Contains(err.Error(), "kubectl delete validatingadmissionpolicybinding migration.hnc.x-k8s.io migration-copies.hnc.x-k8s.io, and repeat") {
		t.Errorf("uninstall: %v", err)
	}
	o := &doctorOptions{clients: c}
	if o.checkMigration(t.Context(), nil) || len(o.findings) != 1 || o.findings[0] != diagnosis.Frozen {
		t.Errorf("doctor: %v", o.findings)
	}
}
