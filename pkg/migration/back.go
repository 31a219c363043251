package migration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/admissionpolicy"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/migration/each"
)

// The way back when HNC's definitions are deleted: HNC gets what the export has, and hns waits beside it, as before the
// migration.

// back goes back to what the export has.
func (m *Migration) back(ctx context.Context) error {
	if err := m.checkServer(ctx); err != nil {
		return err
	}
	e, err := m.exported(ctx)
	if err != nil {
		return err
	}
	if m.state == nil || m.state.stored.Data[hnc.MigrationRollingBack] == "" {
		if err := m.describeChanges(ctx, e); err != nil {
			return err
		}
	}
	return m.undo(ctx, []step{
		{"freeze", "reject changes of the hierarchies by others", m.freezeAgain},
		{"save", "write what hns-apiserver has to a file beside " + m.File, m.saveOwn},
		{"policies", "remove the admission policies, which reject HNC's writes", m.removePolicies},
		{"stop", "stop hns-propagator and hns-sync", m.stopOwn},
		{"quotas", "delete the ResourceQuotas of quotas with scopes, which HNC does not have", m.removeScopedQuotas},
		{"definitions", "create HNC's definitions", m.createDefinitions},
		{"switch", "serve " + hnc.GroupName + "/" + version + " from HNC's definitions", func(ctx context.Context) error { return m.restoreServices(ctx, &m.state.backup) }},
		{"objects", "create HNC's objects as they are in " + m.File, m.createObjects},
		// From here on, hns-propagator waits if it is started.
		{"forget", "make hns-propagator wait for another migration", m.forgetStore},
		{"import", "remove the hierarchies from hns-apiserver", m.reset},
		{"start", "start HNC, and hns-propagator, which waits", func(ctx context.Context) error {
			if err := m.start(ctx, &m.state.backup); err != nil {
				return err
			}
			return gone(m.scaleIn(ctx, hnc.SystemNamespace, hnc.PropagatorName, max(m.state.backup.Propagator, 1)))
		}},
		{"webhooks", "restore HNC's webhooks", func(ctx context.Context) error { return m.restoreWebhooks(ctx, &m.state.backup) }},
		{"unfreeze", "allow changes again", m.unfreeze},
	})
}

// beginBack records the way back after a completed migration, by its export.
func (m *Migration) beginBack(ctx context.Context) (*state, error) {
	e, err := m.exported(ctx)
	if err != nil {
		return nil, err
	}
	saved := backup{Replicas: e.Replicas, Rules: e.Rules, APIServices: e.of("APIService")}
	for _, kind := range []string{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"} {
		saved.Webhooks = append(saved.Webhooks, e.of(kind)...)
	}
	if len(saved.Replicas) == 0 {
		saved.Replicas = map[string]int64{deployments[0]: 1}
	}
	if saved.Propagator, err = m.replicas(ctx, hnc.SystemNamespace, hnc.PropagatorName); err != nil {
		return nil, err
	}
	return storeState(ctx, m.clients, saved, map[string]string{hnc.MigrationDeleting: "true", hnc.MigrationRollingBack: "true", keyDigest: e.digest})
}

// removePolicies deletes the installed admission policies, except for the one that bounds hns-propagator, and the
// webhook of quotas.
func (m *Migration) removePolicies(ctx context.Context) error {
	client, options := m.kube.AdmissionregistrationV1(), metav1.ListOptions{LabelSelector: hnc.SelectorPartOf}
	bindings, err := client.ValidatingAdmissionPolicyBindings().List(ctx, options)
	if err != nil {
		return err
	}
	for _, o := range bindings.Items {
		if o.Name == admissionpolicy.Propagator {
			continue
		}
		err = errors.Join(err, gone(client.ValidatingAdmissionPolicyBindings().Delete(ctx, o.Name, metav1.DeleteOptions{})))
	}
	mutating, listed := client.MutatingAdmissionPolicyBindings().List(ctx, options)
	if err := errors.Join(err, listed); err != nil {
		return err
	}
	for _, o := range mutating.Items {
		err = errors.Join(err, gone(client.MutatingAdmissionPolicyBindings().Delete(ctx, o.Name, metav1.DeleteOptions{})))
	}
	webhooks, listed := client.ValidatingWebhookConfigurations().List(ctx, options)
	if err := errors.Join(err, listed); err != nil {
		return err
	}
	for _, o := range webhooks.Items {
		err = errors.Join(err, gone(client.ValidatingWebhookConfigurations().Delete(ctx, o.Name, metav1.DeleteOptions{})))
	}
	return err
}

