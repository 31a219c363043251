package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/cli/adoption"
)

// mover gives many namespaces parents, by a request for each.
type mover struct {
	clients *Clients
	// validating sends the dry runs without showing their warnings: what they predict for each move does not take the
	// other moves into account.
	validating *Clients
	errOut     io.Writer
}

type outcome int

const (
	outcomePending outcome = iota
	outcomeUnchanged
	outcomeMoved
)

// placed is a move and what has become of it.
type placed struct {
	adoption.Move
	// hierarchy is the hierarchy of the namespace after the last request about it.
	hierarchy *v1beta1.Hierarchy
	outcome   outcome
}

// validate has the server validate the moves one by one, each in the tree as it is, and returns them. It changes
// nothing, and stops at the first error.
func (m *mover) validate(ctx context.Context, moves []adoption.Move) ([]placed, error) {
	line := NewProgress(m.errOut)
	defer line.Clear()
	all := make([]placed, len(moves))
	for i, move := range moves {
		line.countf(i, len(moves), "namespaces validated")
		h, err := getHierarchy(ctx, m.validating, move.Namespace)
		outcome := outcomePending
		switch {
		case err != nil:
		case h.Spec.Parent == move.Parent:
			outcome = outcomeUnchanged
		default:
			h, err = patchParent(ctx, m.validating, move.Namespace, move.Parent, []string{metav1.DryRunAll})
		}
		if err != nil {
			line.Clear()
			return nil, &prefixedError{fmt.Sprintf("Could not move %s, so nothing was changed.", move.Namespace), err}
		}
		all[i] = placed{move, h, outcome}
	}
	return all, nil
}

// move makes the pending moves in their order, calls made after each, and stops at the first error, which says what is
// left.
func (m *mover) move(ctx context.Context, all []placed, made func(*placed) error) error {
	line := NewProgress(m.errOut)
	defer line.Clear()
	for i := range all {
		p := &all[i]
		if p.outcome != outcomePending {
			continue
		}
		line.countf(i, len(all), "namespaces done")
		h, err := patchParent(ctx, m.clients, p.Namespace, p.Parent, nil)
		line.Clear()
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

// maxNamed bounds the namespaces that an error names.
const maxNamed = 20

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
	named := strings.Join(left[:min(len(left), maxNamed)], ", ")
	if more := len(left) - maxNamed; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
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
