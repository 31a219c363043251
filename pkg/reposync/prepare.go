package reposync

import (
	"context"

	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

// prepare compiles the revision that is to be applied, and makes it current. If it must not be applied, the one before remains in force; a process that
// does not know that reads it again.
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
	if last := w.sync.Status.AppliedCommit; w.current == nil && last != "" && last != next.commit {
		return w.restore(ctx, last)
	}
	return nil
}

// restore makes the revision current that was applied last. That it cannot be read, or not be applied any more, is no error of the source's.
func (w *worker) restore(ctx context.Context, commit string) error {
	last, err := w.source.pinned(ctx, commit)
	if err != nil {
		klog.FromContext(ctx).Error(err, "Cannot read the commit that was applied last; nothing is in force", "commit", commit)
		return nil
	}
	_, err = w.adopt(ctx, last)
	return err
}

// refusal is why a revision is not applied: the reason of the condition Synced, and the errors.
type refusal struct {
	reason string
	errors report.Errors
}

// adopt makes a revision current, unless it must not be applied.
func (w *worker) adopt(ctx context.Context, next *revision) (*refusal, error) {
	served, incomplete := w.cluster.Scopes()
	result := next.compile(&w.sync.Spec, served, w.current)
	if !isApplicable(result) {
		return &refusal{hnc.ReasonInvalidRepository, result.Errors}, nil
	}
	desired, err := plan.Desired(result, w.sync.Name)
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
	w.current, w.result, w.desired = next, result, desired
	if incomplete != nil {
		w.result.Errors = append(w.result.Errors, &report.Error{Code: report.UnknownKind, Message: incomplete.Error()})
	}
	return nil, nil
}
