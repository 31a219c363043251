package migration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/migration/each"
)

// importer creates imported objects in hns-apiserver. Objects that are there already stay if they are equal, and are
// updated otherwise, so an import can be repeated.
type importer struct {
	*clients
	dryRun []string

	// unanswered is set by a dry run if HNC's webhooks do not answer in time. What follows is not sent then: each call
	// would take many seconds.
	unanswered atomic.Bool

	mutex    sync.Mutex
	rejected []rejection
}

// importAll imports HNC's objects, all of them or none. It replaces what hns-apiserver has, which must not be in force.
func (m *Migration) importAll(ctx context.Context) error {
	if err := m.checkPropagator(ctx); err != nil {
		return err
	}
	e, err := m.exported(ctx)
	if err != nil {
		return err
	}
	all, err := m.imports(ctx, e)
	if err != nil {
		return err
	}
	if err := m.adoptRules(ctx); err != nil {
		return err
	}
	if err := m.foresee(ctx, all); err != nil {
		return err
	}
	// A previous attempt may have stored what has been changed since.
	if err := m.removeImports(ctx); err != nil {
		return err
	}
	i := &importer{clients: m.clients}
	if err := i.run(ctx, all); err != nil {
		return err
	}
	return m.rejections(i.rejected)
}

// run imports everything. Objects that the server rejects are recorded, and all others are imported nevertheless.
func (i *importer) run(ctx context.Context, all *imports) error {
	if err := i.record(configurationKey, false, i.configure(ctx, all.resources)); err != nil {
		return err
	}
	for _, part := range [][]*v1beta1.Hierarchy{all.hierarchies, all.orphans} {
		if err := each.Of(ctx, part, i.createHierarchy); err != nil {
			return err
		}
	}
	if err := each.Of(ctx, all.subnamespaces, i.createSubnamespace); err != nil {
		return err
	}
	return each.Of(ctx, all.quotas, i.createQuota)
}

// record returns the errors that a repetition may not have, and records the others.
func (i *importer) record(object string, needed bool, err error) error {
	switch {
	case err == nil, i.passesDryRun(err):
		return nil
	case apierrors.IsInvalid(err), apierrors.IsForbidden(err), apierrors.IsConflict(err), apierrors.IsBadRequest(err), apierrors.IsNotFound(err):
		i.mutex.Lock()
		defer i.mutex.Unlock()
		i.rejected = append(i.rejected, rejection{object, err.Error(), needed})
		return nil
	}
	return fmt.Errorf("%s: %w", object, err)
}

func (i *importer) createOptions() metav1.CreateOptions {
	return metav1.CreateOptions{FieldManager: fieldManager, DryRun: i.dryRun}
}

func (i *importer) updateOptions() metav1.UpdateOptions {
	return metav1.UpdateOptions{FieldManager: fieldManager, DryRun: i.dryRun}
}

// configure sets the configured kinds. Entries that the server rejects, such as those of kinds that the cluster does
// not have, are left out and recorded.
func (i *importer) configure(ctx context.Context, resources []v1beta1.ResourceSpec) error {
	client := i.hierarchy.HncV1beta1().HNCConfigurations()
	for {
		current, err := client.Get(ctx, hnc.ConfigurationName, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			// hns-propagator, which creates it, has not started yet.
			current = &v1beta1.HNCConfiguration{ObjectMeta: metav1.ObjectMeta{Name: hnc.ConfigurationName}, Spec: v1beta1.HNCConfigurationSpec{Resources: resources}}
			_, err = client.Create(ctx, current, i.createOptions())
		case err != nil || apiequality.Semantic.DeepEqual(current.Spec.Resources, resources):
			return err
		default:
			current.Spec.Resources = resources
			_, err = client.Update(ctx, current, i.updateOptions())
		}
		if i.passesDryRun(err) {
			return nil
		}
		kept := i.withoutRejected(resources, err)
		if len(kept) == len(resources) && !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			return err
		}
		resources = kept
	}
}

// withoutRejected returns the entries that an error does not name.
func (i *importer) withoutRejected(resources []v1beta1.ResourceSpec, err error) []v1beta1.ResourceSpec {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return resources
	}
	rejected := map[string]string{}
	for _, cause := range status.Status().Details.Causes {
		rejected[strings.TrimSuffix(cause.Field, ".resource")] = cause.Message
	}
	var kept []v1beta1.ResourceSpec
	for at, r := range resources {
		if why, ok := rejected[fmt.Sprintf("spec.resources[%d]", at)]; ok {
			i.rejected = append(i.rejected, rejection{configurationKey, fmt.Sprintf("the entry for %s: %s", r.Resource, why), false})
			continue
		}
		kept = append(kept, r)
	}
	return kept
}

func (i *importer) createHierarchy(ctx context.Context, h *v1beta1.Hierarchy) error {
	if i.unanswered.Load() {
		return nil
	}
	client := i.hierarchy.HncV1beta1().Hierarchies(h.Namespace)
	_, err := client.Create(ctx, h, i.createOptions())
	if apierrors.IsAlreadyExists(err) {
		var current *v1beta1.Hierarchy
		if current, err = client.Get(ctx, h.Name, metav1.GetOptions{}); err == nil && !apiequality.Semantic.DeepEqual(current.Spec, h.Spec) {
			current.Spec = h.Spec
			_, err = client.Update(ctx, current, i.updateOptions())
		}
	}
	if i.dryRun != nil && apierrors.IsConflict(err) {
		return nil // It would overwrite objects; see overwrites.
	}
	return i.record(hierarchyOf(h.Namespace), h.Spec.Parent != "", err)
}

func (i *importer) createSubnamespace(ctx context.Context, s *v1beta1.Subnamespace) error {
	if i.unanswered.Load() {
		return nil
	}
	client := i.propagator.HncV1beta1().Subnamespaces(s.Namespace)
	_, err := client.Create(ctx, s, i.createOptions())
	if apierrors.IsAlreadyExists(err) {
		var current *v1beta1.Subnamespace
		if current, err = client.Get(ctx, s.Name, metav1.GetOptions{}); err == nil && !apiequality.Semantic.DeepEqual(current.Spec, s.Spec) {
			current.Spec = s.Spec
			_, err = client.Update(ctx, current, i.updateOptions())
		}
	}
	return i.record(keyOf(anchors, s.Namespace, s.Name), false, err)
}

func (i *importer) createQuota(ctx context.Context, q *v1beta1.HierarchicalResourceQuota) error {
	if i.unanswered.Load() {
		return nil
	}
	client := i.hierarchy.HncV1beta1().HierarchicalResourceQuotas(q.Namespace)
	_, err := client.Create(ctx, q, i.createOptions())
	if apierrors.IsAlreadyExists(err) {
		var current *v1beta1.HierarchicalResourceQuota
		if current, err = client.Get(ctx, q.Name, metav1.GetOptions{}); err == nil && !apiequality.Semantic.DeepEqual(current.Spec, q.Spec) {
			current.Spec = q.Spec
			_, err = client.Update(ctx, current, i.updateOptions())
		}
	}
	return i.record(keyOf(quotas, q.Namespace, q.Name), false, err)
}
