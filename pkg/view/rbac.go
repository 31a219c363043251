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
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/rules"
)

// serveRBAC serves Roles and RoleBindings, and the ClusterRoles and ClusterRoleBindings that are stored as such.
func (h *Handler) serveRBAC(c *call) error {
	resource, names := rbacv1.Resource(c.info.Resource), rbac.NewNames(h.Root)
	if httpstream.IsUpgradeRequest(c.r) {
		return errNoUpgrade
	}
	age := maxRefresh
	if c.info.Resource == rbac.ClusterRoles && !readVerbs.Has(c.info.Verb) {
		age = minRefresh // The rules may be about kinds that are new.
	}
	if err := h.Kinds.notOlder(c.r.Context(), age); err != nil {
		return err
	}
	name := ""
	if len(c.info.Parts) > 1 {
		name = c.info.Name // and not that of a field selector
	}
	cluster, inRoot := rules.Of(resource) == rules.Own, c.info.Namespace != "" && h.Mapper.Names().In(c.info.Namespace) == h.Root
	switch {
	case cluster && c.info.Namespace != "":
		return notFound(c)
	case inRoot && names.Hidden(c.info.Resource, name):
		return apierrors.NewNotFound(resource, name)
	case c.info.Verb == "deletecollection" && (cluster || inRoot):
		// It would delete what is stored for the one with the other.
		return methodNotAllowed(c)
	case c.info.Resource == rbac.ClusterRoles && rbac.OfCluster(name):
		if !readVerbs.Has(c.info.Verb) {
			return apierrors.NewForbidden(resource, name, errReadOnly)
		}
		return h.forward(c)
	}
	c.r = c.r.Clone(c.r.Context())
	c.readJSON()
	if query := c.r.URL.Query(); includeMetadata(query) {
		c.r.URL.RawQuery = query.Encode()
		c.query = c.r.URL.RawQuery
	}
	if !h.Mapper.Names().Relative() && c.info.Verb != "delete" && !readVerbs.Has(c.info.Verb) {
		body, err := c.readBody()
		if err != nil {
			return err
		}
		c.setBody(body, c.r.Header.Get("Content-Type"))
		if err := c.countDecoded(body); err != nil {
			return err
		}
	}
	c.up = &Connection{Upgrade: c.up.Upgrade, Transport: rbac.Transport(rbac.Config{
		Root: h.Root, Names: names, Resource: c.info.Resource, Verb: c.info.Verb, Scopes: h.Kinds.scopesOf,
		Reserve: h.reserve(c), ReserveCurrent: upToMaxPart(c, h.Budget.Response),
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
