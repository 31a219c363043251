package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/adoption"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// mover gives many namespaces parents, by a request for each.
type mover struct {
	clients *Clients
	// validating sends the dry runs without showing their warnings: what they predict for each move does not take the
	// other moves into account.
	validating *Clients
	errOut     io.Writer
	// skips has a move left out, instead of an error, if the server rejects it, if the namespace has changed since it was
	// validated, or if it has another parent and relocates is false.
	skips, relocates bool
	// unsent sends no dry runs.
	unsent bool
}

type outcome int

const (
	outcomePending outcome = iota
	outcomeSkipped
	outcomeUnchanged
	outcomeMoved
)

// placed is a move and what has become of it.
type placed struct {
	adoption.Move
	// uid and before are the UID and the parent of the hierarchy that was read first, "" for none.
	uid    types.UID
	before string
	// namespace is the UID of the namespace if that had no hierarchy, "" if the user may not get it.
	namespace types.UID
	// hierarchy is the hierarchy of the namespace after the last request about it.
	hierarchy *v1beta1.Hierarchy
	outcome   outcome
}

// validate has the server validate the moves one by one, each in the tree as it is, and returns them, and those that
// are left out. It changes nothing, and stops at the first error.
func (m *mover) validate(ctx context.Context, moves []adoption.Move) ([]placed, []adoption.Skipped, error) {
	line := NewProgress(m.errOut)
	defer line.Clear()
	all := make([]placed, 0, len(moves))
	var skipped []adoption.Skipped
	for i, move := range moves {
		line.countf(i, len(moves), "namespaces validated")
		p, rejection, err := m.validateMove(ctx, move)
		switch {
		case err != nil:
			line.Clear()
			return nil, nil, &prefixedError{fmt.Sprintf("Could not move %s, so nothing was changed.", move.Namespace), err}
		case rejection != "":
			skipped = append(skipped, adoption.Skipped{Namespace: move.Namespace, Reason: rejection})
		default:
			all = append(all, p)
		}
	}
	return all, skipped, nil
}

// validateMove returns a move that can be made, or why it is left out.
func (m *mover) validateMove(ctx context.Context, move adoption.Move) (p placed, rejection string, err error) {
	p = placed{Move: move}
	h, err := getHierarchy(ctx, m.validating, move.Namespace)
	if err == nil {
		p.uid, p.before, p.hierarchy = h.UID, h.Spec.Parent, h
	}
	if err == nil && p.uid == "" {
		p.namespace, err = namespaceUID(ctx, m.validating, move.Namespace)
	}
	switch {
	case err != nil:
	case p.before == move.Parent:
		p.outcome = outcomeUnchanged
	case m.skips && !m.relocates && p.before != "":
		return p, fmt.Sprintf("it is below %s; move it by --move", p.before), nil
	case m.unsent:
		p.hierarchy = hierarchyWithParent(move.Namespace, move.Parent)
	default:
		p.hierarchy, err = patchParent(ctx, m.validating, move.Namespace, move.Parent, []string{metav1.DryRunAll})
	}
	if m.leavesOut(err) {
		return p, ServerMessage(err), nil
	}
	return p, "", err
}

// errChanged is the error of a move that is not the one that was validated any more.
var errChanged = errors.New("the namespace or its hierarchy has changed since it was validated")

// leavesOut reports whether an error is about one move only, which is left out.
func (m *mover) leavesOut(err error) bool {
	return m.skips && (errors.Is(err, errChanged) || apierrors.IsConflict(err) || apierrors.IsForbidden(err) || apierrors.IsInvalid(err) ||
		apierrors.IsNotFound(err) && !isUnserved(err))
}

