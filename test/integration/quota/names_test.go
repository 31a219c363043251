package quota

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// Resources of different names that count the same are limited each by its own limit, so the smallest holds.
func TestTheSmallestLimitOfAliasesHolds(t *testing.T) {
	tree(t, "alias-", "root", "team<root")
	limit(t, "alias-root", "q", "cpu=1 requests.cpu=300m pods=3 count/pods=2")
	wantHard(t, "alias-team", "count/pods=2 cpu=1 pods=3 requests.cpu=300m")
	pod := func(name, cpu string) error {
		_, err := admin.CoreV1().Pods("alias-team").Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{
				Name: "x", Image: "example.com/x", Resources: corev1.ResourceRequirements{Requests: limits("cpu=" + cpu)},
			}}},
		}, metav1.CreateOptions{})
		return err
	}
	beyond := func(what string, err error, limited string) {
		t.Helper()
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "exceeded quota") || !strings.Contains(err.Error(), limited) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	suite.Must(t, "a pod", func() error { return pod("a", "200m") })
	beyond("cpu", pod("b", "200m"), "limited: requests.cpu=300m")
	suite.Must(t, "a second pod", func() error { return pod("b", "100m") })
	beyond("a third pod", pod("c", "0"), "limited: count/pods=2")
	wantStatus(t, "alias-root", "q", "count/pods=2 cpu=300m pods=2 requests.cpu=300m", held)
}

// It would depend on the decoder which of the limits is in force.
func TestARepeatedLimitIsRejected(t *testing.T) {
	tree(t, "repeated-", "team")
	eve := editorIn(t, "repeated-eve", "repeated-team")
	for _, version := range []string{"v1beta1", "v1alpha2"} {
		body := fmt.Sprintf(`{"apiVersion": "hnc.x-k8s.io/%s", "kind": "HierarchicalResourceQuota", "metadata": {"name": "q"},
			"spec": {"hard": {"services": "1", "services": "4"}}}`, version)
		suite.Eventually(t, "rejecting it in "+version, func() error {
			err := send(t, eve, http.MethodPost, "application/json", version+"/namespaces/repeated-team/hierarchicalresourcequotas", body)
			if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), `duplicate field "services"; name each resource once`) {
				return fmt.Errorf("got %w", err)
			}
			return nil
		})
	}
}
