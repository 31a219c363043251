package view

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metainternalscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/requestsize"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/rbac"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/rules"
)

// Config is the configuration of a view.
type Config struct {
	// Root is the real name of the namespace whose subtree the view shows.
	Root string
	// Server is the URL of kube-apiserver. Its path, if it has one, precedes all others.
	Server *url.URL
	// Caller returns the connection to kube-apiserver with the identity of a request's caller. Its error, an API error,
	// is the response.
	Caller func(*http.Request) (*Connection, error)
	// Members are the namespaces of the view, and Mapper translates their names.
	Members Members
	Mapper  *mapping.Mapper
	// Kinds are those of the cluster.
	Kinds *Kinds
	// Projected are cluster-scoped kinds that this view shows read-only, besides those of all views. Those that no view
	// may show are ignored.
	Projected []schema.GroupResource
	// Budget bounds the requests. Nil means that they are not counted.
	Budget Budget
	// Stopping ends watches and other streams when it is done. Nil means that they last as long as their requests.
	Stopping context.Context
}

// Handler serves a view.
type Handler struct {
	Config

	infos     *request.RequestInfoFactory
	meanings  *meanings
	projected projected
}

// New returns the handler of a view.
func New(config Config) *Handler {
	if config.Budget == nil {
		config.Budget = unlimited{}
	}
	h := &Handler{
		Config:    config,
		infos:     &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")},
		meanings:  &meanings{names: config.Mapper.Names(), by: map[string]meaning{}},
		projected: newProjected(config.Projected),
	}
	config.Members.OnChange(h.meanings.changed)
	return h
}

// call is a request while it is served.
type call struct {
	w    http.ResponseWriter
	r    *http.Request
	info *request.RequestInfo
	up   *Connection

	// path is the escaped path of the request to kube-apiserver, and query its encoded query.
	path, query string
	// kind is that of the objects, if their names of namespaces have to be translated, and known. Mapped reports
	// whether the body is that of the request to kube-apiserver already.
	kind   schema.GroupVersionKind
	mapped bool
	// across reports whether the response contains only what is in the subtree of the view.
	across bool

	// releases release what the request has of the budget.
	budget   Budget
	releases []func()
	// decoded releases what the decoded body counts, when it is no longer used: before anything waits for memory.
	decoded func()
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := h.serve(w, r); err != nil {
		Fail(w, r, h.groupInView(err))
	}
}

// serve writes the response, unless it returns an error.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request) error {
	if err := requestsize.CheckURL(r.URL, requestsize.MaxQuery); err != nil {
		return err
	}
	info, err := h.requestInfo(r)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if err := validatePath(r.URL, info); err != nil {
		return err
	}
	if err := validateHeaders(r.Header); err != nil {
		return err
	}
	switch info.Verb {
	case "get", "list", "watch":
		// Nobody would read it, and it would stay as long as a watch. What passes through the subresource proxy is the
		// tenant's own.
		if info.Subresource != "proxy" {
			body := r.Body
			r = r.WithContext(r.Context())
			r.Body, r.ContentLength = http.NoBody, 0
			_ = body.Close()
		}
	}
	c := &call{w: w, r: r, info: info, path: r.URL.EscapedPath(), query: r.URL.RawQuery, budget: h.Budget, decoded: func() {}}
	defer func() {
		for _, release := range c.releases {
			release()
		}
	}()
	if err := c.use(h.Budget.Begin(r, info)); err != nil {
		return err
	}
	var release func()
	c.r, release = h.untilStopping(r, info)
	c.releases = append(c.releases, release)
	if c.up, err = h.Caller(r); err != nil {
		return err
	}
	if !info.IsResourceRequest {
		return h.serveNonResource(c)
	}
	return h.serveResource(c)
}

// requestInfo returns what a request is for. The query of a list is checked first, because one that cannot be parsed
// would be logged.
func (h *Handler) requestInfo(r *http.Request) (*request.RequestInfo, error) {
	bare := *r
	bare.URL = &url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath}
	info, err := h.infos.NewRequestInfo(&bare)
	if err != nil || r.URL.RawQuery == "" {
		return info, err
	}
	if info.Verb == "list" {
		if err := metainternalscheme.ParameterCodec.DecodeParameters(r.URL.Query(), metav1.SchemeGroupVersion, &internalversion.ListOptions{}); err != nil {
			return nil, err
		}
	}
	return h.infos.NewRequestInfo(r)
}

