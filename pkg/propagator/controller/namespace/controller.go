// Package namespace reconciles the metadata of namespaces: tree labels, managed labels and annotations, Pod Security
// labels, and our finalizer. What it has to be is computed by package namespacestate.
package namespace

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/keymutex"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/namespacestate"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/tree"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/pacing"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// lockedNamespaces bounds how many namespaces can be locked at the same time; others wait for one of them.
const lockedNamespaces = 256

// Controller reconciles the metadata of namespaces.
type Controller struct {
	controller.Dependencies
	// limited reports whether a namespace is held to the limits above.
	limited  func(s *cache.State, name string) bool
	reported *pacing.Cooldown
	// protection locks what protects a namespace with sub-namespaces, by its name.
	protection keymutex.KeyMutex
	// uncertain has the names of namespaces whose protection may have been patched, although an error was returned.
	uncertain sync.Map
}

// New returns a Controller. limited reports whether a namespace is held to the limits above.
func New(d controller.Dependencies, limited func(s *cache.State, name string) bool) *Controller {
	return &Controller{Dependencies: d, limited: limited, reported: pacing.New(remainingPeriod), protection: keymutex.NewHashed(lockedNamespaces)}
}

// Handlers returns the handlers that enqueue affected namespaces.
func (c *Controller) Handlers() cache.EventHandlers {
	return cache.EventHandlers{TreeChanged: func(_ *cache.State, affected tree.Affected) {
		for _, name := range slices.Concat(affected.Moved, affected.Changed) {
			c.Enqueue(name)
		}
	}}
}

// Enqueue asks to reconcile a namespace.
func (c *Controller) Enqueue(name string) {
	c.Queue.Add(queue.Key{Class: queue.Namespace, Namespace: name})
}

// Changes is what a namespace needs.
type Changes struct {
	// Labels and Annotations are set; nil values remove them.
	Labels, Annotations map[string]*string
	// AddFinalizer and RemoveFinalizer concern our finalizer.
	AddFinalizer, RemoveFinalizer bool
}

func (c Changes) none() bool {
	return len(c.Labels)+len(c.Annotations) == 0 && !c.AddFinalizer && !c.RemoveFinalizer
}

// protect reports whether the changes concern what protects a namespace with sub-namespaces from being deleted.
func (c Changes) protect() bool {
	_, label := c.Labels[hnc.LabelHasSubnamespaces]
	return label || c.AddFinalizer || c.RemoveFinalizer
}

func changesOf(t *tree.Tree, name string) Changes {
	c := Changes{Labels: namespacestate.LabelChanges(t, name), Annotations: namespacestate.AnnotationChanges(t, name)}
	c.AddFinalizer, c.RemoveFinalizer = namespacestate.FinalizerChanges(t, name)
	return c
}

// Differs reports whether a namespace needs other labels or annotations, or our finalizer.
func (c *Controller) Differs(s *cache.State, name string) bool {
	return !changesOf(s.Tree, name).none()
}

// Diverges also reports whether an annotation about limits may have to be removed.
func (c *Controller) Diverges(s *cache.State, name string) bool {
	return c.Differs(s, name) || c.forgetsLimits(s, name)
}

// Reconcile gives a namespace the metadata that it has to have.
func (c *Controller) Reconcile(ctx context.Context, key queue.Key) error {
	if err := errors.Join(c.Sync(ctx, key.Namespace), c.forgetLimits(ctx, key.Namespace)); err != nil {
		return err
	}
	return c.reportRemaining(ctx, key.Namespace)
}

