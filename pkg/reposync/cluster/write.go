package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/report"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

var errTerminating = errors.New("the object is being deleted; it is created again afterwards")

// Apply creates or updates an object by server-side apply. An object that another RepositorySync has applied is not
// taken over. One that an update cannot change, because a field is immutable, is replaced, as copies are. One that is too
// large, invalid or unreadable with what others have added loses that; all lose annotations that say where they are
// propagated and are not from the repository. One that is CreateOnly and exists is left alone; without the label no watch
// shows its deletion, so nothing is remembered about it.
func (c *Cluster) Apply(ctx context.Context, o *plan.Object) error {
	resource, err := c.ResourceOf(o)
	if err != nil {
		return err
	}
	client := c.in(resource, o.Namespace)
	c.mu.Lock()
	_, ours := c.live[o.ID]
	// What others have written to a new namespace since causes a conflict. If they have rewritten managedFields, the policies
	// reject the change, unless the account may use both RepositorySyncs.
	within, missing := c.created[o.Namespace], false
	c.mu.Unlock()
	if !ours && !within || o.Handling == plan.CreateOnly {
		switch found, err := client.Get(ctx, o.Name, metav1.GetOptions{}); {
		case apierrors.IsNotFound(err):
			missing = true
		case err != nil || o.Handling == plan.CreateOnly:
			return err
		default:
			// Whether the label of another RepositorySync is a conflict is decided by managedFields, which anybody may write.
			if err := Foreign(c.sync, found); err != nil {
				return err
			}
		}
	}
	body, err := o.Body()
	if err != nil {
		return err
	}
	if o.Detaches() {
		c.detaching(o.ID)
	}
	apply := func(force bool) (*metav1.PartialObjectMetadata, error) {
		return client.Patch(ctx, o.Name, types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: Manager(c.sync), Force: &force})
	}
	// Without force, a field that somebody else has set is a conflict: also one that was set since.
	result, err := apply(ours)
	if missing && err == nil && o.Kind == object.Namespace {
		c.mu.Lock()
		c.created[o.Name] = true
		c.mu.Unlock()
	}
	if !ours && apierrors.IsConflict(err) {
		found, getErr := client.Get(ctx, o.Name, metav1.GetOptions{})
		if getErr != nil {
			return getErr
		}
		if err := Foreign(c.sync, found); err != nil {
			return err
		}
		result, err = apply(true)
	}
	// An object that is too large may have an immutable field, too, and managed fields that cannot be decoded.
	for tries := 0; err != nil && tries < 3; tries++ {
		rejected := err
		if err := c.makeWay(ctx, resource, o, rejected); err != nil {
			return err
		}
		// Without force after a deletion, so that an object that somebody else creates first is not taken over unseen.
		result, err = apply(makesRoom(resource, rejected))
	}
	if err == nil {
		result, err = c.keepPropagation(ctx, client, o, result)
	}
	if err != nil {
		return err
	}
	live := c.liveOf(result)
	c.record(o, live)
	if live.Terminating {
		return errTerminating
	}
	return nil
}

