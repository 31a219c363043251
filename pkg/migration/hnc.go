package migration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// stopTimeout limits how long HNC's pods may take to stop.
const stopTimeout = 2 * time.Minute

// startTimeout limits how long HNC's pods may take to be available; their image may have to be pulled.
const startTimeout = 5 * time.Minute

// checkHNC requires HNC to run in its namespace, where the migration stops it. Its arguments become rules, and a
// rollback starts what runs now: if a migration has stopped HNC and its state is lost, this check fails.
func (c *clients) checkHNC(ctx context.Context) error {
	now, err := c.current(ctx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(controllers, func(name string) bool { return now.Replicas[name] > 0 }) {
		return fmt.Errorf("HNC does not run in namespace %s: no Deployment %s there has replicas; the migration reads its arguments, stops it, and starts it in a rollback. "+
			"Install HNC there by its manifests, which keep its objects, or scale the Deployment to one replica", hnc.HNCNamespace, strings.Join(controllers, " or "))
	}
	for _, configuration := range now.Webhooks {
		webhooks, _, err := unstructured.NestedSlice(configuration.Object, "webhooks")
		if err != nil {
			return err
		}
		for _, webhook := range webhooks {
			object, _ := webhook.(map[string]any)
			namespace, found, err := unstructured.NestedString(object, "clientConfig", "service", "namespace")
			if err != nil {
				return err
			}
			if found && namespace != hnc.HNCNamespace {
				return fmt.Errorf("the webhooks of %s lead to namespace %q, so that HNC runs there, and the migration would not stop it; delete its Deployment there, and install HNC in namespace %s by its manifests, which keep its objects",
					configuration.GetName(), namespace, hnc.HNCNamespace)
			}
		}
	}
	return nil
}

// removeWebhooks deletes HNC's webhook configurations, which reject all writes when HNC does not run. The state has a
// backup of them.
func (c *clients) removeWebhooks(ctx context.Context) error {
	return errors.Join(
		gone(c.dynamic.Resource(validatingResource).Delete(ctx, validatingWebhooks, metav1.DeleteOptions{})),
		gone(c.dynamic.Resource(mutatingResource).Delete(ctx, mutatingWebhooks, metav1.DeleteOptions{})))
}

// restoreWebhooks creates HNC's webhook configurations again.
func (c *clients) restoreWebhooks(ctx context.Context, saved *backup) error {
	for _, object := range saved.Webhooks {
		resource := validatingResource
		if object.GetKind() == "MutatingWebhookConfiguration" {
			resource = mutatingResource
		}
		if _, err := c.dynamic.Resource(resource).Create(ctx, object, metav1.CreateOptions{FieldManager: fieldManager}); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

// stop scales HNC's Deployments to zero, and waits until their pods are gone: HNC must not see what follows. The server
// of lists goes on, because the APIService still leads to it.
func (c *clients) stop(ctx context.Context) error {
	for _, name := range controllers {
		if err := c.scale(ctx, name, 0); err != nil {
			return err
		}
	}
	var running []string
	err := wait.PollUntilContextTimeout(ctx, time.Second, stopTimeout, true, func(ctx context.Context) (bool, error) {
		pods, err := c.kube.CoreV1().Pods(hnc.HNCNamespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		running = nil
		for _, pod := range pods.Items {
			if strings.HasPrefix(pod.Name, "hnc-controller-manager") && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
				running = append(running, pod.Name)
			}
		}
		return len(running) == 0, nil
	})
	return waitError(ctx, err, "after %s these pods of HNC still run: %s; delete them", stopTimeout, strings.Join(running, ", "))
}

// start scales HNC's Deployments to what they were, and waits until HNC answers: with its webhooks and without HNC, the
// cluster rejects every write that they cover.
func (c *clients) start(ctx context.Context, saved *backup) error {
	for name, replicas := range saved.Replicas {
		if err := c.scale(ctx, name, replicas); err != nil {
			return err
		}
	}
	var waiting []string
	found := 0
	err := wait.PollUntilContextTimeout(ctx, time.Second, startTimeout, true, func(ctx context.Context) (bool, error) {
		waiting, found = nil, 0
		for _, name := range slices.Sorted(maps.Keys(saved.Replicas)) {
			deployment, err := c.kube.AppsV1().Deployments(hnc.HNCNamespace).Get(ctx, name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				continue
			}
			if err != nil {
				return false, err
			}
			found++
			if saved.Replicas[name] > 0 && (deployment.Status.ObservedGeneration < deployment.Generation || deployment.Status.AvailableReplicas == 0) {
				waiting = append(waiting, name)
			}
		}
		return len(waiting) == 0, nil
	})
	err = waitError(ctx, err, "after %s these Deployments in %s have no available pod: %s; see why: kubectl describe pods -n %s. "+
		"The webhooks, which would reject every write without HNC, are not restored yet", startTimeout, hnc.HNCNamespace, strings.Join(waiting, ", "), hnc.HNCNamespace)
	if err == nil && found == 0 && len(saved.Replicas) > 0 {
		return fmt.Errorf("namespace %s has no Deployment of HNC; install HNC by its manifests or its chart, which start it", hnc.HNCNamespace)
	}
	return err
}

// scale sets the replicas of a Deployment of HNC, if it exists.
func (c *clients) scale(ctx context.Context, name string, replicas int64) error {
	return gone(c.scaleIn(ctx, hnc.HNCNamespace, name, replicas))
}

// scaleIn sets the replicas of a Deployment.
func (c *clients) scaleIn(ctx context.Context, namespace, name string, replicas int64) error {
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"replicas": replicas}})
	if err != nil {
		return err
	}
	_, err = c.kube.AppsV1().Deployments(namespace).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager}, "scale")
	return err
}

// replicas returns how many replicas a Deployment wants, zero if it does not exist.
func (c *clients) replicas(ctx context.Context, namespace, name string) (int64, error) {
	scale, err := c.kube.AppsV1().Deployments(namespace).GetScale(ctx, name, metav1.GetOptions{})
	if err != nil {
		return 0, gone(err)
	}
	return int64(scale.Spec.Replicas), nil
}