// Sync does so for callers that wait for it. A condition of the namespace's Hierarchy reports what the API server does
// not accept.
func (c *Controller) Sync(ctx context.Context, name string) error {
	var ns *tree.Namespace
	var changes Changes
	var known string
	decide := func() {
		c.Cache.Read(func(s *cache.State) {
			ns, changes, known = s.Tree.Namespace(name), changesOf(s.Tree, name), s.Tree.Unwritten(name)
		})
	}
	if decide(); changes.protect() {
		unlock, err := c.LockProtection(ctx, name)
		if err != nil {
			return err
		}
		defer unlock()
		decide()
	}
	var err error
	if !changes.none() {
		err = c.Patch(ctx, ns, changes)
	}
	why := ""
	switch {
	case refused(err):
		why = err.Error()
	case err != nil:
		why = known
	}
	if (why == "") != (known == "") {
		c.Cache.Update(func(s *cache.State) { s.SetUnwritten(name, why) })
	}
	return err
}

// LockProtection locks the label and the finalizer that protect a namespace with sub-namespaces, and returns the
// function that unlocks them. Patches of these have no version, and one in flight is not in the cache: the holder of
// the lock sees in the cache what is in force. It returns an error if the result of an earlier patch is unknown, and
// cannot be read.
func (c *Controller) LockProtection(ctx context.Context, name string) (unlock func(), err error) {
	c.protection.LockKey(name)
	unlock = func() { _ = c.protection.UnlockKey(name) }
	if _, ok := c.uncertain.Load(name); ok {
		if err := c.Refresh(ctx, name); err != nil && !apierrors.IsNotFound(err) {
			unlock()
			return nil, err
		}
		c.uncertain.Delete(name)
	}
	return unlock, nil
}

// refused reports whether a retry alone does not help: the namespace is too large, for example.
func refused(err error) bool { return copies.Classify(copies.Update, err) == copies.Refused }

// Patch changes a namespace. What the propagator alone writes is patched first, without a resourceVersion, because no
// other change of the namespace matters then. Others write Pod Security labels too, and must not lose what they have
// just written: these have a patch of their own, so that a user who keeps changing the namespace delays nothing else.
func (c *Controller) Patch(ctx context.Context, ns *tree.Namespace, changes Changes) error {
	shared, own := changes.podSecurity()
	if shared.none() || own.none() || c.DryRun { // A preview counts one patch of each namespace.
		return c.patchInParts(ctx, ns, changes)
	}
	err := c.patchInParts(ctx, ns, own)
	c.Cache.Read(func(s *cache.State) {
		if now := s.Tree.Namespace(ns.Name); now != nil && now.UID == ns.UID && samePodSecurity(now, ns) {
			ns = now // This patch has another version only because of the first one.
		}
	})
	return errors.Join(err, c.patch(ctx, ns, shared))
}

// podSecurity divides changes into those of inherited Pod Security labels and all others.
func (c Changes) podSecurity() (shared, own Changes) {
	shared, own = Changes{Labels: map[string]*string{}, Annotations: map[string]*string{}}, c
	own.Labels, own.Annotations = maps.Clone(c.Labels), maps.Clone(c.Annotations)
	for _, key := range hnc.PodSecurityLabels {
		if value, ok := own.Labels[key]; ok {
			shared.Labels[key] = value
			delete(own.Labels, key)
		}
	}
	if value, ok := own.Annotations[hnc.AnnotationInheritedPodSecurity]; ok && len(shared.Labels) > 0 {
		shared.Annotations[hnc.AnnotationInheritedPodSecurity] = value
		delete(own.Annotations, hnc.AnnotationInheritedPodSecurity)
	}
	return shared, own
}

// samePodSecurity reports whether both have the Pod Security labels from the same decisions.
func samePodSecurity(a, b *tree.Namespace) bool {
	return a.InheritedPodSecurity == b.InheritedPodSecurity &&
		!slices.ContainsFunc(hnc.PodSecurityLabels, func(key string) bool { return a.Labels[key] != b.Labels[key] })
}

