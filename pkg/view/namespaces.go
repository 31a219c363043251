package view

import (
	"errors"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

var namespaceKind = corev1.SchemeGroupVersion.WithKind("Namespace")

// serveNamespaces serves namespaces. They are read as they are, and created and deleted as Subnamespaces.
func (h *Handler) serveNamespaces(c *call) error {
	c.kind = namespaceKind
	named := len(c.info.Parts) > 1
	switch verb := c.info.Verb; {
	case !named && (verb == "list" || verb == "watch"):
		c.path = h.subtreePath("namespaces")
		return h.forwardAcross(c)
	case !named && verb == "create":
		return h.createNamespace(c)
	case !named || c.info.Subresource != "" && verb != "get":
		return methodNotAllowed(c)
	}
	name := c.info.Name
	member, realName, err := h.member(c.r.Context(), name)
	switch {
	case err != nil:
		return err
	case member == nil && c.info.Verb == "patch" && mediaType(c.r) == string(types.ApplyYAMLPatchType):
		return h.createNamespace(c)
	case member == nil:
		return noNamespace(name)
	}
	segments := strings.Split(c.path, "/")
	segments[namespaceSegment(c.info)] = realName
	c.path = strings.Join(segments, "/")
	// The Subnamespace of the root is in a namespace that the view does not have.
	if realName == h.Root && (c.info.Verb == "delete" || member.Subnamespace && !readVerbs.Has(c.info.Verb)) {
		return apierrors.NewForbidden(namespaces, name, errors.New("the view is of this namespace; change it in the cluster itself"))
	}
	switch c.info.Verb {
	case "get":
		if member.Deleting {
			c.up = &Connection{Upgrade: c.up.Upgrade, Transport: leaving{c.up.Transport, name}}
		}
		return h.forward(c)
	case "update", "patch":
		return h.updateNamespace(c, member, realName)
	case "delete":
		if !member.Subnamespace {
			return h.forward(c)
		}
		return h.deleteNamespace(c, member, realName)
	}
	return methodNotAllowed(c)
}

// leaving sends requests for a namespace that is being deleted. Its RoleBindings are deleted before it is. Users whose
// permissions came from these RoleBindings then get 404 instead of 403, because clients that wait for the deletion give
// up on other errors.
type leaving struct {
	http.RoundTripper
	name string
}

func (l leaving) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := l.RoundTripper.RoundTrip(r)
	if err == nil && response.StatusCode == http.StatusForbidden {
		_ = response.Body.Close()
		return nil, noNamespace(l.name)
	}
	return response, err
}