// createDefinitions creates HNC's definitions, and waits until they are established.
func (m *Migration) createDefinitions(ctx context.Context) error {
	e, err := m.exported(ctx)
	if err != nil {
		return err
	}
	client := m.dynamic.Resource(hnc.CRDResource)
	for _, definition := range e.of("CustomResourceDefinition") {
		served := false
		err := wait.PollUntilContextTimeout(ctx, 250*time.Millisecond, serviceTimeout, true, func(ctx context.Context) (bool, error) {
			found, err := client.Get(ctx, definition.GetName(), metav1.GetOptions{})
			switch {
			case apierrors.IsNotFound(err):
				if _, err = client.Create(ctx, definition, metav1.CreateOptions{FieldManager: fieldManager}); apierrors.IsAlreadyExists(err) {
					err = nil
				}
				return false, err
			case err != nil:
				return false, err
			case found.GetDeletionTimestamp() != nil:
				// Its objects can be read, and their finalizers removed, when the definition is served again.
				if !served {
					if err := m.restoreServices(ctx, &m.state.backup); err != nil {
						return false, err
					}
					served = true
				}
				return false, m.checkDeletion(ctx, definition.GetName())
			}
			return established(found), nil
		})
		if err := waitError(ctx, err, "customresourcedefinition %s is not established after %s; its status says why", definition.GetName(), serviceTimeout); err != nil {
			return err
		}
	}
	return nil
}

// checkDeletion returns an error if objects with finalizers keep a definition from being deleted.
func (m *Migration) checkDeletion(ctx context.Context, definition string) error {
	resource, _, _ := strings.Cut(definition, ".")
	objects, err := m.list(ctx, hncResource(resource))
	if err != nil {
		return gone(err)
	}
	var keeping []string
	for _, o := range objects {
		if len(o.GetFinalizers()) > 0 {
			keeping = append(keeping, fmt.Sprintf("%s: %s", keyOf(resource, o.GetNamespace(), o.GetName()), strings.Join(o.GetFinalizers(), ", ")))
		}
	}
	if len(keeping) > 0 {
		return fmt.Errorf("customresourcedefinition %s is being deleted, and objects with finalizers keep it; remove these finalizers:\n  %s", definition, bullets(keeping))
	}
	return nil
}

func established(definition *unstructured.Unstructured) bool {
	conditions, _, err := unstructured.NestedSlice(definition.Object, "status", "conditions")
	return err == nil && slices.ContainsFunc(conditions, func(c any) bool {
		condition, ok := c.(map[string]any)
		return ok && condition["type"] == "Established" && condition["status"] == "True"
	})
}

// createObjects creates HNC's objects as they are in the export, except for those whose namespaces no longer exist or
// were created again.
func (m *Migration) createObjects(ctx context.Context) error {
	e, err := m.exported(ctx)
	if err != nil {
		return err
	}
	r, err := m.restoration(ctx, e)
	if err != nil {
		return err
	}
	var leftOut []string
	for kind, resource := range hncKinds {
		objects, lines := r.kept(kind)
		leftOut = append(leftOut, lines...)
		if err := each.Of(ctx, objects, func(ctx context.Context, o *unstructured.Unstructured) error {
			return m.restoreObject(ctx, resource, o)
		}); err != nil {
			return err
		}
	}
	slices.Sort(leftOut)
	return m.printList("Not restored:", leftOut)
}

// restoreObject creates an object of the export, or gives the existing one its spec. HNC sets finalizers and status.
func (m *Migration) restoreObject(ctx context.Context, resource string, exported *unstructured.Unstructured) error {
	wanted := withoutServerFields(exported)
	wanted.SetFinalizers(nil)
	delete(wanted.Object, "status")
	if wanted.Object["spec"] == nil {
		wanted.Object["spec"] = map[string]any{}
	}
	client := m.dynamic.Resource(hncResource(resource)).Namespace(wanted.GetNamespace())
	return wait.PollUntilContextTimeout(ctx, 250*time.Millisecond, serviceTimeout, true, func(ctx context.Context) (bool, error) {
		_, err := client.Create(ctx, wanted, metav1.CreateOptions{FieldManager: fieldManager})
		if apierrors.IsAlreadyExists(err) {
			var current *unstructured.Unstructured
			if current, err = client.Get(ctx, wanted.GetName(), metav1.GetOptions{}); err == nil {
				current.Object["spec"] = wanted.Object["spec"]
				_, err = client.Update(ctx, current, metav1.UpdateOptions{FieldManager: fieldManager})
			}
		}
		// The definition may not be served by each API server yet.
		if apierrors.IsNotFound(err) || apierrors.IsConflict(err) || apierrors.IsServiceUnavailable(err) {
			return false, nil
		}
		return err == nil, err
	})
}

// forgetStore removes the record that hierarchies were propagated, or are to be: hns-propagator waits while HNC's
// definitions exist.
func (m *Migration) forgetStore(ctx context.Context) error {
	return m.annotateSystem(ctx, map[string]any{hnc.AnnotationStore: nil, hnc.AnnotationTrust: nil})
}

// annotateSystem sets annotations of the system namespace; nil removes one.
func (m *Migration) annotateSystem(ctx context.Context, annotations map[string]any) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	if err != nil {
		return err
	}
	_, err = m.kube.CoreV1().Namespaces().Patch(ctx, hnc.SystemNamespace, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
	return err
}