// patchInParts patches a namespace. If the API server does not accept all changes together, such as too much metadata
// with that of the namespace's owner, they are written one after another: policies select by labels.
func (c *Controller) patchInParts(ctx context.Context, ns *tree.Namespace, changes Changes) error {
	err := c.patch(ctx, ns, changes)
	if !refused(err) {
		return err
	}
	parts := c.parts(ns, changes)
	if len(parts) < 2 {
		return err
	}
	var errs []error
	for _, part := range parts {
		errs = append(errs, c.patch(ctx, ns, part))
	}
	return errors.Join(errs...)
}

// parts divides changes into those that may be written without the others, the most important first.
func (c *Controller) parts(ns *tree.Namespace, changes Changes) []Changes {
	var parts []Changes
	if changes.AddFinalizer || changes.RemoveFinalizer {
		parts = append(parts, Changes{AddFinalizer: changes.AddFinalizer, RemoveFinalizer: changes.RemoveFinalizer})
	}
	c.Cache.Read(func(s *cache.State) {
		for _, labels := range namespacestate.LabelParts(s.Tree, ns.Name, changes.Labels) {
			parts = append(parts, Changes{Labels: labels})
		}
	})
	if len(changes.Annotations) > 0 {
		parts = append(parts, Changes{Annotations: changes.Annotations})
	}
	return parts
}

func (c *Controller) patch(ctx context.Context, ns *tree.Namespace, changes Changes) error {
	metadata := map[string]any{"uid": ns.UID}
	if slices.ContainsFunc(hnc.PodSecurityLabels, func(key string) bool { _, ok := changes.Labels[key]; return ok }) {
		metadata["resourceVersion"] = ns.ResourceVersion
	}
	if len(changes.Labels) > 0 {
		metadata["labels"] = changes.Labels
	}
	if len(changes.Annotations) > 0 {
		metadata["annotations"] = changes.Annotations
	}
	// The finalizers of others stay.
	if changes.AddFinalizer {
		metadata["finalizers"] = []string{hnc.FinalizerSubnamespaces}
	}
	if changes.RemoveFinalizer {
		metadata["$deleteFromPrimitiveList/finalizers"] = []string{hnc.FinalizerSubnamespaces}
	}
	patch, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return err
	}
	patched, err := c.Kubernetes.CoreV1().Namespaces().Patch(ctx, ns.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
	if err != nil && changes.protect() && !outcome.Rejected(err) {
		c.uncertain.Store(ns.Name, nil)
	}
	return outcome.Record(c.Metrics, "Namespace", "patch", ns.Name, err, func() {
		c.Written(&patched.ObjectMeta)
		c.Cache.ObserveNamespace(patched)
	})
}

// Create creates a namespace.
func (c *Controller) Create(ctx context.Context, namespace *corev1.Namespace) error {
	created, err := c.Kubernetes.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	return outcome.Record(c.Metrics, "Namespace", "create", namespace.Name, err, func() { c.Cache.ObserveNamespace(created) })
}

// deletionTries is how many versions of a namespace that others keep changing are tried to be deleted at once.
const deletionTries = 5

// Delete deletes a namespace if it is as expected in the version that is deleted, which it reads live.
func (c *Controller) Delete(ctx context.Context, name string, expected func(*tree.Namespace) error) error {
	var err error
	for range deletionTries {
		var live *corev1.Namespace
		if live, err = c.Kubernetes.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{}); err != nil {
			break
		}
		if err := expected(tree.NewNamespace(live)); err != nil {
			return err
		}
		err = c.Kubernetes.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &live.UID, ResourceVersion: &live.ResourceVersion},
		})
		if !apierrors.IsConflict(err) {
			break
		}
	}
	// The watch brings what follows.
	return outcome.Record(c.Metrics, "Namespace", "delete", name, err, nil)
}

// Refresh reads a namespace from the API server into the cache.
func (c *Controller) Refresh(ctx context.Context, name string) error {
	live, err := c.Kubernetes.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
	if err == nil {
		c.Cache.ObserveNamespace(live)
	}
	return err
}
