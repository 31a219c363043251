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
	for _, left := range []string{hnc.MigrationPolicy, hnc.MigrationCopiesPolicy} {
		c.Kube = fake.NewClientset(&admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: left}})
		if err := noMigration(t.Context(), c); err == nil || !strings.Contains(err.Error(), diagnosis.Frozen.Hint+", and repeat") {
			t.Errorf("uninstall with %s: %v", left, err)
		}
		o := &doctorOptions{clients: c}
		if o.checkMigration(t.Context(), nil) || len(o.findings) != 1 || o.findings[0] != diagnosis.Frozen {
			t.Errorf("doctor with %s: %v", left, o.findings)
		}
	}
}
