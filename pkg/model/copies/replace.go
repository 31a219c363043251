package copies

import (
	"context"
	"errors"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// replaceable are the kinds whose copies, and whose objects in repositories, are deleted and created again when an
// update is invalid, because a field is immutable: the data of a ConfigMap or Secret with immutable set, the type of a
// Secret, the roleRef of a RoleBinding. They are data and permissions that others refer to by name. Deleting an object
// of another kind may end what runs (Job), lose data (PersistentVolumeClaim) or an address (Service).
var replaceable = []schema.GroupResource{{Resource: "configmaps"}, {Resource: "secrets"}, RoleBindings.GroupResource()}

// Replaceable reports whether objects of a resource are deleted and created again when an update is invalid.
func Replaceable(resource schema.GroupResource) bool { return slices.Contains(replaceable, resource) }

// ReplaceError is an error of replacing an object, which may have been deleted.
type ReplaceError struct{ error }

// Unwrap returns the error of the API server.
func (e ReplaceError) Unwrap() error { return e.error }

// replace deletes the object that an update can't turn into the copy, and creates the copy. It does neither if anything
// else is in the way of the copy, such as an admission policy: then the namespace would lose the object and get nothing
// for it.
func replace(ctx context.Context, client Client, w Write) (Written, error) {
	if err := tryReplace(ctx, client, w); err != nil {
		return Written{}, err
	}
	if err := remove(ctx, client, w); err != nil {
		return Written{}, ReplaceError{err}
	}
	written, err := client.Create(ctx, w.Kind, w.Namespace, w.Source.content.body("", ""))
	if err != nil {
		return Written{}, ReplaceError{err}
	}
	return written, nil
}

func tryReplace(ctx context.Context, client Client, w Write) error {
	err := client.TryCreate(ctx, w.Kind, w.Namespace, w.Source.content.body("", ""))
	if InTheWay(err) {
		return nil
	}
	return err
}

// InTheWay reports whether the present object may be all that prevents the creation: it has the name, or the place that
// a quota leaves.
func InTheWay(err error) bool {
	return apierrors.IsAlreadyExists(err) || exceedsQuota(err)
}

// exceedsQuota reports whether an error is that of kube-apiserver's admission of ResourceQuotas. What else the message
// contains, such as the object's name, does not matter.
func exceedsQuota(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsForbidden(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	s := status.Status()
	resource := schema.GroupResource{Group: s.Details.Group, Resource: s.Details.Kind}
	return strings.HasPrefix(s.Message, apierrors.NewForbidden(resource, s.Details.Name, errors.New("exceeded quota: ")).Error())
}
