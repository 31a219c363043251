package cli

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

func TestQuotas(t *testing.T) {
	namespace(t, "budget-top", "")
	namespace(t, "budget-a", "budget-top")
	namespace(t, "budget-a1", "budget-a")
	namespace(t, "budget-b", "budget-top")
	for _, below := range []string{"budget-a1", "budget-b"} {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}}
		if _, err := kube.CoreV1().Secrets(below).Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	quota := &v1beta1.HierarchicalResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "budget", Labels: map[string]string{"team": "top"}},
		Spec: v1beta1.HierarchicalResourceQuotaSpec{Hard: hnc.ResourceList{
			corev1.ResourceSecrets: resource.MustParse("6"), corev1.ResourceLimitsCPU: resource.MustParse("2000m"),
		}},
	}
	if _, err := hierarchies.HncV1beta1().HierarchicalResourceQuotas("budget-top").Create(t.Context(), quota, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s := newScript(t, root)
	s.until("secrets: 2/6", "quota", "-n", "budget-top")
	s.run("quota", "budget", "-n", "budget-top", "--show-labels")
	s.until("budget-b ", "quota", "-n", "budget-top", "--tree")
	s.run("quota", "-n", "budget-top", "-o", "name")
	s.run("quota", "-A", "-o", "name")
	s.run("hrq", "-n", "budget-a")
	s.run("quota", "none", "-n", "budget-top")
	s.run("quota", "--tree", "--show-labels")
	s.run("__complete", "quota", "-n", "budget-top", "b")
	bind(t, "budget-a", "view")
	s.as("alice", alice)
	s.run("quota", "-n", "budget-a")
	s.run("quota", "-n", "budget-top", "--tree")
}