// use keeps what the request has got of the budget until its end.
func (c *call) use(release func(), err error) error {
	if err == nil {
		c.releases = append(c.releases, release)
	}
	return err
}

// serveResource serves a request for a resource by the rule of its kind.
func (h *Handler) serveResource(c *call) error {
	if err := h.mapGroup(c); err != nil {
		return err
	}
	resource := schema.GroupResource{Group: c.info.APIGroup, Resource: c.info.Resource}
	switch {
	case resource == namespaces:
		return h.serveNamespaces(c)
	case rules.RefusedGroup(resource.Group):
		return refused(resource)
	case resource == definitions && h.Mapper.Names().Relative():
		return h.serveDefinitions(c)
	case rbac.Serves(resource):
		return h.serveRBAC(c)
	case c.info.Namespace != "":
		return h.serveInNamespace(c)
	}
	return h.serveWithoutNamespace(c, resource)
}

// serveWithoutNamespace serves a request for a resource by a path without a namespace.
func (h *Handler) serveWithoutNamespace(c *call, resource schema.GroupResource) error {
	found, err := h.Kinds.find(c.r.Context(), resource.WithVersion(c.info.APIVersion))
	switch {
	case err != nil:
		return err
	case found == nil:
		return notFound(c)
	case found.namespaced:
		c.kind = found.GroupVersionKind
		return h.serveAcross(c)
	}
	switch h.ruleOf(resource) {
	case rules.ReadOnly:
		if c.info.Subresource != "" {
			return notFound(c) // nodes/proxy reaches the pods of all tenants.
		}
		if !readVerbs.Has(c.info.Verb) {
			return apierrors.NewForbidden(resource, c.info.Name, errReadOnly)
		}
		return h.forward(c)
	case rules.Review:
		c.kind = found.GroupVersionKind
		return h.serveReview(c)
	}
	return refused(resource)
}

// serveInNamespace forwards a request for objects of a member. The request ends when the namespace leaves the view, or
// when its name means another one.
func (h *Handler) serveInNamespace(c *call) error {
	member, realName, err := h.member(c.r.Context(), c.info.Namespace)
	if err != nil {
		return err
	}
	if member == nil {
		return noNamespace(c.info.Namespace)
	}
	ctx, cancel := context.WithCancelCause(c.r.Context())
	defer cancel(nil)
	stop := context.AfterFunc(member.Present, func() { cancel(noNamespace(c.info.Namespace)) })
	defer stop()
	named, release := whileNamed(member.means, c.r.WithContext(ctx))
	defer release()
	c.r = named
	if h.Mapper.Names().Relative() {
		if err := h.mapPath(c, realName); err != nil {
			return err
		}
	}
	return h.forward(c)
}

// member returns a member by its name in the view, and its real name; nil if the view shows no such namespace.
func (h *Handler) member(ctx context.Context, name string) (*Member, string, error) {
	names := h.Mapper.Names()
	realName := names.In(name)
	known, err := h.Members.Get(ctx, realName)
	if err != nil || known == nil {
		return nil, "", err
	}
	member := *known
	member.means = h.meanings.of(realName)
	if shown, ok := names.Shown(realName); !ok || shown != name {
		return nil, "", nil
	}
	return &member, realName, nil
}

// mapPath puts real names into the path of a request in a namespace, and finds the kind of its objects.
func (h *Handler) mapPath(c *call, realName string) error {
	segments := strings.Split(c.path, "/") // the first one is empty
	at := namespaceSegment(c.info)
	segments[at] = realName
	resource := schema.GroupVersionResource{Group: c.info.APIGroup, Version: c.info.APIVersion, Resource: c.info.Resource}
	if mapping.ResourceNamedAfterNamespaces(resource.GroupResource()) && len(segments) > at+2 {
		segments[at+2] = h.Mapper.Names().In(segments[at+2])
	}
	c.path = strings.Join(segments, "/")
	if c.info.Subresource != "" {
		resource.Resource += "/" + c.info.Subresource
	}
	found, err := h.Kinds.find(c.r.Context(), resource)
	if err != nil {
		return err
	}
	if found == nil {
		return notFound(c)
	}
	c.kind = found.GroupVersionKind
	return nil
}
