package migrate

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// crashing makes HNC's pods unavailable.
var crashing atomic.Bool

// runPods stands in for what runs pods: Deployments of HNC have the replicas that they want, unless they are crashing.
func runPods(t *testing.T) {
	t.Helper()
	deployments := admin.AppsV1().Deployments("hnc-system")
	go wait.UntilWithContext(t.Context(), func(ctx context.Context) {
		list, err := deployments.List(ctx, metav1.ListOptions{})
		if err != nil {
			return
		}
		for _, d := range list.Items {
			want := *d.Spec.Replicas
			if crashing.Load() {
				want = 0
			}
			if d.Status.ObservedGeneration != d.Generation || d.Status.AvailableReplicas != want {
				d.Status = appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Replicas: want, UpdatedReplicas: want, ReadyReplicas: want, AvailableReplicas: want}
				_, _ = deployments.UpdateStatus(ctx, &d, metav1.UpdateOptions{}) // The next round repeats it.
			}
		}
	}, 250*time.Millisecond)
}

// awaitsHNC runs a rollback whose Deployments of HNC become available late, and checks that its webhooks, which reject
// writes without HNC, are restored only then.
func awaitsHNC(t *testing.T, args ...string) {
	t.Helper()
	ctx := t.Context()
	crashing.Store(true)
	defer crashing.Store(false)
	suite.Eventually(t, "HNC is not available", func() error {
		list, err := admin.AppsV1().Deployments("hnc-system").List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, d := range list.Items {
			if d.Status.AvailableReplicas > 0 {
				return errors.New(d.Name + " is available")
			}
		}
		return nil
	})
	// Each Deployment is scaled by one request and looked at by one in each round.
	const rounds = 4 * 2
	waited := 0
	out, err := watched(t, func(step string) bool {
		switch {
		case step == "start":
			if waited++; waited == rounds {
				_, err := admin.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(ctx, "hnc-validating-webhook-configuration", metav1.GetOptions{})
				if !apierrors.IsNotFound(err) {
					t.Errorf("HNC's webhooks while HNC is not available: %v", err)
				}
				crashing.Store(false)
			}
		case step == "webhooks" && crashing.Load():
			t.Error("HNC's webhooks are restored before HNC is available")
			crashing.Store(false)
		}
		return true
	}, args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if waited < rounds {
		t.Errorf("the rollback has not waited for HNC: %d requests", waited)
	}
}
