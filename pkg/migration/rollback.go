package migration

import (
	"context"
	"errors"
	"fmt"
	"sort"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// Rollback undoes a migration that is under way: HNC serves its objects, with its webhooks, as before. It can be
// repeated.
func (m *Migration) Rollback(ctx context.Context) error {
	if err := m.checkRights(ctx); err != nil {
		return err
	}
	var err error
	if m.state, err = loadState(ctx, m.clients); err != nil {
		return err
	}
	if m.state == nil {
		return m.printf("No migration is under way.\n")
	}
	if m.state.stored.Data[keyDeleting] != "" {
		return errors.New("HNC's definitions are deleted, so the migration cannot be rolled back; repeat kubectl hns migrate to complete it")
	}
	if m.user, err = m.whoAmI(ctx); err != nil {
		return err
	}
	if there, err := m.definitionsExist(ctx); err != nil || !there {
		return errors.Join(err, fmt.Errorf("customresourcedefinition %s.%s does not exist, so there is nothing to return to", hierarchyConfigurations, hnc.GroupName))
	}
	steps := []step{
		{"freeze", "reject changes of the hierarchies by others", func(ctx context.Context) error { return m.freeze(ctx, m.user) }},
		{"switch", "serve " + hnc.GroupName + "/" + version + " from HNC's definitions", func(ctx context.Context) error { return m.restoreServices(ctx, &m.state.backup) }},
		{"import", "remove the imported objects from hns-apiserver", m.removeImports},
		{"start", "start HNC", func(ctx context.Context) error { return m.start(ctx, &m.state.backup) }},
		{"webhooks", "restore HNC's webhooks", func(ctx context.Context) error { return m.restoreWebhooks(ctx, &m.state.backup) }},
		{"unfreeze", "allow changes again", m.unfreeze},
	}
	if err := m.announce(steps); err != nil || m.DryRun {
		return err
	}
	if !m.Confirm("Begin? (yes/no) ") {
		return fmt.Errorf("nothing was changed: %w", ErrNotConfirmed)
	}
	// Another process that has gone on in the meantime, or goes on from here, fails.
	if err := m.state.record(ctx, keyRollingBack, "true"); err != nil {
		return err
	}
	for i, s := range steps {
		if err := m.printf("%2d/%d %-11s %s\n", i+1, len(steps), s.name, s.title); err != nil {
			return err
		}
		if err := s.run(ctx); err != nil {
			return fmt.Errorf("step %s: %w\nRepeat the command to continue", s.name, err)
		}
	}
	return m.state.forget(ctx)
}

// removeImports empties hns-apiserver's store. hns-propagator does not run, so that this affects no tree; the
// finalizers that it would remove are removed on its behalf.
func (m *Migration) removeImports(ctx context.Context) error {
	client := m.hierarchy.HncV1beta1()
	quotas, err := client.HierarchicalResourceQuotas("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	err = each(ctx, quotas.Items, func(ctx context.Context, q v1beta1.HierarchicalResourceQuota) error {
		return gone(client.HierarchicalResourceQuotas(q.Namespace).Delete(ctx, q.Name, metav1.DeleteOptions{}))
	})
	if err != nil {
		return err
	}
	subnamespaces, err := client.Subnamespaces("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, s := range deepestFirst(subnamespaces.Items) {
		if err := m.removeSubnamespace(ctx, s); err != nil {
			return err
		}
	}
	hierarchies, err := client.Hierarchies("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	err = each(ctx, hierarchies.Items, func(ctx context.Context, h v1beta1.Hierarchy) error {
		return gone(client.Hierarchies(h.Namespace).Delete(ctx, h.Name, metav1.DeleteOptions{}))
	})
	if err != nil {
		return err
	}
	if err := (&importer{clients: m.clients}).configure(ctx, []v1beta1.ResourceSpec{}); err != nil {
		return err
	}
	return ReleaseNamespaces(ctx, m.kube)
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

// deepestFirst returns the Subnamespaces below others before these.
func deepestFirst(all []v1beta1.Subnamespace) []v1beta1.Subnamespace {
	parents := map[string]string{}
	for _, s := range all {
		parents[s.Name] = s.Namespace
	}
	depth := func(name string) int {
		d := 0
		for parent, ok := parents[name]; ok && d <= len(all); parent, ok = parents[parent] {
			d++
		}
		return d
	}
	sort.SliceStable(all, func(i, j int) bool { return depth(all[i].Name) > depth(all[j].Name) })
	return all
}

// gone returns an error unless the object is gone.
func gone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
