package treeplacement

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/audit"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/forest"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// maxTries bounds how often a request is evaluated. Each lost fence means that a concurrent write succeeded.
const maxTries = 20

// auditAnnotation is the audit annotation of a request that has moved namespaces. The write of each hierarchy is an audit event of its own, with the
// same ID.
const auditAnnotation = "treeplacements.hnc.x-k8s.io/moved"

// request is one request.
type request struct {
	*REST
	name       string
	placements []forest.Placement
	options    *metav1.CreateOptions

	// results holds what is committed, or would be, by namespace. It outlives a lost fence.
	results map[string]hnc.PlacementResult
	// order holds the indexes of the placements, parents before their children.
	order        []int
	transactions int32
	// committing is true once writes may have been made.
	committing bool
}

// moveAll evaluates and commits placements until all are made, or one is rejected.
func (r *REST) moveAll(ctx context.Context, asked *hnc.TreePlacement, options *metav1.CreateOptions) (hnc.TreePlacementStatus, error) {
	req := &request{REST: r, name: asked.Name, options: options, results: map[string]hnc.PlacementResult{}}
	for _, placement := range asked.Spec.Placements {
		req.placements = append(req.placements, forest.Placement{Name: placement.Namespace, Parent: placement.Parent})
	}
	r.warmUp(ctx, req.placements)
	err := req.evaluate(ctx, false)
	for try := 1; err != nil && again(err, try) && ctx.Err() == nil; try++ {
		err = req.evaluate(ctx, true)
	}
	status := req.status()
	if status.Moved > 0 && len(options.DryRun) == 0 {
		audit.AddAuditAnnotation(ctx, auditAnnotation, fmt.Sprintf("%d of %d namespaces in %d transactions", status.Moved, len(req.placements), status.Transactions))
	}
	if err != nil {
		return hnc.TreePlacementStatus{}, req.incomplete(err)
	}
	return status, nil
}

// again reports whether a request is to be evaluated on fresh reads: after a lost fence, and after a rejection that is based on the caches.
func again(err error, try int) bool {
	var rejected *rejection
	return (errors.Is(err, fence.ErrLost) && try < maxTries) || (errors.As(err, &rejected) && !rejected.fresh)
}

// evaluate evaluates all placements, and commits them if none is rejected.
func (r *request) evaluate(ctx context.Context, fresh bool) error {
	p := r.Moves.NewPlacements(r.placements, fresh)
	batch := r.NewBatch()
	defer batch.Abandon()
	defer p.Close()
	var err error
	if r.order, err = p.Order(ctx, r.placements); err != nil {
		return err
	}
	waiting, index, err := r.write(tree.WithPlacements(ctx, p), p, batch, fresh)
	if err != nil {
		return err
	}
	results, err := r.evaluated(ctx, p)
	if err != nil {
		return err
	}
	r.committing = true
	err = batch.CommitAll(ctx, waiting, func(w *fence.Write) {
		r.transactions++
		r.report(results[index[w]])
	})
	if err != nil {
		return err
	}
	for _, result := range results {
		r.report(result)
	}
	return nil
}

// write runs the writes of all placements, in their order. It returns those that wait for a transaction, and the indexes of their placements: not those of
// dry runs, and of placements that change nothing.
func (r *request) write(ctx context.Context, p *tree.Placements, batch *fence.Batch, fresh bool) ([]*fence.Write, map[*fence.Write]int, error) {
	get := r.CachedHierarchy
	if fresh {
		get = r.Hierarchy
	}
	var waiting []*fence.Write
	index := map[*fence.Write]int{}
	rejected := &rejection{fresh: fresh, names: map[string]bool{}}
	for _, i := range r.order {
		placement := r.placements[i]
		if rejected.includesParent(placement) {
			continue
		}
		_, err := get(ctx, placement.Name)
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, nil, err
		}
		write := Write{Namespace: placement.Name, Parent: placement.Parent, Exists: err == nil, Options: r.options}
		var failed error
		w := batch.Do(ctx, func(ctx context.Context) { failed = r.Write(ctx, write) })
		switch {
		case w.Waits():
			waiting, index[w] = append(waiting, w), i
		case raced(write, failed):
			return nil, nil, fence.ErrLost
		case failed != nil:
			rejected.add(i, placement, failed)
			continue
		}
		if err := p.Plan(w.Guard()); err != nil {
			return nil, nil, err
		}
	}
	if len(rejected.errors) > 0 {
		return nil, nil, rejected
	}
	return waiting, index, nil
}

// raced reports whether the hierarchy has been created or deleted since it was looked up.
func raced(write Write, err error) bool {
	if write.Exists {
		var status apierrors.APIStatus
		return apierrors.IsNotFound(err) && errors.As(err, &status) && status.Status().Details != nil && status.Status().Details.Kind == "hierarchies"
	}
	return apierrors.IsAlreadyExists(err)
}

// evaluated returns the results of the placements, in their own order.
func (r *request) evaluated(ctx context.Context, p *tree.Placements) ([]hnc.PlacementResult, error) {
	results := make([]hnc.PlacementResult, len(r.placements))
	for i, placement := range r.placements {
		before, after, err := p.Parents(ctx, placement.Name)
		if err != nil {
			return nil, err
		}
		results[i] = hnc.PlacementResult{Namespace: placement.Name, Outcome: hnc.PlacementUnchanged, Parent: after}
		if before != after {
			results[i].Outcome, results[i].PreviousParent = hnc.PlacementMoved, before
		}
	}
	return results, nil
}

// report records a result. What an earlier evaluation has moved is unchanged in a later one.
func (r *request) report(result hnc.PlacementResult) {
	if known, ok := r.results[result.Namespace]; !ok || known.Outcome == hnc.PlacementUnchanged {
		r.results[result.Namespace] = result
	}
}

// status returns the results so far.
func (r *request) status() hnc.TreePlacementStatus {
	status := hnc.TreePlacementStatus{Transactions: r.transactions}
	for _, i := range r.order {
		result, ok := r.results[r.placements[i].Name]
		switch {
		case !ok:
			continue
		case result.Outcome == hnc.PlacementMoved:
			status.Moved++
		default:
			status.Unchanged++
		}
		status.Placements = append(status.Placements, result)
	}
	return status
}
