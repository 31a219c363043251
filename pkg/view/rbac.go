package view

import (
	"errors"
	"net/url"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/rbac"
)

// serveRBAC serves Roles and RoleBindings, and the ClusterRoles and ClusterRoleBindings that are stored as such.
func (h *Handler) serveRBAC(c *call) error {
	resource, names := rbacv1.Resource(c.info.Resource), rbac.NewNames(h.Root)
	if httpstream.IsUpgradeRequest(c.r) {
		return apierrors.NewBadRequest("this view does not upgrade connections of this request; leave out the header Upgrade")
	}
	if c.info.Verb == "patch" || c.info.Verb == "create" || c.info.Verb == "update" {
		if err := h.Kinds.current(c.r.Context()); err != nil {
			return err
		}
	}
	cluster := ruleOf(resource) == own
	switch _, stored := names.Shown(c.info.Name); {
	case cluster && c.info.Namespace != "":
		return notFound(c)
	case !cluster && c.info.Namespace != "" && stored:
		return apierrors.NewNotFound(resource, c.info.Name)
	case c.info.Verb == "deletecollection" && (cluster || h.Mapper.Names().In(c.info.Namespace) == h.Root):
		// It would delete what is stored for the one with the other.
		return methodNotAllowed(c)
	case c.info.Resource == rbac.ClusterRoles && rbac.OfCluster(c.info.Name):
		if !readVerbs.Has(c.info.Verb) {
			return apierrors.NewForbidden(resource, c.info.Name, errReadOnly)
		}
		return h.forward(c)
	}
	c.r = c.r.Clone(c.r.Context())
	c.readJSON()
	if !h.Mapper.Names().Relative() && c.info.Verb != "delete" && !readVerbs.Has(c.info.Verb) {
		body, err := c.readBody()
		if err != nil {
			return err
		}
		c.setBody(body, c.r.Header.Get("Content-Type"))
	}
	c.up = &Connection{Upgrade: c.up.Upgrade, Transport: rbac.Transport(rbac.Config{
		Root: h.Root, Names: names, Resource: c.info.Resource, Verb: c.info.Verb, Scopes: h.Kinds.scopesOf,
	}, c.up.Transport)}
	switch {
	case c.info.Namespace != "":
		return h.serveInNamespace(c)
	case !cluster:
		return h.serveWithoutNamespace(c, resource)
	}
	return h.serveClusterRBAC(c, names)
}

// serveClusterRBAC serves ClusterRoles and ClusterRoleBindings from the root.
func (h *Handler) serveClusterRBAC(c *call, names rbac.Names) error {
	found, err := h.Kinds.find(c.r.Context(), rbacv1.Resource(c.info.Resource).WithVersion(c.info.APIVersion))
	if err != nil {
		return err
	}
	if found == nil || len(c.info.Parts) > 2 {
		return notFound(c)
	}
	c.kind = found.GroupVersionKind
	path := []string{"", "apis", c.info.APIGroup, c.info.APIVersion, "namespaces", h.Root, rbac.StoredResource(c.info.Resource)}
	if len(c.info.Parts) == 2 {
		path = append(path, url.PathEscape(names.Stored(c.info.Name)))
	}
	c.path = strings.Join(path, "/")
	query := c.r.URL.Query()
	if text := query.Get("fieldSelector"); text != "" {
		selector, err := fields.ParseSelector(text)
		if err == nil {
			selector, err = selector.Transform(func(field, value string) (string, string, error) {
				switch field {
				case "metadata.name":
					return field, names.Stored(value), nil
				case "metadata.namespace":
					return "", "", errors.New("metadata.namespace is not a field of cluster-scoped objects")
				}
				return field, value, nil
			})
		}
		if err != nil {
			return apierrors.NewBadRequest("fieldSelector: " + err.Error())
		}
		query.Set("fieldSelector", selector.String())
		c.query = query.Encode()
	}
	return h.forward(c)
}
