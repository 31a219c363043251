package reposync

import (
	"context"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

// prepare compiles the revision that is to be applied, and makes it current. If it must not be applied, the one before
// remains in force.
func (w *worker) prepare(ctx context.Context, done *outcome) error {
	stale := w.result == nil || len(w.result.Errors) > 0 || len(w.unknown) > 0 || w.unverified
	if w.candidate == nil && !stale {
		return nil
	}
	if err := w.cluster.Refresh(ctx); err != nil {
		return err
	}
	next := w.candidate
	if next == nil {
		next = w.current
	}
	done.seen = next.commit
	refused, err := w.adopt(ctx, next)
	if err != nil {
		return err
	}
	if refused == nil {
		w.candidate = nil
		return nil
	}
	done.rejected(refused.reason, refused.errors)
	return nil
}

// refusal is why a revision is not applied: the reason of the condition Synced, and the errors.
type refusal struct {
	reason string
	errors report.Errors
}

// adopt makes a revision current, unless it must not be applied.
func (w *worker) adopt(ctx context.Context, next *revision) (*refusal, error) {
	served, incomplete := w.cluster.Scopes()
	result, err := next.compile(ctx, &w.sync.Spec, served, w.current)
	if err != nil {
		return nil, err
	}
	if !isApplicable(result) {
		return &refusal{hnc.ReasonInvalidRepository, result.Errors}, nil
	}
	desired, err := plan.Desired(ctx, result, w.sync.Name)
	if err != nil {
		return nil, err
	}
	if err := w.watch(ctx, desired); err != nil {
		return nil, err
	}
	unverified := w.unknown[object.Namespace] != nil || w.unknown[object.CRD] != nil
	if (next != w.current || w.unverified) && !unverified && w.sync.Spec.Prune {
		state := w.cluster.State()
		if errors := plan.RemovedDefinitions(state, desired, w.cluster.Resource); len(errors) > 0 {
			return &refusal{hnc.ReasonInvalidRepository, errors}, nil
		}
		if errors := plan.Unsafe(state, result, w.sync.Spec.AllowMassDeletion); len(errors) > 0 {
			return &refusal{hnc.ReasonUnsafeRevision, errors}, nil
		}
	}
	w.unverified = unverified && (next != w.current || w.unverified)
	if next != w.current {
		w.rejections.Revise(desired)
	}
	w.current, w.result, w.desired = next, result, desired
	if incomplete != nil {
		w.result.Errors = append(w.result.Errors, &report.Error{Code: report.UnknownKind, Message: incomplete.Error()})
	}
	return nil, nil
}
