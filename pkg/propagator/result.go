package propagator

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/tree"
)

// result counts a write of something else than a copy, enters it in the picture if it was made, and returns what there is to repeat.
// What has gone meanwhile, or goes, is no error.
func (p *Propagator) result(kind, verb, name string, err error, enter func()) error {
	var outcome string
	defer func() { p.Metrics.Write(kind, verb, outcome) }()
	switch {
	case err == nil:
		outcome = "done"
		p.mu.Lock()
		defer p.mu.Unlock()
		enter()
		return nil
	case copies.Gone(err), apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		outcome = "done"
		return nil
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		outcome = "stale"
		return fmt.Errorf("%w: %w", errStale, err)
	}
	outcome = "failed"
	if apierrors.IsForbidden(err) || apierrors.IsInvalid(err) {
		outcome = "refused"
	}
	return fmt.Errorf("%s %s of namespace %q: %w", verb, kind, name, err)
}

func (p *Propagator) enterNamespace(ns *corev1.Namespace) {
	if p.ahead("namespaces", ns.ResourceVersion) {
		p.setNamespace(tree.NewNamespace(ns))
	}
}

func (p *Propagator) enterHierarchy(h *v1beta1.Hierarchy) {
	if p.ahead("hierarchies", h.ResourceVersion) {
		p.affect(p.tree.SetHierarchy(tree.NewHierarchy(h)))
	}
}

func (p *Propagator) enterSubnamespace(s *v1beta1.Subnamespace) {
	if p.ahead("subnamespaces", s.ResourceVersion) {
		p.affect(p.tree.SetSubnamespace(tree.NewSubnamespace(s)))
	}
}