// keepPropagation removes annotations of an applied object by which others have decided where it is propagated. With the
// label, which a policy protects, it gets no new ones. It returns the object.
func (c *Cluster) keepPropagation(ctx context.Context, client metadata.ResourceInterface, o *plan.Object, applied *metav1.PartialObjectMetadata) (*metav1.PartialObjectMetadata, error) {
	annotations := map[string]any{}
	for _, key := range o.Redirections(applied.Annotations) {
		annotations[key] = nil
	}
	if len(annotations) == 0 {
		return applied, nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": applied.UID, "annotations": annotations}})
	if err != nil {
		return nil, err
	}
	return c.patch(ctx, client, o.Name, patch)
}

// patch changes the metadata of an object, or what an object of RBAC grants. kube-apiserver applies merge patches to no
// object whose managed fields are too deep, and strategic merge patches to no custom resource.
func (c *Cluster) patch(ctx context.Context, client metadata.ResourceInterface, name string, patch []byte) (*metav1.PartialObjectMetadata, error) {
	options := metav1.PatchOptions{FieldManager: Manager(c.sync)}
	o, err := client.Patch(ctx, name, types.StrategicMergePatchType, patch, options)
	if apierrors.IsUnsupportedMediaType(err) {
		o, err = client.Patch(ctx, name, types.MergePatchType, patch, options)
	}
	return o, err
}

// patchLast patches an object that has left the repository. If managed fields have a time that kube-apiserver cannot decode,
// they are reset, with an entry of the field manager: plans know by it what finalizers keep.
func (c *Cluster) patchLast(ctx context.Context, resource schema.GroupVersionResource, id plan.ID, metadata, grants map[string]any) error {
	patch := func() error {
		content := map[string]any{"metadata": metadata}
		maps.Copy(content, grants)
		body, err := json.Marshal(content)
		if err == nil {
			_, err = c.patch(ctx, c.in(resource, id.Namespace), id.Name, body)
		}
		return err
	}
	err := patch()
	if undecodable(err) {
		metadata["managedFields"] = entriesOf(resource.GroupVersion(), Manager(c.sync))
		err = patch()
	}
	return err
}

// Foreign returns an error if the labels of an object say that a RepositorySync must not take it over.
func Foreign(sync string, o metav1.Object) error {
	if owner := o.GetLabels()[hnc.LabelRepositorySync]; owner != "" && owner != sync {
		return fmt.Errorf("%s: the object belongs to the RepositorySync %q; remove it from one of the two repositories", report.ManagementConflict, owner)
	}
	if source := o.GetLabels()[hnc.LabelInheritedFrom]; source != "" && o.GetNamespace() != "" {
		return fmt.Errorf("the object is a copy that is inherited from namespace %q; rename it, or remove the source", source)
	}
	return nil
}

// ErrReplaced means that an object is gone, and that another one has its name.
var ErrReplaced = errors.New("it is gone, and another object has its name")

// Delete deletes an object that the RepositorySync has applied, with its dependents in the background. It is no error
// if that is gone. It returns ErrReplaced if another one has its name, and an error if an object of RBAC, or one with
// finalizers in a namespace, is not gone afterwards: it grants nothing then, or has no copies.
func (c *Cluster) Delete(ctx context.Context, id plan.ID) error {
	resource, err := c.resource(id.Kind, "")
	if err != nil {
		return err
	}
	c.mu.Lock()
	uid := c.applied[id].UID
	if live, exists := c.live[id]; exists {
		uid = live.UID
	}
	c.mu.Unlock()
	background := metav1.DeletePropagationBackground
	err = c.in(resource, id.Namespace).Delete(ctx, id.Name, metav1.DeleteOptions{
		PropagationPolicy: &background, Preconditions: &metav1.Preconditions{UID: &uid},
	})
	// A conflict has other causes than another UID, for example concurrent writes in the tree.
	conflict := apierrors.IsConflict(err)
	if err != nil && !conflict && !apierrors.IsNotFound(err) {
		return err
	}
	var replaced error
	if conflict || id.Namespace != "" || id.Grants() {
		left, getErr := c.in(resource, id.Namespace).Get(ctx, id.Name, metav1.GetOptions{})
		switch {
		case getErr == nil && left.UID == uid && conflict:
			return err
		case getErr == nil && left.UID == uid:
			err := fmt.Errorf("it is being deleted, and stays until its finalizers are removed: %s", names.ShortenText(strings.Join(left.Finalizers, ", ")))
			metadata, grants, kept := map[string]any{"uid": uid}, map[string]any{"aggregationRule": nil, id.GrantsIn(): []any{}}, "what it grants"
			if !id.Grants() {
				metadata["annotations"], grants, kept = map[string]any{hnc.AnnotationNone: "true"}, nil, "its copies"
			}
			emptied := c.patchLast(ctx, resource, id, metadata, grants)
			switch {
			case emptied != nil && !apierrors.IsNotFound(emptied):
				return fmt.Errorf("%w, with %s: %w", err, kept, emptied)
			case emptied == nil && (id.Grants() || len(left.Finalizers) > 0):
				return err
			}
		case getErr == nil && conflict:
			replaced = ErrReplaced
		case getErr == nil, apierrors.IsNotFound(getErr):
		case apierrors.IsForbidden(getErr) && !conflict:
			// Users without permission to get it only learn that its deletion was accepted.
		default:
			return getErr
		}
	}
	c.Forget(id)
	return replaced
}

// Release removes the metadata of the RepositorySync from an object, and leaves it alone otherwise.
func (c *Cluster) Release(ctx context.Context, id plan.ID) error {
	resource, err := c.resource(id.Kind, "")
	if err != nil {
		return err
	}
	err = c.patchLast(ctx, resource, id, map[string]any{
		"labels": map[string]any{hnc.LabelRepositorySync: nil}, "annotations": map[string]any{hnc.AnnotationSourcePath: nil},
	}, nil)
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	c.Forget(id)
	return nil
}
