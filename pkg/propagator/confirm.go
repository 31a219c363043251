package propagator

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/managed"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/namespaces"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

// What the watches have brought may be seconds old, each in its own way. Most of what is decided on it can be mended by the next
// decision. The few acts that can't are confirmed first, on what the servers say now; errStale says that the picture has to
// catch up.

// confirmChain confirms that namespace is still below ancestor, before an object of its own is overwritten.
func (p *Propagator) confirmChain(ctx context.Context, namespace, ancestor string) error {
	p.mu.RLock()
	chain := p.tree.Chain(namespace)
	p.mu.RUnlock()
	for i, at := range chain {
		if at == ancestor {
			return nil
		}
		if i+1 == len(chain) {
			break
		}
		parent, err := p.liveParent(ctx, at, chain[i+1])
		if err != nil {
			return err
		}
		if parent != chain[i+1] {
			return fmt.Errorf("%w: the parent of namespace %q is %q now", errStale, at, parent)
		}
	}
	return fmt.Errorf("%w: namespace %q is not below %q", errStale, namespace, ancestor)
}

// liveParent returns the parent that the namespace's records name now. expected is where its Subnamespace is looked for.
func (p *Propagator) liveParent(ctx context.Context, namespace, expected string) (string, error) {
	h, err := p.Hierarchy.HncV1beta1().Hierarchies(namespace).Get(ctx, hnc.Singleton, metav1.GetOptions{})
	if err == nil && h.Spec.Parent != "" {
		return h.Spec.Parent, nil
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return "", err
	}
	_, err = p.Hierarchy.HncV1beta1().Subnamespaces(expected).Get(ctx, namespace, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	return expected, err
}

// confirmRelease confirms what speaks for letting a sub-namespace live without its Subnamespace: that there is no such namespace, or
// that it belongs elsewhere or has children.
func (p *Propagator) confirmRelease(ctx context.Context, s *tree.Subnamespace) error {
	p.mu.RLock()
	ns, h, children := p.tree.Namespace(s.Name), p.tree.Hierarchy(s.Name), p.tree.HasChildren(s.Name)
	plan := namespaces.Subnamespace(p.tree, s.Key, metav1.Now())
	p.mu.RUnlock()
	if plan.Action != namespaces.Release {
		return fmt.Errorf("%w: it speaks for %s now", errStale, plan.Action)
	}
	if ns == nil {
		live, err := p.Kubernetes.CoreV1().Namespaces().Get(ctx, s.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return err
		}
		return fmt.Errorf("%w: namespace %q exists since version %s", errStale, s.Name, live.ResourceVersion)
	}
	if ns.SubnamespaceOf != s.Parent || s.Void {
		return nil
	}
	live, err := p.Hierarchy.HncV1beta1().Hierarchies(s.Name).Get(ctx, hnc.Singleton, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	if err == nil && h != nil && live.Spec.Parent != h.Parent {
		return fmt.Errorf("%w: the parent of namespace %q is %q now", errStale, s.Name, live.Spec.Parent)
	}
	if !children {
		return nil
	}
	if children, err = p.hasLiveChildren(ctx, s.Name); err != nil {
		return err
	}
	if !children {
		return fmt.Errorf("%w: namespace %q has no children any more", errStale, s.Name)
	}
	return nil
}

// confirmConversion confirms that the namespace of a Subnamespace is not, or again, its sub-namespace: what is void stays so.
func (p *Propagator) confirmConversion(ctx context.Context, s *tree.Subnamespace) error {
	live, err := p.Kubernetes.CoreV1().Namespaces().Get(ctx, s.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil && managed.SubnamespaceOf(live.Annotations) == s.Parent {
		err = fmt.Errorf("%w: namespace %q is a sub-namespace of %q since version %s", errStale, s.Name, s.Parent, live.ResourceVersion)
	}
	return err
}

// hasLiveChildren says whether a namespace names the given one as its parent, or is asked for in it, now.
func (p *Propagator) hasLiveChildren(ctx context.Context, namespace string) (bool, error) {
	hierarchies, err := p.Hierarchy.HncV1beta1().Hierarchies(metav1.NamespaceAll).List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("spec.parent", namespace).String(),
	})
	if err != nil || len(hierarchies.Items) > 0 {
		return err == nil, err
	}
	subnamespaces, err := p.Hierarchy.HncV1beta1().Subnamespaces(namespace).List(ctx, metav1.ListOptions{})
	return err == nil && len(subnamespaces.Items) > 0, err
}
