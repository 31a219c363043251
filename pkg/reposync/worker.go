package reposync

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utilwait "k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/cluster"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/git"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

const (
	defaultInterval = 15 * time.Second
	// Retries of failed objects and sources start at minRetry and double up to maxRetry.
	minRetry, maxRetry = time.Second, 5 * time.Minute
	// quiet is how long changes by others are collected before they are corrected. It grows to maxQuiet while nothing has
	// to be corrected: objects may change all the time in ways of which the watch does not tell whether they matter.
	quiet, maxQuiet = 100 * time.Millisecond, 10 * time.Second
)

// worker carries out one generation of a RepositorySync. Only its own goroutine uses it.
type worker struct {
	manager *Manager
	sync    *v1alpha3.RepositorySync
	source  *source
	cluster *cluster.Cluster
	// wake is signaled after a change of the cluster.
	wake chan struct{}

	// current is the revision that is applied, candidate a later one that must not be, or not yet. One that was refused
	// is read again later.
	current, candidate *revision
	desired            []*plan.Object
	result             *repository.Result
	// unknown are the kinds that cannot be watched.
	unknown map[schema.GroupKind]error
	// unverified is true for a current revision whose deletions may be unsafe, because what it would delete is not
	// known.
	unverified bool
	// unchanged is the outcome of the last step, if that has left nothing to do. A later change of the cluster wakes
	// the worker; what no watch shows is looked at after maxRetry.
	unchanged *outcome
	// forbidden says since when the account may not list kinds that no revision has.
	forbidden  map[schema.GroupKind]time.Time
	fights     *plan.Fights
	rejections *plan.Rejections
	// completed is when a revision was last tried to its end.
	completed time.Time
	retry     time.Duration
	// crowded says that other repositories left no space for this one, so that it is read again soon.
	crowded bool
	// quiet is how long the worker waits after it was woken, and corrections is what the last step has corrected.
	quiet       time.Duration
	corrections int
}

// crowdedJitter is how many times minRetry a worker waits longer, at most, than another one that found no space.
const crowdedJitter = 9.0

func newWorker(m *Manager, s *v1alpha3.RepositorySync) (*worker, error) {
	w := &worker{manager: m, sync: s.DeepCopy(), wake: make(chan struct{}, 1), forbidden: map[schema.GroupKind]time.Time{},
		fights: plan.NewFights(), rejections: plan.NewRejections(), completed: m.now(), quiet: quiet}
	reader := &git.Reader{LocalRoot: m.LocalRepositories, Scratch: m.Scratch, MaxBytes: m.MaxRepositoryBytes, Budget: m.scratch}
	reader.InTurn = func(ctx context.Context, f func(context.Context) error) error {
		return inTurn(ctx, w.sync.Spec.ServiceAccount, f)
	}
	w.source = &source{
		reader:  reader,
		secrets: m.Kubernetes, spec: &w.sync.Spec, memory: m.memory,
	}
	var err error
	w.cluster, err = cluster.New(m.Client, cluster.Impersonating(m.Client, hnc.ServiceAccountReference(s.Spec.ServiceAccount)), s.Name, w.notify)
	return w, err
}

// notify wakes the worker. It does not block.
func (w *worker) notify() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// run works until the context ends.
func (w *worker) run(ctx context.Context) {
	defer w.cluster.Stop()
	ctx = klog.NewContext(ctx, klog.FromContext(ctx).WithValues("repositorySync", w.sync.Name))
	if w.sync.Spec.Paused {
		w.report(ctx, &outcome{reason: hnc.ReasonPaused, message: "spec.paused is true: nothing is read or written"})
		<-ctx.Done()
		return
	}
	poll := time.NewTimer(0)
	defer poll.Stop()
	again := time.NewTimer(maxRetry)
	defer again.Stop()
	var lastWoken time.Time
	for {
		read, woken := false, false
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
			read = true
		case <-again.C:
		case <-w.wake:
			if time.Since(lastWoken) > 2*maxQuiet {
				w.quiet = quiet
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(w.quiet):
			}
			woken, lastWoken = true, time.Now()
		}
		w.corrections = 0
		wait, superseded := w.step(ctx, read)
		switch {
		case w.corrections > 0:
			w.quiet = quiet
		case woken:
			w.quiet = min(2*w.quiet, maxQuiet)
		}
		switch {
		case superseded:
			poll.Reset(0)
		case read:
			poll.Reset(w.interval())
		}
		again.Reset(wait)
	}
}

// drop releases the memory of the candidate and of what is read, and returns the share of the revision in force.
func (w *worker) drop() share {
	w.source.end()
	if w.candidate != nil {
		w.candidate.share.release()
	}
	if w.source.applied == nil {
		return share{}
	}
	kept := *w.source.applied
	if w.current != nil {
		kept.keptSince = w.manager.now()
	}
	return kept
}

// interval is when the source is read again.
func (w *worker) interval() time.Duration {
	if w.crowded {
		return utilwait.Jitter(minRetry, crowdedJitter)
	}
	if i := w.sync.Spec.Interval; i != nil {
		return i.Duration
	}
	return defaultInterval
}

// step makes the cluster as the repository says, as far as possible, and reports the result. It returns when to try
// again at the latest, and whether it has stopped because the source has moved on.
func (w *worker) step(ctx context.Context, read bool) (wait time.Duration, superseded bool) {
	begin := w.manager.now()
	done := w.synchronize(ctx, read)
	if ctx.Err() != nil {
		return maxRetry, false
	}
	if done.interrupted {
		klog.FromContext(ctx).Info("The source has another revision; applying stops", "commit", done.commit)
		return minRetry, true
	}
	w.report(ctx, done)
	w.manager.Metrics.observe(w.sync.Name, done, w.manager.now().Sub(begin))
	switch {
	case done.reason == hnc.ReasonSynced:
		w.retry = 0
		return maxRetry, false
	case done.wait > 0:
		return done.wait, false
	}
	w.retry = min(max(2*w.retry, minRetry), maxRetry)
	return w.retry, false
}

// synchronize reads the source, if it is time to, and applies it.
func (w *worker) synchronize(ctx context.Context, read bool) *outcome {
	done := &outcome{}
	if kept := w.source.applied; w.current == nil && kept != nil && w.manager.now().Sub(kept.keptSince) >= keptFor {
		kept.release()
	}
	if read || w.current == nil && w.candidate == nil {
		found, err := w.source.read(ctx)
		w.crowded = errors.Is(err, git.ErrBudget)
		if err != nil {
			// The last revision remains in force.
			done.sourceError = err
		} else if found != nil {
			if w.candidate != nil {
				w.candidate.share.release()
			}
			w.candidate = found
		}
	}
	if w.current == nil && w.candidate == nil {
		return done.unavailable()
	}
	if last := w.unchanged; read && w.candidate == nil && done.sourceError == nil && last != nil {
		if last.writes == 0 || w.manager.now().Sub(w.completed) < maxRetry {
			return last
		}
	}
	w.unchanged = nil
	if err := w.prepare(ctx, done); err != nil {
		return done.fail(hnc.ReasonApplyFailed, message(err))
	}
	if w.current == nil {
		return done
	}
	w.apply(ctx, done)
	if done.interrupted {
		return done
	}
	w.completed = w.manager.now()
	if done.reason == hnc.ReasonSynced && done.sourceError != nil {
		return done.unavailable()
	}
	if done.reason == hnc.ReasonSynced {
		w.unchanged = done
	}
	return done
}
