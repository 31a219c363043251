package view

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
)

// definitions are the CustomResourceDefinitions of a view, which are stored as ViewDefinitions of the root.
var (
	definitions       = schema.GroupResource{Group: mapping.Definition.Group, Resource: "customresourcedefinitions"}
	storedDefinitions = v1alpha3.SchemeGroupVersion.WithResource("viewdefinitions")
)

// serveDefinitions serves CustomResourceDefinitions. The mapper translates between them and ViewDefinitions.
func (h *Handler) serveDefinitions(c *call) error {
	found, err := h.Kinds.find(c.r.Context(), definitions.WithVersion(c.info.APIVersion))
	switch {
	case err != nil:
		return err
	case found == nil, c.info.Namespace != "", len(c.info.Parts) > 3:
		return notFound(c)
	case c.info.Verb == "deletecollection", c.info.Subresource != "" && c.info.Subresource != "status":
		return methodNotAllowed(c)
	case c.info.Subresource != "" && c.info.Verb != "get":
		return h.refuseStatus(c)
	}
	path := []string{"", "apis", storedDefinitions.Group, storedDefinitions.Version, "namespaces", h.Root, storedDefinitions.Resource}
	for _, part := range c.info.Parts[1:] {
		path = append(path, url.PathEscape(part))
	}
	c.path, c.kind = strings.Join(path, "/"), mapping.Definition
	switch c.info.Verb {
	case "create", "update", "patch":
		return h.writeDefinition(c)
	}
	return h.forward(c)
}

// refuseStatus returns the error of writing the status of a CustomResourceDefinition, which is that of the cluster's.
func (h *Handler) refuseStatus(c *call) error {
	err := apierrors.NewMethodNotSupported(definitions, c.info.Verb)
	err.ErrStatus.Message = fmt.Sprintf("status: is read-only in a view; to remove a version from status.storedVersions, ask an administrator of the cluster for a StorageVersionMigration of %s.%s", c.info.Name, h.suffix())
	return err
}

// writeDefinition writes a CustomResourceDefinition, and answers when its custom resources can be used: clients create
// them next, and roles that name the group.
func (h *Handler) writeDefinition(c *call) error {
	c.r = c.r.Clone(c.r.Context())
	if types.PatchType(mediaType(c.r)) == types.StrategicMergePatchType {
		// The lists of a CustomResourceDefinition have no keys to merge by.
		c.r.Header.Set("Content-Type", string(types.MergePatchType))
	}
	body, err := c.readMapped()
	if err != nil {
		return err
	}
	contentType := c.r.Header.Get("Content-Type")
	if mediaType(c.r) == runtime.ContentTypeProtobuf && c.info.Verb != "patch" {
		if body, err = c.definitionJSON(body); err != nil {
			return err
		}
		contentType = runtime.ContentTypeJSON
	}
	if c.info.Verb == "patch" {
		body, err = h.requestMapper(c).Patch(contentType, c.kind, body)
	} else {
		body, contentType, err = h.requestMapper(c).Request(contentType, c.kind, body)
	}
	if err != nil {
		return err
	}
	c.setBody(body, contentType)
	name := c.info.Name
	if c.info.Verb == "create" {
		name = mapping.TextOf(mapping.MemberOf(body, "metadata"), "name")
	}
	_, group, _ := strings.Cut(name, ".")
	if err := h.validateGroup(c, name, group); err != nil {
		return err
	}
	if len(c.r.URL.Query()["dryRun"]) == 0 {
		clients, err := h.clients(c) // with the connection that does not wait
		if err != nil {
			return err
		}
		c.up = &Connection{Upgrade: c.up.Upgrade, Transport: &awaiting{next: c.up.Transport, await: func(created bool) { h.awaitDefinition(c, clients, name, group, created) }}}
	}
	return h.forward(c)
}

// validateGroup rejects a group that the cluster serves: its custom resources are those of everybody.
func (h *Handler) validateGroup(c *call, name, group string) error {
	if err := h.Kinds.notOlder(c.r.Context(), minRefresh); err != nil {
		return err
	}
	if group != "" && h.Kinds.hasGroup(group) && h.Mapper.Group(group) == group {
		return apierrors.NewForbidden(definitions, name, fmt.Errorf("spec.group: an administrator has installed %s in the cluster; use it, with Helm by --skip-crds, or choose another group", group))
	}
	return nil
}

// awaiting calls a function after a successful write.
type awaiting struct {
	next  http.RoundTripper
	await func(created bool)
}

// RoundTrip implements http.RoundTripper.
func (a *awaiting) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := a.next.RoundTrip(r)
	if err == nil && response.StatusCode < http.StatusMultipleChoices {
		a.await(response.StatusCode == http.StatusCreated)
	}
	return response, err
}

// awaitDefinition waits until the cluster serves what is stored under a name, to the caller if it has created it, or
// says why it does not, for seeTimeout.
func (h *Handler) awaitDefinition(c *call, clients *clients, name, group string, created bool) {
	defer clients.release()
	ctx := c.r.Context()
	var ready *metav1.Condition
	_ = poll(ctx, func(ctx context.Context) (bool, error) {
		v, err := clients.definitions.ViewDefinitions(h.Root).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return apierrors.IsNotFound(err), nil
		}
		ready = meta.FindStatusCondition(v.Status.Conditions, hnc.ConditionReady)
		if ready == nil || ready.ObservedGeneration != v.Generation || ready.Reason == hnc.ReasonNotEstablished {
			return false, nil
		}
		if ready.Status != metav1.ConditionTrue {
			return true, nil
		}
		if !h.serves(v, group) {
			_ = h.Kinds.wait(ctx)
			return false, nil
		}
		return !created || h.allowed(ctx, clients, v, group), nil
	})
	if ready != nil && ready.Status != metav1.ConditionTrue {
		c.warn(ready.Reason + ": " + ready.Message)
	}
}

// allowed reports whether the caller may list the custom resources of a definition in the root.
func (h *Handler) allowed(ctx context.Context, clients *clients, v *v1alpha3.ViewDefinition, group string) bool {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
		Namespace: h.Root, Verb: "list", Group: group + "." + h.suffix(), Resource: v.Status.AcceptedNames.Plural,
	}}}
	answer, err := clients.reviews.SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	return err == nil && answer.Status.Allowed
}

// serves reports whether the versions of a definition are known.
func (h *Handler) serves(v *v1alpha3.ViewDefinition, group string) bool {
	var spec struct {
		Versions []struct {
			Name   string `json:"name"`
			Served bool   `json:"served"`
		} `json:"versions"`
	}
	if err := json.Unmarshal(v.Spec.Raw, &spec); err != nil {
		return true
	}
	realGroup := schema.GroupResource{Group: group + "." + h.suffix(), Resource: v.Status.AcceptedNames.Plural}
	for _, version := range spec.Versions {
		if found, _ := h.Kinds.lookup(realGroup.WithVersion(version.Name)); version.Served && found == nil {
			return false
		}
	}
	return true
}
