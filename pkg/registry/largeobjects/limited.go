package largeobjects

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/storage"
	storeerr "k8s.io/apiserver/pkg/storage/errors"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/changerates"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/fence"
)

// limited is a storage that limits the bytes that are written. It gets no writes that are invalid or dry runs,
// and those that it rejects, or that change nothing, take nothing of the rate.
type limited struct {
	storage.Interface
	limit    *limit
	resource schema.GroupResource
}

// Create implements storage.Interface.
func (s limited) Create(ctx context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	giveBack, err := s.limit.allow(ctx, s.resource, obj, nil)
	if err != nil {
		return err
	}
	err = s.Interface.Create(ctx, key, obj, out, ttl)
	if rejected(storeerr.InterpretCreateError(err, s.resource, "")) {
		giveBack()
	}
	return err
}

// GuaranteedUpdate implements storage.Interface. Deletions are not limited.
func (s limited) GuaranteedUpdate(ctx context.Context, key string, destination runtime.Object, ignoreNotFound bool,
	preconditions *storage.Preconditions, tryUpdate storage.UpdateFunc, cached runtime.Object) error {
	giveBack, before := nothing, uint64(0)
	err := s.Interface.GuaranteedUpdate(ctx, key, destination, ignoreNotFound, preconditions, func(old runtime.Object, response storage.ResponseMeta) (runtime.Object, *uint64, error) {
		giveBack() // if this is not the first attempt, the one before has lost
		giveBack, before = nothing, response.ResourceVersion
		deleted := isDeleted(old)
		obj, ttl, err := tryUpdate(old, response)
		// A deletion returns the object that it has got, and changes nothing if it has begun before.
		if err == nil && obj != old && isDeleted(obj) == deleted {
			giveBack, err = s.limit.allow(ctx, s.resource, obj, old)
		}
		return obj, ttl, err
	}, cached)
	if err == nil && s.hasVersion(destination, before) || rejected(storeerr.InterpretUpdateError(err, s.resource, "")) {
		giveBack()
	}
	return err
}

// hasVersion reports whether an object has a version: that from before an update that has stored nothing.
func (s limited) hasVersion(obj runtime.Object, version uint64) bool {
	has, err := s.Versioner().ObjectResourceVersion(obj)
	return err == nil && has == version
}

// rejected reports whether a write has certainly not been made because of an error.
func rejected(err error) bool {
	return errors.Is(err, fence.ErrLost) || changerates.Rejected(err)
}

func isDeleted(obj runtime.Object) bool {
	object, err := meta.Accessor(obj)
	return err == nil && object.GetDeletionTimestamp() != nil
}
