package restore

import (
	"context"
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
)

// alignment is what to do for the hierarchies to have the parents that the labels of the namespaces describe.
type alignment struct {
	// gone are Subnamespaces whose namespaces are not there any more. They become void, so that these are not created
	// again.
	gone []*tree.Subnamespace
	// leave are roots by their labels that have a parent by their hierarchy.
	leave []record
	// join are those that have another parent by their labels, or no effective hierarchy, by depth: the parent of a
	// namespace is in an earlier level, so no order within a level closes a cycle.
	join [][]record
}

// planAlignment returns what to do. Namespaces whose labels say nothing about a parent, because activities are halted
// there, keep theirs.
func planAlignment(t *tree.Tree) alignment {
	var a alignment
	depths := map[string]int{}
	var depth func(name string) int
	depth = func(name string) int {
		if known, ok := depths[name]; ok {
			return known
		}
		depths[name] = 0 // Labels that users have restored may close a cycle.
		if parent := parentByLabel(t, name); parent != "" {
			depths[name] = depth(parent) + 1
		}
		return depths[name]
	}
	planned := plan(t)
	for _, r := range planned {
		// One whose labels name no parent leaves below, if it does not keep its parent.
		aligned := t.Hierarchy(r.name) != nil && (r.parent == "" || t.Parent(r.name) == r.parent)
		if r.subnamespace && !keeps(t, r) {
			aligned = false
		}
		if aligned {
			continue
		}
		for d := depth(r.name); len(a.join) <= d; {
			a.join = append(a.join, nil)
		}
		a.join[depths[r.name]] = append(a.join[depths[r.name]], r)
	}
	for _, key := range t.SubnamespaceKeys() {
		// One that is new has no status yet: its namespace is to be created.
		if s := t.Subnamespace(key); s != nil && !s.Terminating && s.Status.State == v1beta1.SubnamespaceOk && t.Namespace(key.Name) == nil && t.Active(key.Parent) {
			a.gone = append(a.gone, s)
		}
	}
	for _, name := range slices.Sorted(slices.Values(t.Names())) {
		h := t.Hierarchy(name)
		if at, _ := t.HaltedAt(name); t.Active(name) && h != nil && h.Parent != "" && parentByLabel(t, name) == "" && at != name && !t.External(name) {
			a.leave = append(a.leave, record{name: name})
		}
	}
	return a
}

// keeps reports whether the Subnamespace of a sub-namespace stays as it is. One that is being deleted is not: the
// store was saved during an earlier deletion, and the namespace was created again. A void one stays void: only users of
// the parent may replace it, and the namespace keeps its parent by its Hierarchy.
func keeps(t *tree.Tree, r record) bool {
	key := tree.Key{Parent: r.parent, Name: r.name}
	if s := t.SubnamespaceRecord(key); s != nil && s.Void && !s.Terminating {
		return true
	}
	s := t.Subnamespace(key)
	return s != nil && (!s.Terminating || !t.Active(r.parent))
}

func parentByLabel(t *tree.Tree, name string) string {
	if t.Namespace(name) == nil {
		return ""
	}
	return labelledParent(t, name)
}

// align changes the hierarchies to what the labels of the namespaces describe. It can be repeated after an
// interruption.
func (c *Controller) align(ctx context.Context) error {
	var a alignment
	c.Cache.Read(func(s *cache.State) { a = planAlignment(s.Tree) })
	for _, s := range a.gone {
		if err := c.patchSubnamespace(ctx, record{name: s.Name, parent: s.Parent}, s, map[string]any{"annotations": map[string]any{hnc.AnnotationVoid: "true"}}); err != nil {
			return err
		}
	}
	if err := c.forEachRecord(ctx, a.leave, c.setParent); err != nil {
		return err
	}
	count := len(a.gone) + len(a.leave)
	for _, level := range a.join {
		count += len(level)
		if err := c.forEachRecord(ctx, level, c.alignOne); err != nil {
			return err
		}
	}
	klog.FromContext(ctx).Info("Changed the hierarchies to the labels of the namespaces", "namespaces", count)
	return nil
}

func (c *Controller) alignOne(ctx context.Context, r record) error {
	var sub *tree.Subnamespace
	var kept, exists bool
	c.Cache.Read(func(s *cache.State) {
		key := tree.Key{Parent: r.parent, Name: r.name}
		sub, kept, exists = s.Tree.SubnamespaceRecord(key), keeps(s.Tree, r), s.Tree.HierarchyRecord(r.name) != nil
	})
	if r.subnamespace && !kept {
		if sub != nil {
			if err := c.rebind(ctx, r, sub); err != nil {
				return err
			}
		}
		if err := c.createSubnamespace(ctx, r); err != nil {
			return err
		}
	}
	if exists {
		return c.setParent(ctx, r)
	}
	return c.createHierarchy(ctx, r)
}

// rebind binds a Subnamespace of an earlier namespace to the present one, which the API server does with every write.
// One that is being deleted is released, and created again.
func (c *Controller) rebind(ctx context.Context, r record, sub *tree.Subnamespace) error {
	metadata := map[string]any{}
	if sub.Terminating {
		metadata["finalizers"] = slices.DeleteFunc(slices.Clone(sub.Finalizers), func(f string) bool { return f == hnc.FinalizerSubnamespace })
	}
	return c.patchSubnamespace(ctx, r, sub, metadata)
}

func (c *Controller) patchSubnamespace(ctx context.Context, r record, sub *tree.Subnamespace, metadata map[string]any) error {
	metadata["uid"] = sub.UID
	patch, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return err
	}
	patched, err := c.Hierarchy.HncV1beta1().Subnamespaces(r.parent).Patch(ctx, r.name, types.MergePatchType, patch, metav1.PatchOptions{})
	return c.afterWrite(ctx, "Subnamespace", "patch", r, err, func() {
		if sub.Terminating && !c.DryRun {
			return
		}
		patched.DeletionTimestamp = nil // A dry run stands for the Subnamespace that is created then.
		c.Written(&patched.ObjectMeta)
		c.Cache.ObserveSubnamespace(patched)
	})
}

// setParent sets the parent in an existing Hierarchy, which binds it to the present namespace.
func (c *Controller) setParent(ctx context.Context, r record) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"annotations": restoring}, "spec": map[string]any{"parent": r.parent},
	})
	if err != nil {
		return err
	}
	patched, err := c.Hierarchy.HncV1beta1().Hierarchies(r.name).Patch(ctx, hnc.Singleton, types.MergePatchType, patch, metav1.PatchOptions{})
	return c.afterWrite(ctx, "Hierarchy", "patch", r, err, func() {
		c.Written(&patched.ObjectMeta)
		c.Cache.ObserveHierarchy(patched)
	})
}
