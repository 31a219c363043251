package copies

import (
	"context"
	"errors"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Written is what a server says of an object that it has written.
type Written struct {
	UID             types.UID
	ResourceVersion string
}

// Client writes copies. Its errors are API errors.
type Client interface {
	Create(ctx context.Context, kind Kind, namespace string, body []byte) (Written, error)
	Update(ctx context.Context, kind Kind, namespace, name string, body []byte) (Written, error)
	// Delete deletes the object if it has that UID.
	Delete(ctx context.Context, kind Kind, namespace, name string, uid types.UID) error
}

// Apply makes the write. What it returns with a nil error is empty for Delete.
func Apply(ctx context.Context, client Client, w Write) (Written, error) {
	switch w.Verb {
	case Create:
		return client.Create(ctx, w.Kind, w.Namespace, w.Source.content.body("", ""))
	case Update:
		body := w.Source.content.body(w.Present.UID, w.Present.ResourceVersion)
		written, err := client.Update(ctx, w.Kind, w.Namespace, w.Name, body)
		if !apierrors.IsInvalid(err) || !w.Kind.recreate() {
			return written, err
		}
		if err := remove(ctx, client, w); err != nil {
			return Written{}, err
		}
		return client.Create(ctx, w.Kind, w.Namespace, w.Source.content.body("", ""))
	default:
		return Written{}, remove(ctx, client, w)
	}
}

func remove(ctx context.Context, client Client, w Write) error {
	err := client.Delete(ctx, w.Kind, w.Namespace, w.Name, w.Present.UID)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// recreate says whether an object of the kind can be replaced by deleting it when an update is invalid: the roleRef of a
// RoleBinding can't be changed, and nobody holds on to a RoleBinding by its UID.
func (k Kind) recreate() bool {
	return k.Group == "rbac.authorization.k8s.io" && k.Resource == "rolebindings"
}

// Outcome says what follows from the result of a write.
type Outcome string

const (
	// Done says that the write was made, or that there is no place for it any more.
	Done Outcome = "done"
	// Stale says that the write was decided on an outdated picture; a later one will be right.
	Stale Outcome = "stale"
	// Refused says that the server won't accept the write as things are; it is worth telling somebody.
	Refused Outcome = "refused"
	// Failed says that the server could not do it now.
	Failed Outcome = "failed"
)

// Judge returns what follows from the error of a write in a namespace.
func Judge(verb Verb, err error) Outcome {
	switch {
	case err == nil:
		return Done
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return Done
	case verb == Create && Gone(err):
		return Done
	case apierrors.IsNotFound(err) && !Gone(err):
		return Failed
	case apierrors.IsNotFound(err), apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return Stale
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err),
		apierrors.IsMethodNotSupported(err), apierrors.IsRequestEntityTooLargeError(err), failsInside(err):
		return Refused
	}
	return Failed
}

// failsInside says whether the server itself could not do it, and not that it is busy or away: the object is too large for its etcd, or
// somebody's webhook fails. That may last, and only an administrator can do something about it.
func failsInside(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Code == http.StatusInternalServerError
}

// Gone says whether an error tells that an object, or its namespace, is not there; a server that does not know the resource at
// all answers much the same.
func Gone(err error) bool {
	return apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}
