package copies

import (
	"context"
	"errors"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/outcome"
)

// backups keeps the content of overwritten objects, as OverwrittenObjects.
type backups struct {
	hierarchy versioned.Interface
	dynamic   dynamic.Interface

	mu sync.Mutex
	// overwriting holds the objects that are being overwritten.
	overwriting map[object]struct{}
}

type object struct {
	schema.GroupResource
	namespace, name string
}

func newBackups(hierarchy versioned.Interface, client dynamic.Interface) *backups {
	return &backups{hierarchy: hierarchy, dynamic: client, overwriting: map[object]struct{}{}}
}

// backup is the record of the content of an object that is about to be overwritten.
type backup struct {
	// created is the record that this write has created, nil if there was one before or it could not be created.
	created *v1alpha3.OverwrittenObject
	// earlier is the record of this name that created has replaced, nil if there was none.
	earlier *v1alpha3.OverwrittenObject
	// lost is the reason why the content is not kept, nil if it is.
	lost error
}

// begin claims the object that a write is about to overwrite until done is called. The keys of a source and of its
// destination may lead to the same write at the same time: the one that fails would discard the record that the other
// one relies on. It returns an error if the object is claimed.
func (b *backups) begin(w copies.Write) (done func(), err error) {
	o := object{w.Kind.GroupResource(), w.Namespace, w.Name}
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, claimed := b.overwriting[o]; claimed {
		return nil, fmt.Errorf("%w: %s %s/%s is being overwritten", outcome.ErrStale, w.Kind.Resource, w.Namespace, w.Name)
	}
	b.overwriting[o] = struct{}{}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.overwriting, o)
	}, nil
}

// add keeps the content of the object that a write is about to overwrite, unless that is kept already. If it can't be
// kept because of its kind, of limits or of missing permissions, the write is not prevented: otherwise users could
// block the policies above them; nor by the name or changes of a RoleBinding that is invalid. It returns an error if a
// retry may succeed.
func (b *backups) add(ctx context.Context, w copies.Write) (backup, error) {
	if !names.Addressable(w.Name) {
		return backup{lost: fmt.Errorf("names of more than %d bytes do not fit into those of records", names.MaxLength)}, nil
	}
	live, err := b.dynamic.Resource(w.Kind.GroupVersionResource).Namespace(w.Namespace).Get(ctx, w.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return backup{}, fmt.Errorf("%w: %w", outcome.ErrStale, err)
	case err != nil:
		return lostFor(err)
	case live.GetUID() != w.Present.UID, w.Role == nil && live.GetResourceVersion() != w.Present.ResourceVersion:
		return backup{}, fmt.Errorf("%w: %s %s/%s is at version %s now", outcome.ErrStale, w.Kind.Resource, w.Namespace, w.Name, live.GetResourceVersion())
	}
	manifest, err := copies.Present(live)
	if err != nil {
		return backup{}, err
	}
	resource, records := w.Kind.GroupResource(), b.hierarchy.HncV1alpha3().OverwrittenObjects(w.Namespace)
	name := hnc.OverwrittenName(resource, w.Name)
	// The new record replaces an earlier one, which discard restores.
	earlier, err := records.Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		earlier = nil
	case err != nil:
		return lostFor(err)
	}
	created, err := records.Create(ctx, &v1alpha3.OverwrittenObject{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha3.OverwrittenObjectSpec{
			Group: resource.Group, Resource: resource.Resource, Name: w.Name, Source: w.From(), Manifest: string(manifest),
		},
	}, metav1.CreateOptions{})
	switch {
	case err == nil:
		return backup{created: created, earlier: earlier}, nil
	case apierrors.IsAlreadyExists(err):
		return backup{}, nil
	}
	return lostFor(err)
}

// unnameable reports whether a name is so long that requests may not be able to name the object: the headers of a request
// may have a megabyte.
func unnameable(name string) bool { return len(name) > 64<<10 }

// lostFor decides what follows from an error of the server that keeps records: the content is lost for a lasting
// reason, or the write has to wait.
func lostFor(err error) (backup, error) {
	if apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsRequestEntityTooLargeError(err) {
		return backup{lost: err}, nil
	}
	return backup{}, err
}

// discard deletes the record of an object that was not overwritten after all, or replaces it by the earlier one. The
// error of the write does not say so: a server whose etcd does not respond in time returns an internal error, and a
// request that the client repeats after such an answer returns a conflict with itself.
func (b *backups) discard(ctx context.Context, w copies.Write, kept backup, failure error) {
	if kept.created == nil {
		return
	}
	live, err := b.dynamic.Resource(w.Kind.GroupVersionResource).Namespace(w.Namespace).Get(ctx, w.Name, metav1.GetOptions{})
	gone := apierrors.IsNotFound(err)
	if err == nil {
		if _, overwritten := live.GetLabels()[hnc.LabelInheritedFrom]; overwritten {
			return
		}
		gone = live.GetDeletionTimestamp() != nil || live.GetUID() != w.Present.UID
	} else if !gone {
		klog.FromContext(ctx).Info("Can't confirm that an object was not overwritten; its record stays", "namespace", w.Namespace, "name", w.Name, "reason", err)
		return
	}
	if gone && errors.As(failure, &copies.ReplaceError{}) {
		return
	}
	records := b.hierarchy.HncV1alpha3().OverwrittenObjects(kept.created.Namespace)
	var refused error
	if kept.earlier != nil {
		_, refused = records.Create(ctx, &v1alpha3.OverwrittenObject{ObjectMeta: metav1.ObjectMeta{Name: kept.earlier.Name}, Spec: kept.earlier.Spec}, metav1.CreateOptions{})
	}
	err = refused
	if kept.earlier == nil || refused != nil {
		// No record is better than one of an object that is still there.
		err = errors.Join(refused, records.Delete(ctx, kept.created.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &kept.created.UID}}))
	}
	if err != nil && !apierrors.IsNotFound(err) {
		klog.FromContext(ctx).Info("Can't discard the record of an object that was not overwritten", "namespace", kept.created.Namespace, "name", kept.created.Name, "reason", err)
	}
}
