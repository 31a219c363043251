package propagator

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/namespaces"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

// subnamespace does what a Subnamespace needs. Whoever created it waits for the last of these writes, so there are as few
// in a row as possible: the namespace, then all that belongs in it at once, then the status.
func (p *Propagator) subnamespace(ctx context.Context, key tree.Key) error {
	p.mu.RLock()
	s := p.tree.SubnamespaceRecord(key)
	parent := p.tree.Namespace(key.Parent)
	plan := namespaces.Subnamespace(p.tree, key, metav1.Now())
	p.mu.RUnlock()

	if s != nil && s.Misbound && !s.Terminating {
		// As with a Hierarchy. What is not legal any more stays as it is.
		if err := p.bindSubnamespace(ctx, s); !refused(err) {
			return err
		}
	}
	var err error
	switch plan.Action {
	case namespaces.Leave:
	case namespaces.Require:
		err = p.require(ctx, key)
	case namespaces.Release:
		if err = p.confirmRelease(ctx, s); err == nil {
			err = p.release(ctx, s)
		}
	case namespaces.Void:
		err = p.void(ctx, s, plan)
	case namespaces.Delete:
		err = p.deleteNamespace(ctx, key.Name, plan)
	case namespaces.Report:
		err = p.report(ctx, s, plan.Status)
	case namespaces.Create:
		if plan.MarkParent {
			value := "true"
			if err := p.label(ctx, parent, map[string]*string{hnc.LabelHasSubnamespaces: &value}, nil); err != nil {
				return err
			}
			// The parent may have gone meanwhile.
			p.mu.RLock()
			plan = namespaces.Subnamespace(p.tree, key, metav1.Now())
			p.mu.RUnlock()
			if plan.Action != namespaces.Create || plan.MarkParent {
				return errStale
			}
		}
		err = p.settle(ctx, s, plan)
	case namespaces.Settle:
		err = p.settle(ctx, s, plan)
	}
	if err != nil {
		return err
	}
	at := p.unstamp(queue.Key{Class: queue.Subnamespace, Namespace: key.Parent, Name: key.Name})
	if (plan.Action == namespaces.Create || plan.Action == namespaces.Settle) && !at.IsZero() {
		p.Metrics.Created(time.Since(at))
	}
	return nil
}

// settle creates the namespace if the plan says so, writes all that it inherits, and reports.
func (p *Propagator) settle(ctx context.Context, s *tree.Subnamespace, plan namespaces.Plan) error {
	// Work that the creation causes finds the namespace being settled, and leaves it alone.
	p.mu.Lock()
	p.settling[s.Name] = struct{}{}
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.settling, s.Name)
		p.mu.Unlock()
		p.bulk.Add(queue.Key{Class: queue.Destination, Namespace: s.Name})
	}()

	if plan.Action == namespaces.Create {
		if err := together([]func() error{
			func() error { return p.createNamespace(ctx, plan.Namespace) },
			func() error { return p.refreshPodSecurity(ctx, s.Parent) },
		}); err != nil {
			return p.unready(ctx, s, v1beta1.SubnamespaceMissing, err)
		}
	}
	// Labels restrict what the copies permit, so they come first. There is nothing to do for a namespace that was just created, unless the
	// parent's Pod Security labels have changed meanwhile.
	if err := p.labels(ctx, s.Name); err != nil {
		return p.unready(ctx, s, v1beta1.SubnamespaceOk, err)
	}
	steps := []func() error{func() error { return p.allCopies(ctx, p.urgentSlots, s.Name) }}
	if plan.SetParent || plan.SetMetadata {
		steps = append(steps, func() error { return p.join(ctx, s, plan) })
	}
	if plan.Creator != nil {
		steps = append(steps, func() error { return p.bindCreator(ctx, s, plan.Creator) })
	}
	if err := together(steps); err != nil {
		return p.unready(ctx, s, v1beta1.SubnamespaceOk, err)
	}
	return p.report(ctx, s, plan.Status)
}

func (p *Propagator) createNamespace(ctx context.Context, namespace *corev1.Namespace) error {
	created, err := p.Kubernetes.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	return p.result("Namespace", "create", namespace.Name, err, func() { p.enterNamespace(created) })
}

