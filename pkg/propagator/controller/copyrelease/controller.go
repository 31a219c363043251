// Package copyrelease carries out CopyReleases: it makes copies of kinds that are not propagated any more ordinary
// objects. The API server has authorized the requests.
package copyrelease

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	clusterkinds "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/kinds"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/namespacestate"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/configuration"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// Controller carries out CopyReleases.
type Controller struct {
	controller.Dependencies
	discover func(context.Context) (configuration.Cluster, error)

	// mu guards known, the kinds that the cluster had at a time.
	mu    sync.Mutex
	known configuration.Cluster
	at    time.Time
}

// discovery is how long the kinds of the cluster are taken to be the same. Each discovery takes many requests.
const discovery = 10 * time.Second

func (c *Controller) cluster(ctx context.Context) (configuration.Cluster, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at.IsZero() || time.Since(c.at) > discovery {
		known, err := c.discover(ctx)
		if err != nil {
			return known, err
		}
		c.known, c.at = known, time.Now()
	}
	return c.known, nil
}

// New returns a Controller. discover returns the kinds that the cluster has.
func New(d controller.Dependencies, discover func(context.Context) (configuration.Cluster, error)) *Controller {
	return &Controller{Dependencies: d, discover: discover}
}

// Handlers returns the handler that enqueues new CopyReleases.
func (c *Controller) Handlers() cache.EventHandlers {
	return cache.EventHandlers{ReleaseRequested: func(r *v1alpha3.CopyRelease) {
		c.enqueue(r)
	}}
}

// Start enqueues the CopyReleases that were created while no propagator led.
func (c *Controller) Start(ctx context.Context) {
	list, err := c.Hierarchy.HncV1alpha3().CopyReleases(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return // They expire, and users can create them again.
	}
	for i := range list.Items {
		if r := &list.Items[i]; len(r.Status.Conditions) == 0 {
			c.enqueue(r)
		}
	}
}

// enqueue ignores CopyReleases that requests cannot name. They expire.
func (c *Controller) enqueue(r *v1alpha3.CopyRelease) {
	if names.Addressable(r.Name) {
		c.Queue.Add(queue.Key{Class: queue.Release, Namespace: r.Namespace, Name: r.Name})
	}
}

// Reconcile carries out a CopyRelease and reports the result.
func (c *Controller) Reconcile(ctx context.Context, key queue.Key) error {
	namespace, name := key.Namespace, key.Name
	client := c.Hierarchy.HncV1alpha3().CopyReleases(namespace)
	r, err := client.Get(ctx, name, metav1.GetOptions{})
	if err != nil || len(r.Status.Conditions) > 0 {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	}
	condition := metav1.Condition{Type: hnc.ConditionReady, Status: metav1.ConditionFalse, ObservedGeneration: r.Generation, LastTransitionTime: metav1.Now()}
	condition.Reason, condition.Message, err = c.makeOrdinary(ctx, r)
	if err != nil {
		return err
	}
	if condition.Reason == hnc.ReasonReleased {
		condition.Status = metav1.ConditionTrue
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": r.UID}, "status": map[string]any{"observedGeneration": r.Generation, "conditions": []metav1.Condition{condition}},
	})
	if err != nil {
		return err
	}
	_, err = client.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// makeOrdinary removes from the copy what makes it one, and returns the reason and the message to report. A release may
