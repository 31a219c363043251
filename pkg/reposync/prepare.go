package reposync

import (
	"context"
	"errors"
	"slices"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

// prepare compiles the revision that is to be applied, and makes it current. If it must not be applied, the one before
// remains in force.
func (w *worker) prepare(ctx context.Context, done *outcome) error {
	next := w.candidate
	if next != nil && next.refused != nil {
		defer next.report(done)
		next = nil
	}
	if next == nil {
		next = w.current
	}
	stale := w.result == nil || len(w.result.Errors) > 0 || len(w.unknown) > 0 || w.unverified
	switch {
	case next == nil || next == w.current && !stale:
		return nil
	case next == w.current && w.manager.now().Before(next.again):
		if next.refused != nil {
			next.report(done)
		}
		return nil
	}
	if err := w.cluster.Refresh(ctx); err != nil {
		return err
	}
	done.seen = next.commit
	refused, err := w.adopt(ctx, next)
	if err != nil {
		return err
	}
	next.refused = refused
	if refused != nil {
		done.rejected(refused.reason, refused.errors)
		refused.message, refused.errors = done.message, slices.Clone(refused.errors[:min(maxReported, len(refused.errors))])
	}
	switch {
	case next != w.candidate:
	case refused == nil:
		w.candidate = nil
	default:
		// Only what is reported is kept: other repositories need the memory.
		next.share.release()
		w.source.refuse()
		w.candidate = &revision{commit: next.commit, refused: refused}
	}
	return nil
}

// report records that the revision was refused.
func (r *revision) report(done *outcome) {
	done.seen, done.errors = r.commit, r.refused.errors
	done.fail(r.refused.reason, r.refused.message)
}

// recompileFactor is how many times as long as it has taken to compile the revision in force it is not compiled again, so that others
// are in turn meanwhile. It may lack kinds for ever.
const recompileFactor = 10

// refusal is why a revision is not applied: the reason and the message of the condition Synced, and the errors.
type refusal struct {
	reason, message string
	errors          report.Errors
}

// adopt makes a revision current, unless it must not be applied.
func (w *worker) adopt(ctx context.Context, next *revision) (*refusal, error) {
	served, incomplete := w.cluster.Scopes()
	var result *repository.Result
	var desired []*plan.Object
	var refused *refusal
	err := inTurn(ctx, func(ctx context.Context) (err error) {
		begin := w.manager.now()
		defer func() { next.again = w.manager.now().Add(recompileFactor * w.manager.now().Sub(begin)) }()
		if result, err = next.compile(ctx, &w.sync.Spec, served, w.current); err != nil {
			return err
		}
		if !isApplicable(result) {
			refused = &refusal{reason: hnc.ReasonInvalidRepository, errors: result.Errors}
			return nil
		}
		if problem := next.share.take(next.values*valueBytes+int64(len(result.Objects))*objectBytes, w.source.applied); problem != nil {
			return problem
		}
		desired, err = plan.Desired(ctx, result, w.sync.Name)
		return err
	})
	if limit := (*report.Error)(nil); errors.As(err, &limit) {
		refused, err = &refusal{reason: hnc.ReasonInvalidRepository, errors: report.Errors{limit}}, nil
	}
	if err != nil || refused != nil {
		return refused, err
	}
	if err := w.watch(ctx, desired); err != nil {
		return nil, err
	}
	unverified := w.unknown[object.Namespace] != nil || w.unknown[object.CRD] != nil
	if (next != w.current || w.unverified) && !unverified && w.sync.Spec.Prune {
		state := w.cluster.State()
		if removed := plan.RemovedDefinitions(state, desired, w.cluster.Resource); len(removed) > 0 {
			return &refusal{reason: hnc.ReasonInvalidRepository, errors: removed}, nil
		}
		if unsafe := plan.Unsafe(state, result, w.sync.Spec.AllowMassDeletion); len(unsafe) > 0 {
			return &refusal{reason: hnc.ReasonUnsafeRevision, errors: unsafe}, nil
		}
	}
	w.unverified = unverified && (next != w.current || w.unverified)
	if next != w.current {
		w.rejections.Revise(desired)
		if w.source.applied != nil {
			w.source.applied.release()
		}
		w.source.applied = &next.share
	}
	w.current, w.result, w.desired = next, result, desired
	if incomplete != nil {
		w.result.Errors = append(w.result.Errors, &report.Error{Code: report.UnknownKind, Message: incomplete.Error()})
	}
	return nil, nil
}
