package migration

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/migration/each"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/migration/release"
)

// Rollback undoes a migration: HNC serves its objects, with its webhooks, as before. When HNC's definitions are
// deleted, it needs the export. It can be repeated.
func (m *Migration) Rollback(ctx context.Context) error {
	if err := m.checkPermissions(ctx); err != nil {
		return err
	}
	var err error
	if m.state, err = loadState(ctx, m.clients); err != nil {
		return err
	}
	there, err := m.definitionsExist(ctx)
	if err != nil {
		return err
	}
	// After a migration, HNC's definitions may be there again, without its objects: charts and GitOps create them.
	migrated, err := m.propagated(ctx)
	if err != nil {
		return err
	}
	fromExport := m.state == nil && (migrated || !there) || m.state != nil && m.state.stored.Data[hnc.MigrationDeleting] != ""
	switch {
	case m.state == nil && !fromExport:
		return m.printf("No migration is under way.\n")
	case fromExport && m.File == "":
		return errors.New("HNC's objects do not exist any more; to go back to what HNC had, name the export of the migration by --export")
	case !fromExport && !there:
		return fmt.Errorf("customresourcedefinition %s.%s does not exist, so there is nothing to return to", hierarchyConfigurations, hnc.GroupName)
	}
	if m.user, err = m.whoAmI(ctx); err != nil {
		return err
	}
	if fromExport {
		return m.back(ctx)
	}
	return m.undo(ctx, []step{
		{"freeze", "reject changes of the hierarchies by others", m.freezeAgain},
		{"switch", "serve " + hnc.GroupName + "/" + version + " from HNC's definitions", func(ctx context.Context) error { return m.restoreServices(ctx, &m.state.backup) }},
		{"import", "remove the imported objects from hns-apiserver", m.reset},
		{"start", "start HNC", func(ctx context.Context) error { return m.start(ctx, &m.state.backup) }},
		{"webhooks", "restore HNC's webhooks", func(ctx context.Context) error { return m.restoreWebhooks(ctx, &m.state.backup) }},
		{"unfreeze", "allow changes again", m.unfreeze},
	})
}

// undo makes the steps of a way back, all of them each time.
func (m *Migration) undo(ctx context.Context, steps []step) error {
	if err := m.announce(steps); err != nil || m.DryRun {
		return err
	}
	if err := m.Confirm("Begin? (yes/no) "); err != nil {
		return fmt.Errorf("nothing was changed: %w", err)
	}
	var err error
	if m.state == nil {
		m.state, err = m.beginBack(ctx)
	} else if err = m.state.claim(ctx); err == nil {
		err = m.state.record(ctx, hnc.MigrationRollingBack, "true")
	}
	if err != nil {
		return err
	}
	for i, s := range steps {
		if err := m.state.hold(ctx); err != nil {
			return err
		}
		if err := m.printf("%2d/%d %-11s %s\n", i+1, len(steps), s.name, s.title); err != nil {
			return err
		}
		if err := s.run(ctx); err != nil {
			return stepFailed(s, err, "")
		}
	}
	return m.state.forget(ctx)
}

// freezeAgain freezes the hierarchies, and removes HNC's webhooks if they are there, after an earlier attempt for
// instance: they would be called for each write that follows.
func (m *Migration) freezeAgain(ctx context.Context) error {
	if err := m.freeze(ctx, m.user); err != nil {
		return err
	}
	if len(m.state.backup.Webhooks) == 0 {
		return nil
	}
	return m.removeWebhooks(ctx)
}

// removeImports empties hns-apiserver's store. hns-propagator does not run, so that this affects no tree; the
// finalizers that it would remove are removed on its behalf.
func (m *Migration) removeImports(ctx context.Context) error {
	if err := m.state.hold(ctx); err != nil {
		return err
	}
	client := m.hierarchy.HncV1beta1()
	quotas, err := client.HierarchicalResourceQuotas("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	err = each.Of(ctx, quotas.Items, func(ctx context.Context, q v1beta1.HierarchicalResourceQuota) error {
		return gone(client.HierarchicalResourceQuotas(q.Namespace).Delete(ctx, q.Name, metav1.DeleteOptions{}))
	})
	if err != nil {
		return err
	}
	if err := m.removeTrees(ctx); err != nil {
		return err
	}
	if err := (&importer{clients: m.clients}).configure(ctx, []v1beta1.ResourceSpec{}); err != nil {
		return err
	}
	return release.Namespaces(ctx, m.kube, fieldManager)
}

// reset empties hns-apiserver's store, and replaces the rules and removes the permissions that the migration has
// brought.
func (m *Migration) reset(ctx context.Context) error {
	if err := m.removeImports(ctx); err != nil {
		return err
	}
	if err := m.setRules(ctx, m.state.backup.Rules); err != nil {
		return err
	}
	return m.revokePermissions(ctx)
}

// removeTrees removes Subnamespaces and hierarchies from the leaves up: a Subnamespace is not deleted as long as a
// namespace has its namespace as the parent.
func (m *Migration) removeTrees(ctx context.Context) error {
	client := m.hierarchy.HncV1beta1()
	subnamespaces, err := client.Subnamespaces("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	hierarchies, err := client.Hierarchies("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	parents, confirmed := map[string]string{}, map[string]v1beta1.Subnamespace{}
	for _, h := range hierarchies.Items {
		parents[h.Namespace] = h.Spec.Parent
	}
	for _, s := range subnamespaces.Items {
		parents[s.Name], confirmed[s.Name] = s.Namespace, s
	}
	for _, level := range deepestFirst(parents) {
		err := each.Of(ctx, level, func(ctx context.Context, name string) error {
			if s, ok := confirmed[name]; ok {
				if err := m.removeSubnamespace(ctx, s); err != nil {
					return err
				}
			}
			return gone(client.Hierarchies(name).Delete(ctx, hnc.Singleton, metav1.DeleteOptions{}))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *Migration) removeSubnamespace(ctx context.Context, s v1beta1.Subnamespace) error {
	client := m.propagator.HncV1beta1().Subnamespaces(s.Namespace)
	// Without finalizers, the deletion is one write.
	_, err := client.Patch(ctx, s.Name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{FieldManager: fieldManager})
	if err := gone(err); err != nil {
		return err
	}
	return gone(m.hierarchy.HncV1beta1().Subnamespaces(s.Namespace).Delete(ctx, s.Name, metav1.DeleteOptions{}))
}

// deepestFirst returns the namespaces of a forest by their depth, those with the most ancestors first.
func deepestFirst(parents map[string]string) [][]string {
	levels := map[int][]string{}
	for name := range parents {
		depth := 0
		for at := parents[name]; at != "" && depth <= len(parents); at = parents[at] {
			depth++
		}
		levels[depth] = append(levels[depth], name)
	}
	var ordered [][]string
	for _, depth := range slices.Backward(slices.Sorted(maps.Keys(levels))) {
		ordered = append(ordered, levels[depth])
	}
	return ordered
}

// gone returns an error unless the object is gone.
func gone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// waitError returns the error of a wait, or a formatted one if its time is over and that of ctx is not.
func waitError(ctx context.Context, err error, format string, args ...any) error {
	if wait.Interrupted(err) && ctx.Err() == nil {
		return fmt.Errorf(format, args...)
	}
	return err
}
