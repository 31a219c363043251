package propagator

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
	clusterkinds "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/kinds"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/namespaces"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/queue"
)

// watchReleases watches the releases, which the API server has authorized. Nothing waits for their first list.
func (p *Propagator) watchReleases(ctx context.Context) {
	client := p.Hierarchy.HncV1beta1().CopyReleases(metav1.NamespaceAll)
	set := func(r *v1beta1.CopyRelease) {
		if p.leading && len(r.Status.Conditions) == 0 && r.DeletionTimestamp == nil {
			p.bulk.Add(queue.Key{Class: queue.Release, Namespace: r.Namespace, Name: r.Name})
		}
	}
	run(ctx, p, "copyreleases", &v1beta1.CopyRelease{}, client, client.Watch,
		func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return client.List(ctx, o) },
		&feed[*v1beta1.CopyRelease]{
			convert: func(object any) (*v1beta1.CopyRelease, error) { return object.(*v1beta1.CopyRelease), nil },
			set:     set,
			remove:  func(*v1beta1.CopyRelease) {},
			replace: func(list []*v1beta1.CopyRelease, _ func(string) bool) {
				for _, r := range list {
					set(r)
				}
			},
			synced: func() {},
		})
}

// requestReleases queues the releases that were created while nobody led.
func (p *Propagator) requestReleases(ctx context.Context) {
	list, err := p.Hierarchy.HncV1beta1().CopyReleases(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return // They expire, and can be created again.
	}
	for i := range list.Items {
		if r := &list.Items[i]; len(r.Status.Conditions) == 0 {
			p.bulk.Add(queue.Key{Class: queue.Release, Namespace: r.Namespace, Name: r.Name})
		}
	}
}

// processRelease carries out one release and reports the result.
func (p *Propagator) processRelease(ctx context.Context, namespace, name string) error {
	client := p.Hierarchy.HncV1beta1().CopyReleases(namespace)
	r, err := client.Get(ctx, name, metav1.GetOptions{})
	if err != nil || len(r.Status.Conditions) > 0 {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	}
	condition := metav1.Condition{Type: hnc.ConditionReleased, Status: metav1.ConditionFalse, LastTransitionTime: metav1.Now()}
	condition.Reason, condition.Message, err = p.makeOrdinary(ctx, r)
	if err != nil {
		return err
	}
	if condition.Reason == hnc.ReasonReleased {
		condition.Status = metav1.ConditionTrue
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": r.UID}, "status": map[string]any{"conditions": []metav1.Condition{condition}},
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

// makeOrdinary removes from the copy what makes it one, and returns the reason and the message to report.
func (p *Propagator) makeOrdinary(ctx context.Context, r *v1beta1.CopyRelease) (reason, message string, err error) {
	resource := schema.GroupResource{Group: r.Spec.Group, Resource: r.Spec.Resource}
	cluster, err := p.Discover(ctx)
	if err != nil {
		return "", "", err
	}
	mapping, err := clusterkinds.Resolve(cluster.Mapper, resource.Group, resource.Resource)
	switch {
	case meta.IsNoMatchError(err) && cluster.Incomplete != nil:
		return "", "", cluster.Incomplete
	case err != nil:
		return hnc.ReasonReleaseRefused, err.Error(), nil //nolint:nilerr // the release reports it
	case mapping.Resource.GroupResource() != resource:
		return hnc.ReasonReleaseRefused, fmt.Sprintf("name the resource %s", mapping.Resource.GroupResource()), nil
	}
	if mode := p.modeOf(resource, r.Namespace, r.Spec.Source, r.Spec.Name); mode != v1beta1.Ignore {
		return hnc.ReasonStillPropagated, fmt.Sprintf("the mode of %s from namespace %q is %s; set it to Ignore first", resource, r.Spec.Source, mode), nil
	}
	client := p.Dynamic.Resource(mapping.Resource).Namespace(r.Namespace)
	o, err := client.Get(ctx, r.Spec.Name, metav1.GetOptions{})
	if err == nil {
		if from := o.GetLabels()[hnc.LabelInheritedFrom]; from != r.Spec.Source {
			return hnc.ReasonNoCopy, fmt.Sprintf("%s %q is no copy from namespace %q", resource, r.Spec.Name, r.Spec.Source), nil
		}
		strip(o)
		o, err = client.Update(ctx, o, metav1.UpdateOptions{})
	}
	switch {
	case err == nil:
	case apierrors.IsNotFound(err):
		return hnc.ReasonNoCopy, err.Error(), nil
	case apierrors.IsConflict(err):
		return "", "", fmt.Errorf("%w: %w", errStale, err)
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err):
		kind := copies.Kind{GroupVersionResource: mapping.Resource, Kind: mapping.GroupVersionKind.Kind}
		return hnc.ReasonReleaseRefused, err.Error() + remedy(kind, err), nil
	default:
		return "", "", err
	}
	requester := r.Annotations[hnc.AnnotationRequester]
	p.Events.Eventf(o, corev1.EventTypeNormal, hnc.EventReleased, "User %q has released it: it was a copy from namespace %q, and is an ordinary object now", requester, r.Spec.Source)
	return hnc.ReasonReleased, fmt.Sprintf("%s %q is an ordinary object now", resource, r.Spec.Name), nil
}

// strip removes what makes an object a copy.
func strip(o *unstructured.Unstructured) {
	labels, annotations := o.GetLabels(), o.GetAnnotations()
	delete(labels, hnc.LabelInheritedFrom)
	if labels[hnc.LabelManagedBy] == hnc.GroupName {
		delete(labels, hnc.LabelManagedBy)
	}
	delete(annotations, hnc.AnnotationAllowOverride)
	o.SetLabels(labels)
	o.SetAnnotations(annotations)
}

// modeOf returns how sources of a kind in the source namespace are propagated; another mode than Ignore, too, if the source of another
// ancestor governs the name.
func (p *Propagator) modeOf(resource schema.GroupResource, namespace, source, name string) v1beta1.SynchronizationMode {
	if slices.Contains(clusterkinds.Enforced, resource) {
		return v1beta1.Propagate
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	place, ok := p.places[resource]
	if !ok || p.kinds[place].stop == nil {
		return v1beta1.Ignore
	}
	k := p.kinds[place]
	if mode := k.policies.Of(p.tree.Chain(source)).Mode; mode != v1beta1.Ignore {
		return mode
	}
	if governing := k.index.Governing(namespaces.Inheriting(p.tree, namespace), name); governing != nil {
		return k.policies.Of(p.tree.Chain(governing.Namespace)).Mode
	}
	return v1beta1.Ignore
}
