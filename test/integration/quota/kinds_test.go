package quota

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

func TestPodsOfReplicaSetsAreLimitedOverTheSubtree(t *testing.T) {
	tree(t, "sets-", "root", "a<root", "b<root")
	limit(t, "sets-root", "q", "pods=5 requests.cpu=1")
	for _, namespace := range []string{"sets-a", "sets-b"} {
		wantHard(t, namespace, "pods=5 requests.cpu=1")
		labels := map[string]string{"app": "x"}
		set := &appsv1.ReplicaSet{
			ObjectMeta: metav1.ObjectMeta{Name: "x"},
			Spec: appsv1.ReplicaSetSpec{
				Replicas: ptr.To[int32](4), Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels},
					Spec: corev1.PodSpec{Containers: []corev1.Container{{
						Name: "x", Image: "example.com/x", Resources: corev1.ResourceRequirements{Requests: limits("cpu=100m")},
					}}},
				},
			},
		}
		if _, err := admin.AppsV1().ReplicaSets(namespace).Create(t.Context(), set, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	wantStatus(t, "sets-root", "q", "pods=5 requests.cpu=500m", held)
	if err := admin.AppsV1().ReplicaSets("sets-a").Delete(t.Context(), "x", metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}); err != nil {
		t.Fatal(err)
	}
	// No kubelet ends the pods, and none was scheduled, so they are deleted at once. The other ReplicaSet gets what
	// they have used.
	wantStatus(t, "sets-root", "q", "pods=4 requests.cpu=400m", held)
	wantNamespaces(t, "sets-root", "q", "sets-b: pods=4 requests.cpu=400m")
}

func TestClaimsServicesAndCountsAreLimitedOverTheSubtree(t *testing.T) {
	tree(t, "claims-", "root", "a<root", "b<root")
	limit(t, "claims-root", "q", "persistentvolumeclaims=1 requests.storage=10Gi services.nodeports=1 count/deployments.apps=1")
	create := map[string]func(namespace, name string) error{
		"claim": func(namespace, name string) error {
			claim := &corev1.PersistentVolumeClaim{
				ObjectMeta: metav1.ObjectMeta{Name: name},
				Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					Resources:   corev1.VolumeResourceRequirements{Requests: limits("storage=6Gi")},
				},
			}
			_, err := admin.CoreV1().PersistentVolumeClaims(namespace).Create(t.Context(), claim, metav1.CreateOptions{})
			return err
		},
		"service": func(namespace, name string) error {
			service := &corev1.Service{
				ObjectMeta: metav1.ObjectMeta{Name: name},
				Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80}}},
			}
			_, err := admin.CoreV1().Services(namespace).Create(t.Context(), service, metav1.CreateOptions{})
			return err
		},
		"deployment": func(namespace, name string) error {
			labels := map[string]string{"app": "x"}
			deployment := &appsv1.Deployment{
				ObjectMeta: metav1.ObjectMeta{Name: name},
				Spec: appsv1.DeploymentSpec{
					Replicas: ptr.To[int32](0), Selector: &metav1.LabelSelector{MatchLabels: labels},
					Template: corev1.PodTemplateSpec{
						ObjectMeta: metav1.ObjectMeta{Labels: labels},
						Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "x", Image: "example.com/x"}}},
					},
				},
			}
			_, err := admin.AppsV1().Deployments(namespace).Create(t.Context(), deployment, metav1.CreateOptions{})
			return err
		},
	}
	const hard = "count/deployments.apps=1 persistentvolumeclaims=1 requests.storage=10Gi services.nodeports=1"
	wantHard(t, "claims-a", hard)
	wantHard(t, "claims-b", hard)
	for what, f := range create {
		suite.Must(t, what, func() error { return f("claims-a", "x") })
	}
	wantStatus(t, "claims-root", "q", "count/deployments.apps=1 persistentvolumeclaims=1 requests.storage=6Gi services.nodeports=1", held)
	for what, f := range create {
		if err := f("claims-b", "x"); !apierrors.IsForbidden(err) {
			t.Errorf("a second %s in the subtree: %v", what, err)
		}
	}
}

func TestUseBeforeAQuotaIsToleratedAndCounted(t *testing.T) {
	tree(t, "before-", "root", "leaf<root")
	createSecrets(t, "before-leaf", "a", "b", "c")
	limit(t, "before-root", "q", "secrets=2")
	wantStatus(t, "before-root", "q", "secrets=3", exceed)
	if err := createSecret(t, "before-root", "d"); !apierrors.IsForbidden(err) {
		t.Errorf("beyond the limit: %v", err)
	}
	for _, name := range []string{"a", "b"} {
		if err := admin.CoreV1().Secrets("before-leaf").Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	wantStatus(t, "before-root", "q", "secrets=1", held)
	createSecrets(t, "before-root", "d")
	wantStatus(t, "before-root", "q", "secrets=2", held)
}