// move makes the pending moves in their order, calls made after each, and stops at the first error, which says what is
// left. Those that are left out get a warning.
func (m *mover) move(ctx context.Context, all []placed, made func(*placed) error) error {
	line := NewProgress(m.errOut)
	defer line.Clear()
	for i := range all {
		p := &all[i]
		if p.outcome != outcomePending {
			continue
		}
		line.countf(i, len(all), "namespaces done")
		h, err := m.place(ctx, p)
		line.Clear()
		if m.leavesOut(err) {
			p.outcome = outcomeSkipped
			warnSkipped(m.errOut, adoption.Skipped{Namespace: p.Namespace, Reason: ServerMessage(err)})
			continue
		}
		if err != nil {
			return incomplete(all, i, err)
		}
		p.hierarchy, p.outcome = h, outcomeMoved
		if err := made(p); err != nil {
			return err
		}
	}
	return nil
}

// place gives a namespace its parent, unless it has got another one since it was read. Other changes of its hierarchy,
// for example of the status, do not matter.
func (m *mover) place(ctx context.Context, p *placed) (h *v1beta1.Hierarchy, err error) {
	err = retryOnModified(func() error {
		current, err := getHierarchy(ctx, m.clients, p.Namespace)
		if err != nil {
			return err
		}
		same := current.UID == p.uid
		if p.uid == "" {
			now, err := namespaceUID(ctx, m.clients, p.Namespace)
			if err != nil {
				return err
			}
			same = now == p.namespace
		}
		if current.Spec.Parent == p.Parent && same {
			h = current // Somebody else has moved it there.
			return nil
		}
		if current.Spec.Parent != p.before || !same {
			return fmt.Errorf("%w%s", errChanged, nowBelow(current.Spec.Parent))
		}
		client := m.clients.Hierarchy.HncV1beta1().Hierarchies(p.Namespace)
		if current.ResourceVersion == "" {
			h, err = client.Create(ctx, hierarchyWithParent(p.Namespace, p.Parent), metav1.CreateOptions{})
			return err
		}
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": current.ResourceVersion}, "spec": map[string]any{"parent": p.Parent}})
		if err == nil {
			h, err = client.Patch(ctx, hnc.Singleton, types.MergePatchType, patch, metav1.PatchOptions{})
		}
		return err
	})
	return h, err
}

func warnSkipped(errOut io.Writer, s adoption.Skipped) {
	Warnf(errOut, "namespace %s is skipped: %s", s.Namespace, s.Reason)
}

// namespaceUID returns the UID of a namespace, "" if it does not exist, or the user may not get it.
func namespaceUID(ctx context.Context, c *Clients, name string) (types.UID, error) {
	ns, err := c.namespaces.Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		return "", nil
	case err != nil:
		return "", err
	}
	return ns.UID, nil
}

// incomplete returns the error of the moves of which the given one has failed.
func incomplete(all []placed, failed int, err error) error {
	var left []string
	done := 0
	for _, p := range all {
		switch p.outcome {
		case outcomeMoved:
			done++
		case outcomePending:
			left = append(left, p.Namespace)
		}
	}
	named := names.List(left, adoption.MaxNamed, ", ")
	return &prefixedError{fmt.Sprintf("Could not move %s. Namespaces moved: %d; not moved: %s. Repeat the command to continue.", all[failed].Namespace, done, named), err}
}

// patchParent changes the parent only, regardless of concurrent changes. A namespace that was never in a tree has no
// hierarchy yet.
func patchParent(ctx context.Context, c *Clients, namespace, parent string, dryRun []string) (*v1beta1.Hierarchy, error) {
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"parent": parent}})
	if err != nil {
		return nil, err
	}
	client := c.Hierarchy.HncV1beta1().Hierarchies(namespace)
	h, err := client.Patch(ctx, hnc.Singleton, types.MergePatchType, patch, metav1.PatchOptions{DryRun: dryRun})
	if !apierrors.IsNotFound(err) || isUnserved(err) {
		return h, err
	}
	return client.Create(ctx, hierarchyWithParent(namespace, parent), metav1.CreateOptions{DryRun: dryRun})
}
