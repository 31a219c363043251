package migrate

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// violator is a sub-namespace of the root, with a pod that the root's level of Pod Security does not allow.
const violator = "team-002"

func violate(t *testing.T) {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "hostly"}, Spec: corev1.PodSpec{
		HostNetwork: true, AutomountServiceAccountToken: ptr.To(false), Containers: []corev1.Container{{Name: "main", Image: "main"}},
	}}
	suite.Eventually(t, "the pod is created", func() error {
		_, err := admin.CoreV1().Pods(violator).Create(t.Context(), pod, metav1.CreateOptions{})
		return err
	})
}

// previews checks that the preview says what is rewritten in copies, and what Pod Security labels do.
func previews(t *testing.T, out string) {
	t.Helper()
	for _, want := range []string{
		"annotation kubectl.kubernetes.io/last-applied-configuration removed: ",
		"--strip-tracking-metadata=false",
		"label pod-security.kubernetes.io/enforce=baseline set: ",
		"warning: namespaces " + violator + ": existing pods in namespace",
		"hostly: host namespaces",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the preview does not have %q:\n%s", want, out)
		}
	}
}
