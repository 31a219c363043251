package view

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/utils/ptr"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/rules"
)

// Groups returns the groups of the custom resources that the view of a root has for itself: those of the cluster with
// its suffix.
func Groups(root string, members Members, kinds *Kinds) *mapping.Groups {
	// failed is when the last refresh has failed. A body can have any number of unknown groups, which must not wait
	// each.
	var failed atomic.Pointer[time.Time]
	return &mapping.Groups{
		Suffix: func() string { return hnc.ViewGroupSuffix(root, members.UID(root)) },
		Known:  kinds.hasGroup,
		Refresh: func() {
			if at := failed.Load(); at != nil && time.Since(*at) < minRefresh {
				return
			}
			ctx, cancel := context.WithTimeout(context.Background(), getTimeout)
			defer cancel()
			if kinds.notOlder(ctx, minRefresh) != nil { // What is known stays.
				failed.Store(ptr.To(time.Now()))
			}
		},
	}
}

// suffix returns what the groups of the view's own custom resources end with in the cluster, "" if it has none.
func (h *Handler) suffix() string {
	if !h.Mapper.Names().Relative() {
		return ""
	}
	return hnc.ViewGroupSuffix(h.Root, h.Members.UID(h.Root))
}

// realGroup returns the group in the cluster of a group in the view. It is not ok if that is the group of a view, and not
// this view's own by its name here: no view serves those of others, or its own under any other name.
func (h *Handler) realGroup(shown string) (realGroup string, ok bool) {
	realGroup = h.Mapper.Group(shown)
	return realGroup, !hnc.IsViewGroup(realGroup) || realGroup == shown+"."+h.suffix()
}

// mapGroup makes a request for an own group of the view one for the group in the cluster.
func (h *Handler) mapGroup(c *call) error {
	realGroup, ok := h.realGroup(c.info.APIGroup)
	switch {
	case !ok:
		return notFound(c)
	case !hnc.IsViewGroup(realGroup):
		return nil
	}
	info := *c.info
	info.APIGroup, c.info = realGroup, &info
	c.path = withGroup(c.path, realGroup)
	return nil
}

// withGroup returns a path with another group, which follows the segment "apis".
func withGroup(path, group string) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments[:len(segments)-1] {
		if segment == "apis" {
			segments[i+1] = group
			break
		}
	}
	return strings.Join(segments, "/")
}

// groupInView returns an error with the names that groups have in the view.
func (h *Handler) groupInView(err error) error {
	var api *apierrors.StatusError
	if !errors.As(err, &api) || api.ErrStatus.Details == nil || !hnc.IsViewGroup(api.ErrStatus.Details.Group) {
		return err
	}
	status, details := api.ErrStatus, *api.ErrStatus.Details
	realGroup := details.Group
	details.Group = h.Mapper.GroupOut(realGroup)
	status.Details, status.Message = &details, strings.ReplaceAll(status.Message, realGroup, details.Group)
	return &apierrors.StatusError{ErrStatus: status}
}

// document names groups of the cluster in one document as the view does.
type document struct {
	// suffix is that of the view, models what the names of the models of its groups begin with, and identifier what the
	// suffix is in identifiers of operations.
	suffix, models, identifier string
	// own are the groups of the document that the view has for itself, by their names in the view.
	own map[string]bool
}

// groupsOf returns the names of groups in a document with some groups. They depend on nothing else, so that entity tags
// of kube-apiserver stay valid.
func (h *Handler) groupsOf(groups ...string) document {
	d := document{suffix: h.suffix(), own: map[string]bool{}}
	d.models = modelsOf(d.suffix)
	d.identifier = openapi.ToValidOperationID("."+d.suffix, false)
	for _, group := range groups {
		if shown, ok := d.isOwn(group); ok {
			d.own[shown] = true
		}
	}
	return d
}

// isOwn returns the name in the view of one of its own groups.
func (d document) isOwn(group string) (shown string, ok bool) {
	if d.suffix == "" {
		return "", false
	}
	return strings.CutSuffix(group, "."+d.suffix)
}

// name returns the name of a group in the view; ok is false if the view does not show it.
func (d document) name(group string) (shown string, ok bool) {
	switch {
	case rules.RefusedGroup(group):
		return "", false
	case hnc.IsViewGroup(group):
		return d.isOwn(group)
	}
	return group, !d.own[group]
}

// version does so for a group and version.
func (d document) version(groupVersion string) string {
	if group, version, ok := strings.Cut(groupVersion, "/"); ok {
		if shown, ok := d.name(group); ok {
			return shown + "/" + version
		}
	}
	return groupVersion
}

// path does so for a path, whose group follows the segment "apis".
func (d document) path(path string) (shown string, ok bool) {
	segments := strings.Split(path, "/")
	for i, segment := range segments[:len(segments)-1] {
		if segment == "apis" {
			name, ok := d.name(segments[i+1])
			if ok && name != segments[i+1] {
				segments[i+1] = name
				return strings.Join(segments, "/"), true
			}
			return path, ok
		}
	}
	return path, true
}

// groupOfPath returns the group in a path, "" if it has none.
func groupOfPath(path string) string {
	_, rest, ok := strings.Cut(path, "apis/")
	if !ok {
		return ""
	}
	group, _, _ := strings.Cut(rest, "/")
	return group
}

// reversed returns a domain with its labels in reverse order.
func reversed(domain string) string {
	labels := strings.Split(domain, ".")
	slices.Reverse(labels)
	return strings.Join(labels, ".")
}

// modelsOf returns what the names of the models of a group, or of all groups with a suffix, begin with in an OpenAPI
// document. A version and a kind follow.
func modelsOf(group string) string { return reversed(strings.TrimPrefix(group, ".")) + "." }

// viewModels is that of the groups of all views.
var viewModels = modelsOf(hnc.ViewGroupsSuffix)

// groupOfModel returns the group in the name of a model, if it is that of a custom resource.
func groupOfModel(name string) string {
	for range 2 {
		name = name[:max(strings.LastIndexByte(name, '.'), 0)]
	}
	return reversed(name)
}

// model returns the name in the view of a model of an OpenAPI document; ok is false if the view does not show it.
func (d document) model(name string) (shown string, ok bool) {
	if !strings.HasPrefix(name, viewModels) {
		return name, !d.own[groupOfModel(name)]
	}
	if d.suffix == "" {
		return "", false
	}
	return strings.CutPrefix(name, d.models)
}

// operation does so for the identifier of an operation, or a tag.
func (d document) operation(identifier string) string {
	if d.suffix == "" {
		return identifier
	}
	return strings.Replace(identifier, d.identifier, "", 1)
}

// reference does so for a reference to a model.
func (d document) reference(to string) string {
	for _, models := range []string{"#/definitions/", "#/components/schemas/"} {
		if name, ok := strings.CutPrefix(to, models); ok {
			if shown, ok := d.model(name); ok {
				return models + shown
			}
		}
	}
	return to
}
