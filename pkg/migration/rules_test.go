package migration

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// The two Deployments of HNC's variant ha have the same arguments, and those of its proxy are not HNC's.
func TestRulesOfSeveralDeployments(t *testing.T) {
	deployment := func(name string, args ...string) *appsv1.Deployment {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: hnc.HNCNamespace, Name: name}}
		d.Spec.Template.Spec.Containers = []corev1.Container{
			{Name: "kube-rbac-proxy", Args: []string{"--secure-listen-address=0.0.0.0:8443", "--logtostderr=true", "--v=10"}},
			{Name: "manager", Args: append(args, "--excluded-namespace=kube-system", "--excluded-namespace=monitoring", `--managed-namespace-label=example\.com/.*`,
				"--nopropagation-label=cattle.io/creator=norman", "--unpropagated-annotation=example.com/checksum")},
		}
		return d
	}
	c := &clients{kube: fake.NewClientset(deployment(deployments[0]), deployment(deployments[1], "--webhooks-only"))}
	rules, err := c.rulesOfHNC(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"kube-system", "monitoring", hnc.HNCNamespace, hnc.SystemNamespace}; !slices.Equal(rules.ExcludedNamespaces, want) {
		t.Errorf("the excluded namespaces are %v, want %v", rules.ExcludedNamespaces, want)
	}
	if want := []string{`example\.com/.*`}; !slices.Equal(rules.ManagedNamespaceLabels, want) {
		t.Errorf("the managed labels are %v, want %v", rules.ManagedNamespaceLabels, want)
	}
	if want := []string{"example.com/checksum"}; !slices.Equal(rules.DroppedAnnotations, want) {
		t.Errorf("the annotations that are dropped are %v, want %v", rules.DroppedAnnotations, want)
	}
	if got := rules.SkippedObjects; len(got) != 1 || got[0].MatchLabels["cattle.io/creator"] != "norman" {
		t.Errorf("the selectors of skipped objects are %v, want one", got)
	}
}
