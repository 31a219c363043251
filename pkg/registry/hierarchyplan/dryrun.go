package hierarchyplan

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/dryrun"
	"k8s.io/apiserver/pkg/warning"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/alias"
)

// DryRunStorage adds the effects of a change to its dry runs as warnings.
type DryRunStorage struct {
	alias.Resource
	Planner *Planner
}

// Create creates an object.
func (r *DryRunStorage) Create(ctx context.Context, obj runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	created, err := r.Resource.Create(ctx, obj, validate, options)
	if err == nil && dryrun.IsDryRun(options.DryRun) {
		r.warnParent(ctx, created)
	}
	return created, err
}

// Update updates an object or creates it.
func (r *DryRunStorage) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, validateCreate rest.ValidateObjectFunc,
	validateUpdate rest.ValidateObjectUpdateFunc, forceAllowCreate bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	obj, created, err := r.Resource.Update(ctx, name, info, validateCreate, validateUpdate, forceAllowCreate, options)
	if err == nil && dryrun.IsDryRun(options.DryRun) {
		r.warnParent(ctx, obj)
	}
	return obj, created, err
}

// Delete deletes an object.
func (r *DryRunStorage) Delete(ctx context.Context, name string, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	obj, deleted, err := r.Resource.Delete(ctx, name, validate, options)
	if err == nil && options != nil && dryrun.IsDryRun(options.DryRun) {
		switch r.New().(type) {
		case *hnc.Hierarchy:
			r.Planner.warnDryRun(ctx, genericapirequest.NamespaceValue(ctx), hnc.HierarchyPlanSpec{Change: hnc.ChangeParent})
		case *hnc.Subnamespace:
			r.Planner.warnDryRun(ctx, name, hnc.HierarchyPlanSpec{Change: hnc.ChangeDelete})
		}
	}
	return obj, deleted, err
}

func (r *DryRunStorage) warnParent(ctx context.Context, obj runtime.Object) {
	if h, ok := obj.(*hnc.Hierarchy); ok {
		r.Planner.warnDryRun(ctx, h.Namespace, hnc.HierarchyPlanSpec{Change: hnc.ChangeParent, Parent: h.Spec.Parent})
	}
}

// maxWarnings bounds the warnings of a dry run besides the counts.
const maxWarnings = 5

// warnDryRun adds the summary of a plan as warnings. The request itself has been authorized and validated.
func (p *Planner) warnDryRun(ctx context.Context, name string, spec hnc.HierarchyPlanSpec) {
	namespace, err := p.Tree.Index.Namespace(ctx, name)
	if err != nil {
		return // the namespace does not exist, so nothing happens in it
	}
	if spec.Parent == "" {
		holder, err := p.Tree.Claims.Holder(ctx, namespace)
		if err != nil {
			warnUnknown(ctx, err)
			return
		}
		if spec.Change == hnc.ChangeDelete && holder != genericapirequest.NamespaceValue(ctx) {
			return // a Subnamespace that does not hold the namespace is deleted alone
		}
		if spec.Change == hnc.ChangeParent {
			spec.Parent = holder // deleting its hierarchy does not remove a sub-namespace from its parent
		}
	}
	status, err := p.preview(ctx, namespace, &spec)
	if err != nil {
		warnUnknown(ctx, err)
		return
	}
	for _, line := range summaryLines(status) {
		warning.AddWarning(ctx, "", line)
	}
}

func warnUnknown(ctx context.Context, err error) {
	warning.AddWarning(ctx, "", fmt.Sprintf("dry run: the effects are unknown: %v", err))
}

// preview returns the first effects of an authorized change.
func (p *Planner) preview(ctx context.Context, namespace *corev1.Namespace, spec *hnc.HierarchyPlanSpec) (hnc.HierarchyPlanStatus, error) {
	release, err := p.limiter.Acquire(ctx)
	if err != nil {
		return hnc.HierarchyPlanStatus{}, err
	}
	defer release()
	pr, err := p.predict(ctx, namespace, spec)
	if err != nil {
		return hnc.HierarchyPlanStatus{}, err
	}
	return p.status(ctx, pr, position{}, maxWarnings+1)
}

// summaryLines returns the counts and the first effects of a plan, or nothing if there are none.
func summaryLines(s hnc.HierarchyPlanStatus) []string {
	var lines []string
	for _, n := range s.Namespaces {
		if n.Fate != "" {
			lines = append(lines, fmt.Sprintf("namespace %q: %s", n.Name, strings.ToLower(string(n.Fate))))
		}
		for _, a := range n.Access {
			lines = append(lines, fmt.Sprintf("namespace %q: %s %q: %s %s %q", n.Name, a.Kind, a.Name, strings.ToLower(string(a.Change)), a.RoleKind, a.Role))
		}
		for _, q := range n.Quotas {
			lines = append(lines, fmt.Sprintf("namespace %q: ResourceQuota %q allows %d of %s, and there would be %d", n.Name, q.Name, q.Hard, q.Resource, q.Planned))
		}
		for _, o := range n.Objects {
			lines = append(lines, fmt.Sprintf("namespace %q: %s %s %q from %q", n.Name, strings.ToLower(string(o.Action)), o.Resource, o.Name, o.Source))
		}
	}
	if len(lines) > maxWarnings {
		lines = append(lines[:maxWarnings], "and more: create hierarchies/plan for all of it")
	}
	if unknown := s.Unknown; len(unknown) > 0 {
		lines = append(lines, "unknown: "+strings.Join(unknown, "; "))
	}
	total := s.Summary
	if total.Namespaces == 0 {
		return lines
	}
	return append([]string{fmt.Sprintf("dry run: in %d namespaces: %d deleted, %d orphaned; objects: %d added, %d changed, %d overwritten, %d removed, %d kept",
		total.Namespaces, total.Deleted, total.Orphaned, total.Added, total.Changed, total.Overwritten, total.Removed, total.Kept)}, lines...)
}