// refreshPodSecurity reads a parent whose Pod Security labels a new sub-namespace inherits: the watch may be late, and a label that makes the
// parent stricter has to be there before anybody can use the sub-namespace.
func (p *Propagator) refreshPodSecurity(ctx context.Context, parent string) error {
	if !p.InheritPodSecurity {
		return nil
	}
	live, err := p.Kubernetes.CoreV1().Namespaces().Get(ctx, parent, metav1.GetOptions{})
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.enterNamespace(live)
	return nil
}

// join makes the Hierarchy of a sub-namespace say what its Subnamespace says.
func (p *Propagator) join(ctx context.Context, s *tree.Subnamespace, plan namespaces.Plan) error {
	p.mu.RLock()
	h := p.tree.Hierarchy(s.Name)
	p.mu.RUnlock()
	if h == nil {
		return p.createHierarchy(ctx, s.Name, s.Parent, s.Metadata)
	}
	return p.place(ctx, h, s, plan)
}

// unready reports an error that repeating alone won't mend, and returns it.
func (p *Propagator) unready(ctx context.Context, s *tree.Subnamespace, state v1beta1.SubnamespaceState, err error) error {
	if !refused(err) {
		return err
	}
	// Once is enough, even if the server words it differently each time: a new status would be acted on at once.
	ready := meta.FindStatusCondition(s.Status.Conditions, hnc.ConditionReady)
	if ready != nil && ready.Reason == hnc.ReasonPropagationFailed && ready.ObservedGeneration == s.Generation && s.Status.State == state {
		return err
	}
	p.mu.RLock()
	status := namespaces.Unready(p.tree, s, state, hnc.ReasonPropagationFailed, err.Error(), metav1.Now())
	p.mu.RUnlock()
	return errors.Join(err, p.report(ctx, s, status))
}

func refused(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Code/100 == 4 && !errors.Is(err, errStale) && !apierrors.IsTooManyRequests(err)
}

func (p *Propagator) report(ctx context.Context, s *tree.Subnamespace, status v1beta1.SubnamespaceStatus) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": s.UID}, "status": status})
	if err != nil {
		return err
	}
	return p.patch(ctx, s, patch, "status")
}

// void marks a Subnamespace whose namespace was converted. The namespace keeps its place: its Hierarchy names the parent first.
func (p *Propagator) void(ctx context.Context, s *tree.Subnamespace, plan namespaces.Plan) error {
	if err := p.confirmConversion(ctx, s); err != nil {
		return err
	}
	if plan.SetParent {
		if err := p.join(ctx, s, plan); err != nil {
			return err
		}
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": s.UID, "annotations": map[string]any{hnc.AnnotationVoid: "true"}}})
	if err != nil {
		return err
	}
	return p.patch(ctx, s, patch)
}

func (p *Propagator) bindSubnamespace(ctx context.Context, s *tree.Subnamespace) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": s.UID}})
	if err != nil {
		return err
	}
	return p.patch(ctx, s, patch)
}

// release removes our finalizer.
func (p *Propagator) release(ctx context.Context, s *tree.Subnamespace) error {
	others := slices.DeleteFunc(slices.Clone(s.Finalizers), func(f string) bool { return f == hnc.FinalizerSubnamespace })
	// The version is named because the whole list is written.
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": s.UID, "resourceVersion": s.ResourceVersion, "finalizers": others}})
	if err != nil {
		return err
	}
	return p.patch(ctx, s, patch)
}

func (p *Propagator) patch(ctx context.Context, s *tree.Subnamespace, patch []byte, subresources ...string) error {
	patched, err := p.Hierarchy.HncV1beta1().Subnamespaces(s.Parent).Patch(ctx, s.Name, types.MergePatchType, patch, metav1.PatchOptions{}, subresources...)
	return p.result("Subnamespace", "patch", s.Parent, err, func() { p.enterSubnamespace(patched) })
}

// deleteNamespace deletes the namespace as it was seen: one that was changed since, so that it is no sub-namespace any more
// perhaps, is looked at again first.
func (p *Propagator) deleteNamespace(ctx context.Context, name string, plan namespaces.Plan) error {
	err := p.Kubernetes.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &plan.UID, ResourceVersion: &plan.ResourceVersion},
	})
	// What follows is seen by the watch.
	return p.result("Namespace", "delete", name, err, func() {})
}
