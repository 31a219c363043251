package reposync

import (
	"context"
	"errors"
	"fmt"
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
	if next == nil || next == w.current && !stale {
		return nil
	}
	done.seen = next.commit
	refused, err := w.adopt(ctx, next)
	if err != nil {
		return err
	}
	next.refused = refused
	if refused != nil {
		next.report(done)
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

// recompileFactor limits how often the revision in force is compiled again: after that many times as long as the last
// compilation took. It may lack kinds for ever, and others need turns.
const recompileFactor = 10

// refusal is why a revision is not applied, or not compiled again: the reason and the message of the condition Ready, and
// the errors that are reported.
type refusal struct {
	reason, message string
	errors          report.Errors
}

// refuse returns the refusal of a revision. The one in force remains so.
func (w *worker) refuse(next *revision, reason string, errors report.Errors) *refusal {
	what := "is not applied"
	if next == w.current {
		what = "remains in force as it was"
	}
	message := fmt.Sprintf("commit %s %s: %d error(s), the first is %s", short(next.commit), what, len(errors), errors[0].Code)
	return &refusal{reason, message, slices.Clone(errors[:min(maxReported, len(errors))])}
}

// adopt makes a revision current, unless it must not be applied. If it is too early to compile the current one again, only
// the watches of unknown kinds are tried again. While it waits for its turn to compile, for any time, the revision in force
// is not corrected.
func (w *worker) adopt(ctx context.Context, next *revision) (*refusal, error) {
	if next == w.current && w.manager.now().Before(next.again) {
		if len(w.unknown) > 0 {
			if err := w.watch(ctx, w.desired); err != nil {
				return nil, err
			}
		}
		if next.refused != nil {
			return next.refused, nil
		}
		return w.verify(next, w.result, w.desired), nil
	}
	if err := w.cluster.Refresh(ctx); err != nil {
		return nil, err
	}
	served, incomplete := w.cluster.Scopes()
	var result *repository.Result
	var desired []*plan.Object
	var refused *refusal
	err := inTurn(ctx, w.sync.Spec.ServiceAccount, func(ctx context.Context) (err error) {
		begin := w.manager.now()
		defer func() { next.again = w.manager.now().Add(recompileFactor * w.manager.now().Sub(begin)) }()
		if result, err = next.compile(ctx, &w.sync.Spec, served, w.current); err != nil {
			return err
		}
		if !isApplicable(result) {
			refused = w.refuse(next, hnc.ReasonInvalidRepository, result.Errors)
			return nil
		}
		if problem := next.share.take(next.values*valueBytes+int64(len(result.Objects))*objectBytes, w.source.applied); problem != nil {
			return problem
		}
		desired, err = plan.Desired(ctx, result, w.sync.Name)
		return err
	})
	if limit := (*report.Error)(nil); errors.As(err, &limit) {
		refused, err = w.refuse(next, hnc.ReasonInvalidRepository, report.Errors{limit}), nil
	}
	if err != nil || refused != nil {
		return refused, err
	}
	if err := w.watch(ctx, desired); err != nil {
		return nil, err
	}
	if refused := w.verify(next, result, desired); refused != nil {
		return refused, nil
	}
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

// verify refuses a revision that would delete too much. As long as that is not known, the revision is unverified.
func (w *worker) verify(next *revision, result *repository.Result, desired []*plan.Object) *refusal {
	if next == w.current && !w.unverified {
		return nil
	}
	unverified := w.unknown[object.Namespace] != nil || w.unknown[object.CRD] != nil
	if !unverified && w.sync.Spec.Prune {
		state := w.cluster.State()
		if removed := plan.RemovedDefinitions(state, desired, w.cluster.Resource); len(removed) > 0 {
			return w.refuse(next, hnc.ReasonInvalidRepository, removed)
		}
		if unsafe := plan.Unsafe(state, result, w.sync.Spec.AllowMassDeletion); len(unsafe) > 0 {
			return w.refuse(next, hnc.ReasonUnsafeRevision, unsafe)
		}
	}
	w.unverified = unverified
	return nil
}
