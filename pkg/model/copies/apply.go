package copies

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/names"
)

// Written identifies the version of an object that a server has stored.
type Written struct {
	UID             types.UID
	ResourceVersion string
}

// Client writes copies. Its errors are API errors.
type Client interface {
	Create(ctx context.Context, kind Kind, namespace string, body []byte) (Written, error)
	Update(ctx context.Context, kind Kind, namespace, name string, body []byte) (Written, error)
	// TryCreate and TryUpdate return the error that Create and Update would, and store nothing.
	TryCreate(ctx context.Context, kind Kind, namespace string, body []byte) error
	TryUpdate(ctx context.Context, kind Kind, namespace, name string, body []byte) error
	// Read returns the present version of an object, and the namespace that it is inherited from, "" if it is no copy.
	Read(ctx context.Context, kind Kind, namespace, name string) (present Written, inheritedFrom string, err error)
	// Delete deletes the object if it has that UID and, unless that is empty, that version.
	Delete(ctx context.Context, kind Kind, namespace, name string, present Written) error
	// DeleteCopies deletes all copies of sources in one namespace.
	DeleteCopies(ctx context.Context, kind Kind, namespace, inheritedFrom string) error
}

// Try returns the error that Apply would for an Update, and stores nothing. It returns none if a webhook of the cluster
// supports no dry run, which is a bad request.
func Try(ctx context.Context, client Client, w Write) error {
	err := client.TryUpdate(ctx, w.Kind, w.Namespace, w.Name, w.Source.content.body(w.Present.UID, w.Present.ResourceVersion))
	if apierrors.IsInvalid(err) && Replaceable(w.Kind.GroupResource()) {
		err = tryReplace(ctx, client, w)
	}
	if apierrors.IsBadRequest(err) {
		return nil
	}
	return err
}

// Apply makes the write. The result is empty for Delete and for errors.
func Apply(ctx context.Context, client Client, w Write) (Written, error) {
	switch w.Verb {
	case Create:
		return client.Create(ctx, w.Kind, w.Namespace, w.Source.content.body("", ""))
	case Update:
		var written Written
		err := persist(ctx, client, w, func(present Written) (err error) {
			written, err = client.Update(ctx, w.Kind, w.Namespace, w.Name, w.Source.content.body(present.UID, present.ResourceVersion))
			return err
		})
		if apierrors.IsInvalid(err) && Replaceable(w.Kind.GroupResource()) {
			return replace(ctx, client, w)
		}
		return written, err
	default:
		return Written{}, remove(ctx, client, w)
	}
}

func remove(ctx context.Context, client Client, w Write) error {
	var err error
	if w.Present.Copy && !names.Addressable(w.Name) {
		// No request can name it. Its siblings are written again as soon as the watch brings their deletion.
		err = client.DeleteCopies(ctx, w.Kind, w.Namespace, w.Present.InheritedFrom)
	} else {
		err = persist(ctx, client, w, func(present Written) error {
			return client.Delete(ctx, w.Kind, w.Namespace, w.Name, present)
		})
	}
	// While the kind is not served, the copy may exist.
	if Gone(err) {
		return nil
	}
	return err
}

// maxVersions is how many versions of a copy that others keep changing are tried to be replaced or deleted.
const maxVersions = 3

// persist makes a write that replaces or deletes a copy, given by the UID and the version of the present object, unless
// that has become a local object: users may replace some copies by their own, which have the same UID. Copies that
// others change all the time are written whatever their version is; for kinds of which the server does not accept that,
// such as custom resources, the error says so. A local object has to have the version whose content is kept.
func persist(ctx context.Context, client Client, w Write, write func(present Written) error) error {
	present := Written{w.Present.UID, w.Present.ResourceVersion}
	for range maxVersions {
		err := write(present)
		if !apierrors.IsConflict(err) || present.ResourceVersion == "" || (w.Verb == Update && !w.Present.Copy) {
			return err
		}
		live, inheritedFrom, readErr := client.Read(ctx, w.Kind, w.Namespace, w.Name)
		switch {
		case readErr != nil:
			return readErr
		case live.UID != w.Present.UID || inheritedFrom != w.Present.InheritedFrom:
			return err
		}
		present = live
	}
	err := write(Written{UID: w.Present.UID})
	if cause, invalid := apierrors.StatusCause(err, metav1.CauseTypeFieldValueInvalid); invalid && cause.Field == "metadata.resourceVersion" {
		return fmt.Errorf("others change it all the time, and its kind is updated by version only: %w", err)
	}
	return err
}

// Outcome classifies the result of a write.
type Outcome string

const (
	// Done means that the write was made, or that its namespace is gone.
	Done Outcome = "done"
	// Stale means that the write was based on an outdated cache. A later decision corrects it.
	Stale Outcome = "stale"
	// Refused means that the server rejects the write in its present state, which is worth reporting.
	Refused Outcome = "refused"
	// Failed means that the server could not make the write now.
	Failed Outcome = "failed"
)

// Classify classifies the error of a write in a namespace.
func Classify(verb Verb, err error) Outcome {
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

// failsInside reports whether the server itself could not make the write, rather than being busy or unavailable: the
// object is too large for its etcd, or a webhook fails. That may last, and only an administrator can change it.
func failsInside(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Code == http.StatusInternalServerError
}

// Gone reports whether an object, or its namespace, does not exist. A server that does not serve the resource returns
// much the same error.
func Gone(err error) bool {
	return apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}
