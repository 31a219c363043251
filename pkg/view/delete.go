package view

import (
	"context"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/typed"
)

// deleteNamespace deletes the Subnamespace of a namespace, by the caller, and returns the namespace, which is gone when
// its content is.
func (h *Handler) deleteNamespace(c *call, member *Member, realName string) error {
	options, err := deleteOptions(c)
	if err != nil {
		return err
	}
	ctx, name := c.r.Context(), c.info.Name
	clients, err := h.clients(c)
	if err != nil {
		return err
	}
	subnamespaces := clients.subnamespaces.Subnamespaces(member.Parent)
	wanted := ptr.Deref(options.Preconditions, metav1.Preconditions{})
	var ns *corev1.Namespace
	err = poll(ctx, func(ctx context.Context) (bool, error) {
		// The UID of the Subnamespace is that of the one that the namespace of this UID belongs to.
		sub, err := subnamespaces.Get(ctx, realName, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		if ns, err = clients.namespaces.Get(ctx, realName, metav1.GetOptions{}); err != nil {
			return false, err
		}
		remove := metav1.DeleteOptions{DryRun: options.DryRun, Preconditions: &metav1.Preconditions{UID: &sub.UID}}
		// As in an update, a version is compared when the Subnamespace is in effect.
		if wanted.ResourceVersion != nil {
			if !inEffect(sub, sub.Generation) {
				return false, nil
			}
			remove.Preconditions.ResourceVersion = &sub.ResourceVersion
		}
		if wanted.UID != nil && *wanted.UID != ns.UID || wanted.ResourceVersion != nil && *wanted.ResourceVersion != ns.ResourceVersion {
			return false, apierrors.NewConflict(namespaces, name, fmt.Errorf("preconditions: the namespace has UID %s and resourceVersion %s", ns.UID, ns.ResourceVersion))
		}
		err = subnamespaces.Delete(c.r.Context(), realName, remove) // a write that was sent is not interrupted
		if wanted.ResourceVersion != nil && apierrors.IsConflict(err) {
			return false, nil
		}
		return err == nil, err
	})
	switch {
	case wait.Interrupted(err) && ctx.Err() == nil:
		return conflict(name)
	case err != nil:
		return h.aboutNamespace(err, name)
	}
	if len(options.DryRun) == 0 {
		deleting, err := see(ctx, clients.namespaces, realName, func(seen *corev1.Namespace) bool {
			return seen.UID != ns.UID || seen.DeletionTimestamp != nil
		})
		if err == nil && deleting.UID == ns.UID {
			ns = deleting
		}
	}
	ns.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}
	return h.respond(c, http.StatusOK, ns)
}

// deleteOptions returns the options in the body or in the query of a request.
func deleteOptions(c *call) (*metav1.DeleteOptions, error) {
	body, err := c.readDecoded()
	if err != nil {
		return nil, err
	}
	options := &metav1.DeleteOptions{DryRun: c.r.URL.Query()["dryRun"]}
	if len(body) == 0 {
		return options, nil
	}
	object, err := typed.Decode(body, corev1.SchemeGroupVersion.WithKind("DeleteOptions"), false)
	if err != nil {
		return nil, err
	}
	sent, ok := object.(*metav1.DeleteOptions)
	if !ok {
		return nil, apierrors.NewBadRequest("the body must be DeleteOptions of v1")
	}
	if len(sent.DryRun) == 0 {
		sent.DryRun = options.DryRun
	}
	return sent, nil
}