// be stored for longer than its time: after a restore, or where the leases of an etcd have started again.
func (c *Controller) makeOrdinary(ctx context.Context, r *v1alpha3.CopyRelease) (reason, message string, err error) {
	if time.Since(r.CreationTimestamp.Time) > hnc.CopyReleaseTTL*time.Second {
		return hnc.ReasonReleaseRefused, fmt.Sprintf("the release was requested more than %d minutes ago; request it again", hnc.CopyReleaseTTL/60), nil
	}
	resource := schema.GroupResource{Group: r.Spec.Group, Resource: r.Spec.Resource}
	cluster, err := c.cluster(ctx)
	if err != nil {
		return "", "", err
	}
	mapping, err := clusterkinds.Resolve(cluster.Mapper, resource.Group, resource.Resource)
	switch {
	case meta.IsNoMatchError(err) && cluster.Incomplete != nil:
		return "", "", cluster.Incomplete
	case err != nil:
		return hnc.ReasonReleaseRefused, names.ShortenText(err.Error()), nil
	case mapping.Resource.GroupResource() != resource:
		return hnc.ReasonReleaseRefused, fmt.Sprintf("name the resource %s", mapping.Resource.GroupResource()), nil
	}
	if mode := c.modeOf(resource, r.Namespace, r.Spec.Source, r.Spec.Name); mode != v1beta1.Ignore {
		return hnc.ReasonStillPropagated, fmt.Sprintf("the mode of %s from namespace %q is %s; set it to Ignore first", resource, r.Spec.Source, mode), nil
	}
	client := c.Dynamic.Resource(mapping.Resource).Namespace(r.Namespace)
	o, err := client.Get(ctx, r.Spec.Name, metav1.GetOptions{})
	if err == nil {
		if from := o.GetLabels()[hnc.LabelInheritedFrom]; from != r.Spec.Source {
			return hnc.ReasonNoCopy, fmt.Sprintf("%s %q is not a copy from namespace %q", resource, r.Spec.Name, r.Spec.Source), nil
		}
		if refused, err := c.refusesSource(ctx, r, o); err != nil || refused != "" {
			return hnc.ReasonReleaseRefused, refused, err
		}
		strip(o)
		o, err = client.Update(ctx, o, metav1.UpdateOptions{})
	}
	switch {
	case err == nil:
	case apierrors.IsNotFound(err):
		return hnc.ReasonNoCopy, names.ShortenText(err.Error()), nil
	case apierrors.IsConflict(err):
		return "", "", fmt.Errorf("%w: %w", outcome.ErrStale, err)
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err):
		return hnc.ReasonReleaseRefused, names.ShortenText(err.Error()) + outcome.MissingPermissionHint(resource, err), nil
	default:
		return "", "", err
	}
	requester := r.Annotations[hnc.AnnotationRequester]
	c.Events.Eventf(o, corev1.EventTypeNormal, hnc.EventReleased, "User %q has released it: it was a copy from namespace %q, and is an ordinary object now", requester, r.Spec.Source)
	return hnc.ReasonReleased, fmt.Sprintf("%s %q is an ordinary object now", resource, r.Spec.Name), nil
}

// refusesSource returns why a copy may not be released now, "" if it may. The namespace of the source must be the one
// that the requester was authorized for, if there was one, and no younger than the copy: then its name has been claimed
// again, and its admins do not decide about copies of the earlier one. An object that was overwritten may be older than
// its source, and counts as such a copy: when it became one, only its managed fields say, which its tenant may write.
func (c *Controller) refusesSource(ctx context.Context, r *v1alpha3.CopyRelease, o *unstructured.Unstructured) (string, error) {
	ns, err := c.Kubernetes.CoreV1().Namespaces().Get(ctx, r.Spec.Source, metav1.GetOptions{})
	exists := err == nil
	if err != nil && !apierrors.IsNotFound(err) {
		return "", err
	}
	uid, created := "", o.GetCreationTimestamp()
	if exists {
		uid = string(ns.UID)
	}
	switch {
	case uid != r.Annotations[hnc.AnnotationSourceUID]:
		return fmt.Sprintf("namespace %q has been created or deleted since the release was requested; request it again", r.Spec.Source), nil
	case exists && created.Before(&ns.CreationTimestamp):
		return fmt.Sprintf("namespace %q is younger than the object, so the source of the copy may have been in an earlier namespace of that name; set the mode of %s to Remove to remove it",
			r.Spec.Source, r.Spec.Resource), nil
	}
	return "", nil
}

// strip removes what makes an object a copy, and what would keep sources from overwriting it as one of a repository: the
// requester need not be allowed to set that.
func strip(o *unstructured.Unstructured) {
	labels, annotations := o.GetLabels(), o.GetAnnotations()
	delete(labels, hnc.LabelInheritedFrom)
	delete(labels, hnc.LabelRepositorySync)
	if labels[hnc.LabelManagedBy] == hnc.GroupName {
		delete(labels, hnc.LabelManagedBy)
	}
	delete(annotations, hnc.AnnotationAllowOverride)
	delete(annotations, hnc.AnnotationSourcePath)
	o.SetLabels(labels)
	o.SetAnnotations(annotations)
}

// modeOf returns the mode of sources of a kind in the source namespace. It is another one than Ignore, too, if the
// source of another ancestor governs the name.
func (c *Controller) modeOf(resource schema.GroupResource, namespace, source, name string) v1beta1.SynchronizationMode {
	if slices.Contains(clusterkinds.Enforced, resource) {
		return v1beta1.Propagate
	}
	mode := v1beta1.Ignore
	c.Cache.Read(func(s *cache.State) {
		kind, known := s.KindOf(resource)
		if !known || !s.Kind(kind).Watched() {
			return
		}
		k := s.Kind(kind)
		if mode = k.Policies.Of(s.Tree.Chain(source)).Mode; mode != v1beta1.Ignore {
			return
		}
		if governing := k.Index.Governing(namespacestate.Destination(s.Tree, namespace), name); governing != nil {
			mode = k.Policies.Of(s.Tree.Chain(governing.Namespace)).Mode
		}
	})
	return mode
}
