package view

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// serveAcross serves a list or watch of all namespaces of the view, as one across the subtree.
func (h *Handler) serveAcross(c *call) error {
	if c.info.Verb != "list" && c.info.Verb != "watch" || len(c.info.Parts) != 1 {
		return methodNotAllowed(c)
	}
	resource := schema.GroupResource{Group: c.info.APIGroup, Resource: c.info.Resource}
	query := c.r.URL.Query()
	query.Set("version", c.info.APIVersion)
	c.path, c.query = h.subtreePath(hnc.ResourcesName(resource)), query.Encode()
	return h.forwardAcross(c)
}

// forwardAcross forwards a list or watch across the subtree. It ends when a name in the view means another namespace.
func (h *Handler) forwardAcross(c *call) error {
	named, release := whileNamed(h.meanings.of(""), c.r)
	defer release()
	c.r, c.across = named, true
	return h.forward(c)
}

// subtreePath returns the escaped path of a resource across the view's subtree.
func (h *Handler) subtreePath(resource string) string {
	return "/apis/" + hnc.ResourcesGroupVersion.String() + "/namespaces/" + h.Root + "/" + resource
}
