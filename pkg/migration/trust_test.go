package migration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	hierarchyfake "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/fake"
)

// Labels that HNC has left must not have hns-propagator wait; a rollback takes the decision back.
func TestTheImportedHierarchiesAreTrusted(t *testing.T) {
	c := &v1beta1.HNCConfiguration{ObjectMeta: metav1.ObjectMeta{Name: hnc.ConfigurationName, UID: "uid"}}
	m := &Migration{clients: &clients{
		kube:      fake.NewClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: hnc.SystemNamespace, Annotations: map[string]string{hnc.AnnotationStore: "uid"}}}),
		hierarchy: hierarchyfake.NewSimpleClientset(c),
	}}
	annotations := func() map[string]string {
		ns, err := m.kube.CoreV1().Namespaces().Get(t.Context(), hnc.SystemNamespace, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return ns.Annotations
	}
	if err := m.trustHierarchies(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := annotations()[hnc.AnnotationTrust]; got != c.TrustDecision(hnc.TrustHierarchies) {
		t.Errorf("the decision is %q", got)
	}
	if err := m.forgetStore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := annotations(); len(got) > 0 {
		t.Errorf("after a rollback: %v", got)
	}
}
