package migration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// serviceTimeout limits how long kube-apiserver may take to follow a change of an APIService.
const serviceTimeout = time.Minute

// switchServices makes the APIServices of HNC's versions lead to hns-apiserver. The Service and the authority are those
// of its own version; so are labels and annotations, by which Helm and others recognize their objects.
func (m *Migration) switchServices(ctx context.Context) error {
	own, err := m.dynamic.Resource(hnc.APIServiceResource).Get(ctx, currentService, metav1.GetOptions{})
	if err != nil {
		return err
	}
	for _, service := range []struct {
		name, group                    string
		groupPriority, versionPriority int64
	}{{hncService, hnc.GroupName, 1000, 100}, {listService, hnc.ResourcesGroupName, 10, 10}} {
		server, _, err := unstructured.NestedMap(own.Object, "spec", "service")
		if err != nil {
			return err
		}
		bundle, _, err := unstructured.NestedString(own.Object, "spec", "caBundle")
		if err != nil {
			return err
		}
		wanted := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
			"spec": map[string]any{
				"group": service.group, "version": version, "service": server, "caBundle": bundle,
				"groupPriorityMinimum": service.groupPriority, "versionPriority": service.versionPriority,
			},
		}}
		wanted.SetName(service.name)
		wanted.SetLabels(own.GetLabels())
		annotations := own.GetAnnotations()
		delete(annotations, corev1.LastAppliedConfigAnnotation)
		wanted.SetAnnotations(annotations)
		if err := m.put(ctx, wanted); err != nil {
			return err
		}
	}
	if err := m.prefer(ctx, preferred); err != nil {
		return err
	}
	return m.awaitServed(ctx, true)
}

// The priorities of the own version, above HNC's and below it. Clients that do not name a version use the one with the
// highest, and so does the deletion of a namespace.
const (
	preferred    = 200
	notPreferred = 10
)

// prefer sets the priority of the own version.
func (c *clients) prefer(ctx context.Context, priority int) error {
	patch := fmt.Appendf(nil, `{"spec":{"versionPriority":%d}}`, priority)
	_, err := c.dynamic.Resource(hnc.APIServiceResource).Patch(ctx, currentService, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
	return err
}

// put creates or replaces an APIService, in one write.
func (c *clients) put(ctx context.Context, wanted *unstructured.Unstructured) error {
	client := c.dynamic.Resource(hnc.APIServiceResource)
	for range 5 {
		current, err := client.Get(ctx, wanted.GetName(), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			wanted.SetResourceVersion("")
			_, err = client.Create(ctx, wanted, metav1.CreateOptions{FieldManager: fieldManager})
		} else if err == nil {
			wanted.SetResourceVersion(current.GetResourceVersion())
			_, err = client.Update(ctx, wanted, metav1.UpdateOptions{FieldManager: fieldManager})
		}
		if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return fmt.Errorf("apiservice %s keeps being changed by others; see its managedFields", wanted.GetName())
}

// This annotation keeps Helm from deleting an object that the next version of a release does not have: after a
// rollback, that of hns ends with besideHNC=true, and the APIServices of HNC's versions are HNC's.
const (
	helmPolicy = "helm.sh/resource-policy"
	helmKeep   = "keep"
)

// restoreServices makes HNC's definitions be served again.
func (c *clients) restoreServices(ctx context.Context, saved *backup) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{
			"labels":      map[string]any{hnc.LabelAutoManaged: "true", hnc.LabelPartOf: nil, hnc.LabelManagedBy: nil},
			"annotations": map[string]any{"meta.helm.sh/release-name": nil, "meta.helm.sh/release-namespace": nil, helmPolicy: helmKeep},
		},
		"spec": map[string]any{"service": nil, "caBundle": nil},
	})
	if err != nil {
		return err
	}
	client := c.dynamic.Resource(hnc.APIServiceResource)
	if err := c.prefer(ctx, notPreferred); err != nil {
		return err
	}
	if _, err := client.Patch(ctx, hncService, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager}); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	for _, service := range saved.APIServices {
		service = service.DeepCopy()
		annotations := service.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[helmPolicy] = helmKeep
		service.SetAnnotations(annotations)
		if err := c.put(ctx, service); err != nil {
			return err
		}
	}
	if len(saved.APIServices) == 0 {
		if err := client.Delete(ctx, listService, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return c.awaitServed(ctx, false)
}

// awaitServed returns when HNC's version is served by hns-apiserver, or by the definitions: the one configuration,
// which both have, has another identity in each.
func (c *clients) awaitServed(ctx context.Context, byServer bool) error {
	last := errors.New("not served yet")
	err := wait.PollUntilContextTimeout(ctx, 250*time.Millisecond, serviceTimeout, true, func(ctx context.Context) (bool, error) {
		last = c.served(ctx, byServer)
		return last == nil, nil
	})
	return waitError(ctx, err, "apiservice %s: after %s: %w", hncService, serviceTimeout, last)
}

// served returns an error that says why, unless HNC's version is served as awaitServed wants it.
func (c *clients) served(ctx context.Context, byServer bool) error {
	own, err := c.hierarchy.HncV1beta1().HNCConfigurations().Get(ctx, hnc.ConfigurationName, metav1.GetOptions{})
	if err != nil && (byServer || !apierrors.IsNotFound(err)) {
		return err
	}
	there := err == nil
	served, err := c.dynamic.Resource(hncResource(configurations)).Get(ctx, hnc.ConfigurationName, metav1.GetOptions{})
	if err != nil && (byServer || !apierrors.IsNotFound(err)) {
		return err
	}
	if (there && err == nil && served.GetUID() == own.UID) != byServer {
		return errors.New("the other server still answers")
	}
	return nil
}
