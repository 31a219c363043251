package reposync

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/writer"
)

const (
	// patience is how long the lists of all kinds may take.
	patience = time.Minute
	// established is how long a new CustomResourceDefinition may take until it is served.
	established = 30 * time.Second
)

// apply writes what differs from the current revision.
func (w *worker) apply(ctx context.Context, done *outcome) {
	done.commit, done.result, done.unknown = w.current.commit, w.result, w.unknown
	state := w.state()
	p := plan.Compute(w.desired, state, w.sync.Spec.Prune)
	var carry *writer.Writer
	ctx, end := w.interruptible(ctx)
	defer func() { done.interrupted = end() }()
	carry = &writer.Writer{
		Cluster: w.cluster, Unknown: done.unknown, LeftOut: plan.LeftOut(w.result.Errors, w.desired), DeletesUsed: w.sync.Spec.AllowNonEmptyNamespaceDeletion,
		Permit: func(o *plan.Object) bool { return w.permit(o, p, done) },
		Defined: func(ctx context.Context, written int) {
			if written > 0 || w.lacksKinds() {
				w.awaitDefinitions(ctx, done)
				carry.Unknown = done.unknown
			}
		},
		Done: func(operation writer.Operation, id plan.ID, path string, err error) {
			w.manager.Metrics.write(w.sync.Name, operation, err)
			done.add(id, path, err)
		},
		Applied: func(o *plan.Object, err error) { w.rejections.Record(o, w.manager.now(), err) },
	}
	carry.Apply(ctx, p)
	// Tenants decide how long the lists of what they use are.
	carry.Revoke(ctx, p)
	if !w.sync.Spec.AllowNonEmptyNamespaceDeletion {
		for id, reason := range carry.KeepInUse(ctx, p) {
			done.add(id, "", reason)
		}
	}
	carry.Prune(ctx, p)
	w.corrected(ctx, p, state)
	done.conclude()
}

// state returns what is known of the cluster. Of kinds that cannot be listed, and of those whose deletion has not been
// found to be safe, nothing is known.
func (w *worker) state() *plan.State {
	state := w.cluster.State()
	state.Incomplete = len(w.result.Errors) > 0
	state.Unknown = map[schema.GroupKind]bool{}
	for kind := range w.unknown {
		state.Unknown[kind] = true
	}
	if w.unverified {
		state.Unknown[object.Namespace], state.Unknown[object.CRD] = true, true
	}
	return state
}

// permit returns false for an object that is not to be written yet: the API server has rejected it a short time ago, or
// another client changes it again and again.
func (w *worker) permit(o *plan.Object, p *plan.Plan, done *outcome) bool {
	if err := w.rejections.Wait(o, w.manager.now()); err != nil {
		done.add(o.ID, o.Path, err)
		return false
	}
	if next := w.fights.Next(o.ID, w.manager.now()); p.Drifted[o.ID] && next > 0 {
		done.fight(o, next)
		return false
	}
	return true
}

// corrected records which objects another client had changed indeed.
func (w *worker) corrected(ctx context.Context, p *plan.Plan, before *plan.State) {
	if len(p.Drifted) == 0 {
		return
	}
	for _, id := range p.Corrected(before, w.cluster.State()) {
		w.corrections++
		w.fights.Correct(id, w.manager.now())
		w.manager.Metrics.drift(w.sync.Name)
		klog.FromContext(ctx).Info("Another client had changed an object; it was applied again", "object", id.String())
	}
}

// awaitDefinitions waits until the cluster serves the kinds of new CustomResourceDefinitions that the repository has
// objects of, and watches them. It waits once for a revision: corrections and revocations come after it, and the kinds
// may never be served.
func (w *worker) awaitDefinitions(ctx context.Context, done *outcome) {
	limit := established
	if w.current.awaited {
		limit = 0
	}
	w.current.awaited = true
	if !w.cluster.AwaitKinds(ctx, kindsOf(w.desired), limit) {
		return
	}
	if err := w.watch(ctx, w.desired); err != nil {
		done.add(plan.ID{Kind: object.CRD}, "", err)
	}
	done.unknown = w.unknown
}

// lacksKinds reports whether the cluster does not serve a kind of the repository.
func (w *worker) lacksKinds() bool {
	return slices.ContainsFunc(kindsOf(w.desired), func(kind schema.GroupKind) bool {
		_, ok := w.cluster.Resource(kind)
		return !ok
	})
}

// message returns the text of an error for a status.
func message(err error) string { return printable(err.Error()) }

// printable returns text for one line of a status, without what is too long for it.
func printable(text string) string { return names.Printable(names.ShortenText(text)) }
