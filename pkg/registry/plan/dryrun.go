package plan

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

// Previewed serves a resource, and warns who makes a dry run of what the change would do.
type Previewed struct {
	alias.Resource
	Planner *Planner
}

// Create creates an object.
func (r *Previewed) Create(ctx context.Context, obj runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	created, err := r.Resource.Create(ctx, obj, validate, options)
	if err == nil && dryrun.IsDryRun(options.DryRun) {
		r.written(ctx, created)
	}
	return created, err
}

// Update changes an object, or creates it.
func (r *Previewed) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, validateCreate rest.ValidateObjectFunc,
	validateUpdate rest.ValidateObjectUpdateFunc, forceAllowCreate bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	obj, created, err := r.Resource.Update(ctx, name, info, validateCreate, validateUpdate, forceAllowCreate, options)
	if err == nil && dryrun.IsDryRun(options.DryRun) {
		r.written(ctx, obj)
	}
	return obj, created, err
}

// Delete deletes an object.
func (r *Previewed) Delete(ctx context.Context, name string, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	obj, deleted, err := r.Resource.Delete(ctx, name, validate, options)
	if err == nil && options != nil && dryrun.IsDryRun(options.DryRun) {
		switch r.New().(type) {
		case *hnc.Hierarchy:
			r.Planner.warn(ctx, genericapirequest.NamespaceValue(ctx), hnc.HierarchyPlanSpec{Change: hnc.ChangeParent})
		case *hnc.Subnamespace:
			r.Planner.warn(ctx, name, hnc.HierarchyPlanSpec{Change: hnc.ChangeDelete})
		}
	}
	return obj, deleted, err
}

func (r *Previewed) written(ctx context.Context, obj runtime.Object) {
	if h, ok := obj.(*hnc.Hierarchy); ok {
		r.Planner.warn(ctx, h.Namespace, hnc.HierarchyPlanSpec{Change: hnc.ChangeParent, Parent: h.Spec.Parent})
	}
}

// maxWarnings is how many single things a dry run tells, besides the counts.
const maxWarnings = 5

// warn tells the client the gist of a plan. The request itself has been authorized and judged.
func (p *Planner) warn(ctx context.Context, name string, spec hnc.HierarchyPlanSpec) {
	namespace, err := p.Tree.Namespace(ctx, name)
	if err != nil {
		return // there is no namespace yet, or none any more, and nothing happens in it
	}
	if spec.Change == hnc.ChangeParent && spec.Parent == "" {
		// The deletion of its hierarchy doesn't change that.
		if spec.Parent, err = p.Tree.HeldBy(ctx, namespace); err != nil {
			return
		}
	}
	status, err := p.outcome(ctx, namespace, &spec)
	if err != nil {
		warning.AddWarning(ctx, "", fmt.Sprintf("dry run: what it would do is not known: %v", err))
		return
	}
	for _, line := range gist(status) {
		warning.AddWarning(ctx, "", line)
	}
}

// outcome returns the first things that an authorized change would do.
func (p *Planner) outcome(ctx context.Context, namespace *corev1.Namespace, spec *hnc.HierarchyPlanSpec) (hnc.HierarchyPlanStatus, error) {
	release, err := p.limiter.Acquire(ctx)
	if err != nil {
		return hnc.HierarchyPlanStatus{}, err
	}
	defer release()
	m, err := p.predict(ctx, namespace, spec)
	if err != nil {
		return hnc.HierarchyPlanStatus{}, err
	}
	return p.show(ctx, m, place{}, maxWarnings+1)
}

// gist returns lines that tell the counts and the first things of a plan, nothing if nothing would happen.
func gist(s hnc.HierarchyPlanStatus) []string {
	var lines []string
	for _, n := range s.Namespaces {
		if n.Fate != "" {
			lines = append(lines, fmt.Sprintf("namespace %q: %s", n.Name, strings.ToLower(string(n.Fate))))
		}
		for _, a := range n.Access {
			lines = append(lines, fmt.Sprintf("namespace %q: %s %q: %s %s %q", n.Name, a.Kind, a.Name, strings.ToLower(string(a.Change)), a.RoleKind, a.Role))
		}
		for _, o := range n.Objects {
			lines = append(lines, fmt.Sprintf("namespace %q: %s %s %q from %q", n.Name, strings.ToLower(string(o.Action)), o.Resource, o.Name, o.Source))
		}
	}
	if len(lines) > maxWarnings {
		lines = append(lines[:maxWarnings], "and more: create hierarchies/plan for all of it")
	}
	if unknown := s.Unknown; len(unknown) > 0 {
		lines = append(lines, "not known: "+strings.Join(unknown, "; "))
	}
	total := s.Summary
	if total.Namespaces == 0 {
		return lines
	}
	return append([]string{fmt.Sprintf("dry run: in %d namespaces: %d deleted, %d orphaned; objects: %d added, %d changed, %d overwritten, %d removed, %d kept",
		total.Namespaces, total.Deleted, total.Orphaned, total.Added, total.Changed, total.Overwritten, total.Removed, total.Kept)}, lines...)
}
