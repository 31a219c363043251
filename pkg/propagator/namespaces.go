package propagator

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/namespaces"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

// labels makes the labels and annotations of a namespace right.
func (p *Propagator) labels(ctx context.Context, name string) error {
	p.mu.RLock()
	ns := p.tree.Namespace(name)
	labels, annotations := namespaces.LabelChanges(p.tree, name), namespaces.AnnotationChanges(p.tree, name)
	p.mu.RUnlock()
	if len(labels)+len(annotations) == 0 {
		return nil
	}
	return p.label(ctx, ns, labels, annotations)
}

// label changes labels and annotations of a namespace. The patch names no version if they are ours alone: nobody else's change of the namespace
// matters to them. Pod Security labels are others' too, who must not lose what they have just written.
func (p *Propagator) label(ctx context.Context, ns *tree.Namespace, labels, annotations map[string]*string) error {
	metadata := map[string]any{"uid": ns.UID}
	if slices.ContainsFunc(hnc.PodSecurityLabels, func(key string) bool { _, ok := labels[key]; return ok }) {
		metadata["resourceVersion"] = ns.ResourceVersion
	}
	if len(labels) > 0 {
		metadata["labels"] = labels
	}
	if len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
	patch, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return err
	}
	patched, err := p.Kubernetes.CoreV1().Namespaces().Patch(ctx, ns.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	return p.result("Namespace", "patch", ns.Name, err, func() { p.enterNamespace(patched) })
}

// status makes the status of a namespace's Hierarchy right.
func (p *Propagator) status(ctx context.Context, name string) error {
	p.mu.RLock()
	w := namespaces.Status(p.tree, name, metav1.Now())
	others := p.summary.Set(name, namespaces.Problems(p.tree, name))
	p.mu.RUnlock()
	if others {
		p.mu.Lock()
		p.configurationChanged()
		p.mu.Unlock()
	}
	var wait time.Duration
	switch {
	case w == nil:
		return nil
	case w.Create:
		wait = p.fresh.wait(name)
	case w.OnlyChildren:
		wait = p.pace.wait(name)
	}
	if wait > 0 {
		p.bulk.AddAfter(queue.Key{Class: queue.Status, Namespace: name}, wait)
		return nil
	}
	if w.Create {
		return p.createHierarchy(ctx, name, w.Parent, w.Metadata)
	}
	if w.Bind {
		// If the place of the namespace is no longer legal, its conditions say so.
		if err := p.bindHierarchy(ctx, w.Hierarchy); !refused(err) {
			return err
		}
	}
	status := map[string]any{"children": nil, "conditions": w.Status.Conditions}
	if len(w.Status.Children) > 0 {
		status["children"] = w.Status.Children
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": w.Hierarchy.UID}, "status": status})
	if err != nil {
		return err
	}
	patched, err := p.Hierarchy.HncV1beta1().Hierarchies(name).Patch(ctx, hnc.Singleton, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if err == nil && len(w.Status.Children) > 0 {
		p.pace.begin(name)
	}
	return p.result("Hierarchy", "patch", name, err, func() { p.enterHierarchy(patched) })
}

// bindHierarchy has the API server bind a Hierarchy to its namespace, which every write does.
func (p *Propagator) bindHierarchy(ctx context.Context, h *tree.Hierarchy) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": h.UID}})
	if err != nil {
		return err
	}
	patched, err := p.Hierarchy.HncV1beta1().Hierarchies(h.Namespace).Patch(ctx, hnc.Singleton, types.MergePatchType, patch, metav1.PatchOptions{})
	return p.result("Hierarchy", "patch", h.Namespace, err, func() { p.enterHierarchy(patched) })
}

func (p *Propagator) createHierarchy(ctx context.Context, namespace, parent string, metadata tree.Metadata) error {
	created, err := p.Hierarchy.HncV1beta1().Hierarchies(namespace).Create(ctx, &v1beta1.Hierarchy{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: hnc.Singleton},
		Spec: v1beta1.HierarchySpec{
			Parent: parent, Labels: metadata.Labels, Annotations: metadata.Annotations,
			NamespaceLabels: metadata.NamespaceLabels, NamespaceAnnotations: metadata.NamespaceAnnotations,
		},
	}, metav1.CreateOptions{})
	return p.result("Hierarchy", "create", namespace, err, func() { p.enterHierarchy(created) })
}

// place gives a Hierarchy what its Subnamespace says. The version is named: if somebody has chosen a parent meanwhile, that
// one stays.
func (p *Propagator) place(ctx context.Context, h *tree.Hierarchy, s *tree.Subnamespace, plan namespaces.Plan) error {
	spec := map[string]any{}
	if plan.SetParent {
		spec["parent"] = s.Parent
	}
	if plan.SetMetadata {
		spec["labels"], spec["annotations"] = s.Metadata.Labels, s.Metadata.Annotations
		spec["namespaceLabels"], spec["namespaceAnnotations"] = s.Metadata.NamespaceLabels, s.Metadata.NamespaceAnnotations
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": h.UID, "resourceVersion": h.ResourceVersion},
		"spec":     spec,
	})
	if err != nil {
		return err
	}
	patched, err := p.Hierarchy.HncV1beta1().Hierarchies(h.Namespace).Patch(ctx, hnc.Singleton, types.MergePatchType, patch, metav1.PatchOptions{})
	return p.result("Hierarchy", "patch", h.Namespace, err, func() { p.enterHierarchy(patched) })
}
