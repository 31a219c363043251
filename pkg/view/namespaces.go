package view

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
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

// mediaType returns the content type of a request without its parameters.
func mediaType(r *http.Request) string {
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return media
}

// bodyTimeout bounds how long a client may take to send a body that is kept in memory.
const bodyTimeout = time.Minute

// readBody reads the body of a request, which counts until the request has ended.
func (c *call) readBody() ([]byte, error) {
	size := c.r.ContentLength
	if size > mapping.MaxRequest {
		return nil, bodyTooLarge()
	}
	reserved := size
	if size < 0 {
		reserved = mapping.MaxRequest
	}
	if err := c.use(c.budget.Body(c.r.Context(), reserved)); err != nil {
		return nil, err
	}
	control := http.NewResponseController(c.w)
	if err := control.SetReadDeadline(time.Now().Add(bodyTimeout)); err == nil {
		defer func() { _ = control.SetReadDeadline(time.Time{}) }()
	}
	body := bytes.NewBuffer(make([]byte, 0, max(size, 0)+bytes.MinRead))
	if _, err := body.ReadFrom(io.LimitReader(c.r.Body, mapping.MaxRequest+1)); err != nil {
		return nil, apierrors.NewBadRequest("reading the body: " + err.Error())
	}
	if body.Len() > mapping.MaxRequest {
		return nil, bodyTooLarge()
	}
	return body.Bytes(), nil
}

func bodyTooLarge() error {
	return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", mapping.MaxRequest))
}
