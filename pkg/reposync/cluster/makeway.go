package cluster

import (
	"context"
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

// maxConflicts is how often a write is repeated after others' writes.
const maxConflicts = 5

// makeWay changes the object that an update cannot turn into the one of the repository, if TryReplace permits it and it
// is as read: it loses what others have added if makesRoom says so, and is deleted otherwise. rejected is the error of the
// update.
func (c *Cluster) makeWay(ctx context.Context, resource schema.GroupVersionResource, o *plan.Object, rejected error) error {
	if err := c.TryReplace(ctx, resource, o, rejected); err != nil {
		return err
	}
	client := c.whole.Resource(resource).Namespace(o.Namespace)
	found, err := c.present(ctx, client, o)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	case found.GetDeletionTimestamp() != nil:
		return errTerminating
	case makesRoom(resource, rejected):
		return c.makeRoom(ctx, client, found, o, rejected)
	}
	uid, version, background := found.GetUID(), found.GetResourceVersion(), metav1.DeletePropagationBackground
	err = client.Delete(ctx, o.Name, metav1.DeleteOptions{
		PropagationPolicy: &background, Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version},
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// present reads the object that has the name of one in the repository. It fails if that must not be taken over.
func (c *Cluster) present(ctx context.Context, client dynamic.ResourceInterface, o *plan.Object) (*unstructured.Unstructured, error) {
	found, err := client.Get(ctx, o.Name, metav1.GetOptions{})
	if err == nil {
		err = Foreign(c.sync, found)
	}
	return found, err
}

// makeRoom takes from an object what others have added: by patches, or by updates where kube-apiserver applies none.
func (c *Cluster) makeRoom(ctx context.Context, client dynamic.ResourceInterface, found *unstructured.Unstructured, o *plan.Object, rejected error) error {
	manager := Manager(c.sync)
	read := func() (*unstructured.Unstructured, error) { return c.present(ctx, client, o) }
	update := func(found *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		return client.Update(ctx, alone(found, o, manager), metav1.UpdateOptions{FieldManager: manager})
	}
	annotations := crowded(rejected) && apierrors.IsInvalid(rejected)
	patch := func(found *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		body, err := json.Marshal(room(found, o, manager, annotations))
		if err != nil {
			return nil, err
		}
		return client.Patch(ctx, o.Name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: manager})
	}
	readPatchable := func() (*unstructured.Unstructured, error) {
		found, err := read()
		if err != nil {
			return nil, err
		}
		return patchable(ctx, client, found, o, manager)
	}

	reset, err := patchable(ctx, client, found, o, manager)
	switch {
	case o.Kind != object.Namespace && (undecodable(err) || unreadable(rejected) && reset == found):
		// The time is elsewhere, such as in the metadata of a template, where no patch removes it.
		return repeat(2, found, update, read)
	case err != nil || unreadable(rejected):
		return err
	case annotations:
		err = repeat(1, reset, patch, readPatchable)
	default:
		err = repeat(2, reset, patch, readPatchable)
	}
	if o.Kind != object.Namespace && tooDeep(err) {
		return repeat(2, reset, update, read)
	}
	return err
}

// repeat writes an object once or twice, beginning with the one found. A first write of more than annotations makes the
// field manager the owner of lists as one that updates, and a second one, which changes nothing else, removes that entry.
// Therefore the second is repeated after others' writes, with what is read then.
func repeat(times int, found *unstructured.Unstructured, write func(found *unstructured.Unstructured) (*unstructured.Unstructured, error),
	read func() (*unstructured.Unstructured, error),
) error {
	for n, conflicts := 0, 0; n < times; {
		written, err := write(found)
		switch {
		case err == nil:
			found, n = written, n+1
		case n > 0 && apierrors.IsConflict(err) && conflicts < maxConflicts:
			conflicts++
			if found, err = read(); err != nil {
				return err
			}
		default:
			return err
		}
	}
	return nil
}

// makesRoom reports whether an object whose update has failed by err loses what others have added, or only its managed
// fields. Otherwise it is deleted.
func makesRoom(resource schema.GroupVersionResource, err error) bool {
	return crowded(err) || unreadable(err) || !copies.Replaceable(resource.GroupResource())
}

// TryReplace returns nil if an object whose update has failed by err can be made one that is updated: others may have
// made it too large, or a time in it unreadable, unless the repository has the time that cannot be decoded; or the
// update is invalid, and it may be deleted and created again, because the kind is one of copies.Replaceable and nothing but
// the present object prevents the creation, or is valid without what others have added. Otherwise it returns err, or the
// error of the creation. It stores nothing.
func (c *Cluster) TryReplace(ctx context.Context, resource schema.GroupVersionResource, o *plan.Object, err error) error {
	client := c.whole.Resource(resource).Namespace(o.Namespace)
	create := func() error {
		_, err := client.Create(ctx, o.Content(), metav1.CreateOptions{FieldManager: Manager(c.sync), DryRun: []string{metav1.DryRunAll}})
		return err
	}
	switch {
	case crowded(err):
		return nil
	case unreadable(err):
		if err := create(); apierrors.IsBadRequest(err) {
			return err
		}
		return nil
	case !apierrors.IsInvalid(err):
		return err
	}
	if !copies.Replaceable(resource.GroupResource()) {
		if !c.isValidAlone(ctx, client, o) {
			return err
		}
		return nil
	}
	err = create()
	if copies.InTheWay(err) {
		return nil
	}
	return err
}

// isValidAlone reports whether the present object could be replaced by one without what others have added; an immutable
// field prevents that. It stores nothing.
func (c *Cluster) isValidAlone(ctx context.Context, client dynamic.ResourceInterface, o *plan.Object) bool {
	found, err := client.Get(ctx, o.Name, metav1.GetOptions{})
	if err == nil {
		_, err = client.Update(ctx, alone(found, o, Manager(c.sync)), metav1.UpdateOptions{FieldManager: Manager(c.sync), DryRun: []string{metav1.DryRunAll}})
	}
	return err == nil
}
