package propagator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/copies"
)

// A store of hierarchies that was lost comes back empty. That must not look as if everybody had left their tree: the labels and copies that
// would be removed are all that is left of it. A store is recognized by the UID of its configuration, which nobody can delete; the system
// namespace remembers it.

var errOtherStore = errors.New("the API server has another store of hierarchies than before; starting afresh, to rebuild them from the namespaces")

// AwaitLoss returns when the API server is found to have another store, or when the context ends.
func (p *Propagator) AwaitLoss(ctx context.Context) {
	select {
	case <-p.lost:
	case <-ctx.Done():
	}
}

// Lost returns an error if the API server was found to have another store. The picture is of the old one, and nothing may be decided on it.
func (p *Propagator) Lost() error {
	select {
	case <-p.lost:
		return errOtherStore
	default:
		return nil
	}
}

// recognizeStore returns true once the store is known to be the one of the last time, or its hierarchies have been rebuilt. It returns false
// when the context ends.
func (p *Propagator) recognizeStore(ctx context.Context) bool {
	for {
		err := p.recognizeStoreOnce(ctx)
		if err == nil || ctx.Err() != nil {
			return ctx.Err() == nil
		}
		klog.FromContext(ctx).Error(err, "Can't tell whether the hierarchies' store is that of the last time; trying again")
		sleep(ctx, time.Second)
	}
}

func (p *Propagator) recognizeStoreOnce(ctx context.Context) error {
	system, err := p.Kubernetes.CoreV1().Namespaces().Get(ctx, hnc.SystemNamespace, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil // There is nothing to remember a store by.
	}
	if err != nil {
		return err
	}
	store, err := p.liveStore(ctx)
	if err != nil {
		return err
	}
	known := system.Annotations[hnc.AnnotationStore]
	if known != "" && known != string(store) {
		klog.FromContext(ctx).Info("The store of hierarchies is another one than the last time; rebuilding them from the namespaces", "store", store, "known", known)
		if err := p.rebuild(ctx); err != nil {
			return err
		}
	}
	if known != string(store) {
		if err := p.rememberStore(ctx, system, store); err != nil {
			return err
		}
	}
	p.store.Store(&store)
	return nil
}

// liveStore returns the UID of the configuration, which it creates if there is none.
func (p *Propagator) liveStore(ctx context.Context) (types.UID, error) {
	client := p.Hierarchy.HncV1beta1().HNCConfigurations()
	c, err := client.Get(ctx, hnc.ConfigurationName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		c, err = client.Create(ctx, &v1beta1.HNCConfiguration{ObjectMeta: metav1.ObjectMeta{Name: hnc.ConfigurationName}}, metav1.CreateOptions{})
	}
	if err != nil {
		return "", err
	}
	return c.UID, nil
}

func (p *Propagator) rememberStore(ctx context.Context, system *corev1.Namespace, store types.UID) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": system.UID, "annotations": map[string]any{hnc.AnnotationStore: store}}})
	if err != nil {
		return err
	}
	_, err = p.Kubernetes.CoreV1().Namespaces().Patch(ctx, system.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

// sameStore returns an error unless the API server's store is the one that the picture is of, or that is not known yet. While nobody
// serves the API at all, nothing is known to be lost. version is that of the store now, empty if it was not asked.
func (p *Propagator) sameStore(ctx context.Context) (version string, err error) {
	known := p.store.Load()
	if known == nil {
		return "", nil
	}
	list, err := p.Hierarchy.HncV1beta1().HNCConfigurations().List(ctx, metav1.ListOptions{})
	switch {
	case err == nil && slices.ContainsFunc(list.Items, func(c v1beta1.HNCConfiguration) bool { return c.UID == *known }):
		return list.ResourceVersion, nil
	case err == nil, copies.Gone(err):
		p.loseStore()
		return "", errOtherStore
	}
	return "", fmt.Errorf("can't tell whether the store of hierarchies is the same: %w", err)
}

// watchStore and listStore let nothing into the picture that is of another store.
func (p *Propagator) watchStore(resource string, f watchFunc) watchFunc {
	return func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
		for {
			w, err := p.watchSameStore(ctx, f, o)
			if o.ResourceVersion == "" || !apierrors.IsServiceUnavailable(err) {
				return w, err
			}
			// A reflector would list everything again, though it can go on where it was when our API server is back: unless it can't even connect,
			// which never happens, for kube-apiserver is there.
			klog.FromContext(ctx).V(4).Info("Can't watch yet", "reason", err)
			p.ready.requested(resource, err)
			if sleep(ctx, awayPeriod); ctx.Err() != nil {
				return nil, ctx.Err()
			}
		}
	}
}

// awayPeriod is how often it is looked whether our API server is back. A change may wait for that.
const awayPeriod = 250 * time.Millisecond

func (p *Propagator) watchSameStore(ctx context.Context, f func(context.Context, metav1.ListOptions) (watch.Interface, error), o metav1.ListOptions) (watch.Interface, error) {
	now, err := p.sameStore(ctx)
	if err != nil {
		return nil, err
	}
	if c, err := resourceversion.CompareResourceVersion(o.ResourceVersion, now); err == nil && c > 0 {
		return nil, apierrors.NewResourceExpired("the store of hierarchies is back at an earlier version")
	}
	return f(ctx, o)
}

func (p *Propagator) listStore(f cache.ListWithContextFunc) cache.ListWithContextFunc {
	return func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		if _, err := p.sameStore(ctx); err != nil {
			return nil, err
		}
		return f(ctx, o)
	}
}
