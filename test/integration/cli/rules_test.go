package cli

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// What is explained is what the servers do, whose flags are not the default.
func TestExplainByTheFlagsOfTheServers(t *testing.T) {
	namespace(t, "flags", "")
	propagation(t, "flags", v1beta1.ResourceSpec{Resource: "configmaps"})
	subnamespace(t, "flags-a", "flags")
	namespace(t, "xcluded", "")
	removed(t, "xcluded")
	for name, label := range map[string]string{"stays": "example.com/stays=here", "goes": "cattle.io/creator=norman"} {
		set, err := metav1.ParseToLabelSelector(label)
		if err != nil {
			t.Fatal(err)
		}
		c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: set.MatchLabels}}
		if _, err := kube.CoreV1().ConfigMaps("flags").Create(t.Context(), c, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	waitForConfigMap(t, "flags-a", "goes")
	s := newScript(t, root)
	s.run("why", "cm/stays", "-n", "flags-a")
	s.run("why", "cm/goes", "-n", "flags-a")
	s.run("why", "cm/stays", "-n", "xcluded")
	s.run("describe", "xcluded")
}
