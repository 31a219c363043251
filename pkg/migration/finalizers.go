package migration

import (
	"context"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/migration/each"
)

// removeFinalizers removes HNC's finalizers, which nothing else removes any more, including on kinds on which HNC sets
// none. HNC sets its own again if it is started again.
func (m *Migration) removeFinalizers(ctx context.Context) error {
	for _, resource := range hncResources {
		objects, err := m.list(ctx, hncResource(resource))
		if apierrors.IsNotFound(err) {
			continue // The variant of HNC without quotas.
		}
		if err != nil {
			return err
		}
		err = each.Of(ctx, objects, func(ctx context.Context, object *unstructured.Unstructured) error {
			kept := slices.DeleteFunc(object.GetFinalizers(), func(f string) bool { return slices.Contains(finalizers, f) })
			if len(kept) == len(object.GetFinalizers()) {
				return nil
			}
			object.SetFinalizers(kept)
			_, err := m.dynamic.Resource(hncResource(resource)).Namespace(object.GetNamespace()).Update(ctx, object, metav1.UpdateOptions{FieldManager: fieldManager})
			if apierrors.IsNotFound(err) {
				return nil
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// definitionTimeout limits how long the deletion of a definition with its objects may take.
const definitionTimeout = 5 * time.Minute

// trustHierarchies decides for hns-propagator that the imported hierarchies are right, wherever the tree labels say
// something else: HNC leaves those that users have written, and hns-propagator would wait for a decision about them.
func (m *Migration) trustHierarchies(ctx context.Context) error {
	c, err := m.hierarchy.HncV1beta1().HNCConfigurations().Get(ctx, hnc.ConfigurationName, metav1.GetOptions{})
	if err != nil {
		return err
	}
	return m.annotateSystem(ctx, map[string]any{hnc.AnnotationTrust: c.TrustDecision(hnc.TrustHierarchies)})
}

// deleteDefinitions deletes HNC's definitions with their objects, which nothing serves any more. The last one lets
// hns-propagator start.
func (m *Migration) deleteDefinitions(ctx context.Context) error {
	// HNC's own definitions would look like a complete import.
	if err := m.served(ctx, true); err != nil {
		return err
	}
	if err := m.verify(ctx); err != nil {
		return err
	}
	if err := m.state.record(ctx, hnc.MigrationDeleting, "true"); err != nil {
		return err
	}
	if err := m.trustHierarchies(ctx); err != nil {
		return err
	}
	for _, resource := range hncResources {
		name := resource + "." + hnc.GroupName
		definition, err := m.dynamic.Resource(hnc.CRDResource).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return err
		}
		if err := m.state.hold(ctx); err != nil {
			return err
		}
		// A rollback may have created another one since.
		uid := definition.GetUID()
		if err := gone(m.dynamic.Resource(hnc.CRDResource).Delete(ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})); err != nil {
			return err
		}
		err = wait.PollUntilContextTimeout(ctx, 250*time.Millisecond, definitionTimeout, true, func(ctx context.Context) (bool, error) {
			_, err := m.dynamic.Resource(hnc.CRDResource).Get(ctx, name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return true, nil
			}
			return false, err
		})
		if err := waitError(ctx, err, "customresourcedefinition %s still exists after %s; its status says why", name, definitionTimeout); err != nil {
			return err
		}
	}
	return nil
}
