package view

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// subtreeGroup is the group of lists and watches across subtrees.
const subtreeGroup = "resources.hnc.x-k8s.io"

// serveAcross serves a list or watch of all namespaces of the view, as one across the subtree.
func (h *Handler) serveAcross(c *call) error {
	if c.info.Verb != "list" && c.info.Verb != "watch" || len(c.info.Parts) != 1 {
		return methodNotAllowed(c)
	}
	resource := schema.GroupResource{Group: c.info.APIGroup, Resource: c.info.Resource}
	name := resource.Resource
	if resource.Group != "" {
		name = resource.Group + "." + resource.Resource
	}
	c.query.Set("version", c.info.APIVersion)
	c.path = h.subtreePath(name)
	return h.forward(c)
}

// subtreePath returns the escaped path of a resource across the view's subtree.
func (h *Handler) subtreePath(resource string) string {
	return "/apis/" + subtreeGroup + "/v1alpha2/namespaces/" + h.Root + "/" + resource
}
