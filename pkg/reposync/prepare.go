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
		defer w.rejected(done)
		next = nil
	}
	if next == nil {
		next = w.current
	}
	stale := w.result == nil || len(w.result.Errors) > 0 || len(w.unknown) > 0 || w.unverified
	if next == nil || next == w.current && !stale {
		return nil
	}
	if err := w.cluster.Refresh(ctx); err != nil {
		return err
	}
	done.seen = next.commit
	refused, err := w.adopt(ctx, next)
	switch {
	case err != nil:
		return err
	case refused == nil && next == w.candidate:
		w.candidate = nil
	case refused != nil && next == w.candidate:
		// Only what is reported is kept: other repositories need the memory.
		next.share.release()
		w.source.refuse()
		done.rejected(refused.reason, refused.errors)
		refused.message, refused.errors = done.message, slices.Clone(refused.errors[:min(maxReported, len(refused.errors))])
		w.candidate = &revision{commit: next.commit, refused: refused}
	case refused != nil:
		done.rejected(refused.reason, refused.errors)
	}
	return nil
}

// rejected records that the candidate was refused.
func (w *worker) rejected(done *outcome) {
	done.seen, done.errors = w.candidate.commit, w.candidate.refused.errors
	done.fail(w.candidate.refused.reason, w.candidate.refused.message)
}

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
	err := inTurn(ctx, func(ctx context.Context) error {
		var err error
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
