package reposync

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
)

// report writes the status, if it has changed, and emits an event if the condition has.
func (w *worker) report(ctx context.Context, done *outcome) {
	old := w.sync.Status.DeepCopy()
	w.fill(&w.sync.Status, done)
	if apiequality.Semantic.DeepEqual(old, &w.sync.Status) {
		return
	}
	if err := w.writeStatus(ctx); err != nil {
		if ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "Cannot write the status")
		}
		// The next step compares with what is stored.
		w.sync.Status = *old
		return
	}
	before, after := meta.FindStatusCondition(old.Conditions, hnc.ConditionReady), meta.FindStatusCondition(w.sync.Status.Conditions, hnc.ConditionReady)
	if before == nil || before.Reason != after.Reason || before.Message != after.Message {
		kind := corev1.EventTypeWarning
		if after.Status == metav1.ConditionTrue || after.Reason == hnc.ReasonPaused {
			kind = corev1.EventTypeNormal
		}
		w.manager.Events.Event(w.sync, kind, after.Reason, after.Message)
		klog.FromContext(ctx).Info("Condition Ready has changed", "status", after.Status, "reason", after.Reason, "message", after.Message)
	}
}

// fill sets the status that follows from an outcome.
func (w *worker) fill(status *v1alpha3.RepositorySyncStatus, done *outcome) {
	status.ObservedGeneration = w.sync.Generation
	if done.seen != "" {
		status.SeenCommit = done.seen
	} else if done.commit != "" && w.candidate == nil {
		status.SeenCommit = done.commit
	}
	if done.result != nil {
		status.Namespaces, status.Objects = int32(len(done.result.Namespaces)), int32(len(done.result.Objects)) //nolint:gosec // bounded by the compiler
	}
	if done.reason != hnc.ReasonSourceUnavailable && done.reason != hnc.ReasonPaused {
		status.Failed = int32(done.failures) //nolint:gosec // bounded by the number of objects
		status.Failures = done.failed
		status.Errors = errorsOf(done.errors)
	}
	condition := metav1.Condition{
		Type: hnc.ConditionReady, Status: metav1.ConditionFalse, Reason: done.reason, Message: done.message, ObservedGeneration: w.sync.Generation,
	}
	if done.reason == hnc.ReasonSynced {
		condition.Status = metav1.ConditionTrue
		if status.AppliedCommit != done.commit {
			now := metav1.NewTime(w.manager.now())
			status.AppliedCommit, status.AppliedTime = done.commit, &now
		}
	}
	meta.SetStatusCondition(&status.Conditions, condition)
}

func errorsOf(errors report.Errors) []v1alpha3.RepositoryError {
	var all []v1alpha3.RepositoryError
	for _, err := range errors[:min(maxReported, len(errors))] {
		one := v1alpha3.RepositoryError{Code: string(err.Code), Message: printable(err.Message)}
		switch {
		case len(err.Sources) > 0:
			one.Path = printable(report.Position(err.Sources[0].Path, err.Sources[0].Line))
		case len(err.Paths) > 0:
			one.Path = printable(err.Paths[0])
		}
		all = append(all, one)
	}
	return all
}

// writeStatus writes the status. The process is its only author.
func (w *worker) writeStatus(ctx context.Context) error {
	client := w.manager.Hierarchy.HncV1alpha3().RepositorySyncs()
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		written, err := client.UpdateStatus(ctx, w.sync, metav1.UpdateOptions{})
		if apierrors.IsConflict(err) {
			stored, getErr := client.Get(ctx, w.sync.Name, metav1.GetOptions{})
			if getErr != nil {
				return getErr
			}
			if stored.UID == w.sync.UID {
				w.sync.ResourceVersion = stored.ResourceVersion
			}
			return err
		}
		if err == nil {
			w.sync.ResourceVersion = written.ResourceVersion
		}
		return err
	})
}
