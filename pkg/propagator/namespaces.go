package propagator

import (
	"context"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/namespaces"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

// labels makes the labels of a namespace right.
func (p *Propagator) labels(ctx context.Context, name string) error {
	p.mu.RLock()
	ns := p.tree.Namespace(name)
	changes := namespaces.LabelChanges(p.tree, name)
	p.mu.RUnlock()
	if len(changes) == 0 {
		return nil
	}
	return p.label(ctx, ns, changes)
}

// label changes labels of a namespace. The patch names no version: the labels are ours, and nobody else's change of the
// namespace matters to them.
func (p *Propagator) label(ctx context.Context, ns *tree.Namespace, changes map[string]*string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": ns.UID, "labels": changes}})
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
	p.mu.RUnlock()
	switch {
	case w == nil:
		return nil
	case w.Create:
		return p.createHierarchy(ctx, name, w.Parent)
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
	return p.result("Hierarchy", "patch", name, err, func() { p.enterHierarchy(patched) })
}

func (p *Propagator) createHierarchy(ctx context.Context, namespace, parent string) error {
	created, err := p.Hierarchy.HncV1beta1().Hierarchies(namespace).Create(ctx, &v1beta1.Hierarchy{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: hnc.Singleton},
		Spec:       v1beta1.HierarchySpec{Parent: parent},
	}, metav1.CreateOptions{})
	return p.result("Hierarchy", "create", namespace, err, func() { p.enterHierarchy(created) })
}

// setParent gives a Hierarchy without a parent one. The version is named: if somebody has chosen a parent meanwhile, that one stays.
func (p *Propagator) setParent(ctx context.Context, h *tree.Hierarchy, parent string) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": h.UID, "resourceVersion": h.ResourceVersion},
		"spec":     map[string]any{"parent": parent},
	})
	if err != nil {
		return err
	}
	patched, err := p.Hierarchy.HncV1beta1().Hierarchies(h.Namespace).Patch(ctx, hnc.Singleton, types.MergePatchType, patch, metav1.PatchOptions{})
	return p.result("Hierarchy", "patch", h.Namespace, err, func() { p.enterHierarchy(patched) })
}
