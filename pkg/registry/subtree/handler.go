package subtree

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	internalscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/metrics"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/inflight"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/selectors"
)

// handler serves the resources of the group. The filters of the generic API server in front of it authenticate the
// caller and authorize the verb on the resource of this group.
type handler struct {
	kinds    *kinds
	members  *members
	upstream upstream
	mux      *watchMux
	// limits are those of requests in flight, for each verb.
	limits map[string]*inflight.Limiter
	memory *memory
	// continued are for watches that read which namespaces their client has seen.
	continued  *slots
	authorizer authorizer.Authorizer
	lastChange LastChange
	// cached is for how long the authorizer caches allowed decisions.
	cached     time.Duration
	serializer runtime.NegotiatedSerializer
	// labeledAt returns the namespaces that had root's tree label at a revision. It takes what it reads from memory.
	labeledAt func(ctx context.Context, root, resourceVersion string, memory *share) ([]string, error)
	// otherRevisions reports whether the revisions of a kind are not those of namespaces.
	otherRevisions func(schema.GroupVersionResource) bool
	// stillLabeled reports whether a namespace still has root's tree label.
	stillLabeled func(root, name string) bool
}

// versionParameter is the query parameter that selects a version of the kind. It is no part of the resource's name, so
// that permissions on resources of this group do not depend on it.
const versionParameter = "version"

// request is a decoded request.
type request struct {
	// root is the namespace whose subtree is requested, "" for the whole cluster.
	root        string
	options     internalversion.ListOptions
	reader      reader
	permissions permissions
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	info, ok := genericapirequest.RequestInfoFrom(r.Context())
	if !ok || !info.IsResourceRequest {
		h.fail(w, r, apierrors.NewGenericServerResponse(http.StatusNotFound, r.Method, schema.GroupResource{Group: groupName}, "", "the path does not name a resource", 0, false))
		return
	}
	found, err := h.kinds.find(r.Context(), info.Resource, r.URL.Query().Get(versionParameter))
	switch {
	case err != nil:
		h.fail(w, r, err)
		return
	case !supported(info, found):
		err := apierrors.NewMethodNotSupported(groupVersion.WithResource(info.Resource).GroupResource(), info.Verb)
		err.ErrStatus.Message += "; only list and watch are supported here, use the resource itself for any other verb"
		h.fail(w, r, err)
		return
	}
	scope := "namespace"
	if info.Namespace == "" {
		scope = "cluster"
	}
	resource := info.Resource
	if hnc.IsViewGroup(found.Group) {
		resource = "*" + hnc.ViewGroupsSuffix // Tenants create any number of such kinds.
	}
	metrics.InstrumentHandlerFunc(strings.ToUpper(info.Verb), groupName, info.APIVersion, resource, "", scope, metrics.APIServerComponent, false, "",
		func(w http.ResponseWriter, r *http.Request) {
			// If the caller has disconnected, writing a response would only be logged.
			if err := h.serve(w, r, info, found); err != nil && !errors.Is(r.Context().Err(), context.Canceled) {
				h.fail(w, r, err)
			}
		})(w, r)
}

// supported reports whether a kind can be requested in this way.
func supported(info *genericapirequest.RequestInfo, k kind) bool {
	switch info.Verb {
	case "list", "watch":
		return len(info.Parts) == 1
	case "get":
		return len(info.Parts) == 2 && k.isNamespaces()
	}
	return false
}

// serve writes the response unless it returns an error.
func (h *handler) serve(w http.ResponseWriter, r *http.Request, info *genericapirequest.RequestInfo, k kind) error {
	ctx := r.Context()
	q := &request{root: info.Namespace, reader: reader{upstream: h.upstream, kind: k, query: url.Values{}, memory: h.memory.share(inflight.ShareOf(ctx), h.members.tree.Root(info.Namespace))}}
	defer q.reader.memory.giveBack(0)
	if err := internalscheme.ParameterCodec.DecodeParameters(r.URL.Query(), metav1.SchemeGroupVersion, &q.options); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if q.options.Watch != (info.Verb == "watch") && info.Verb != "get" {
		// The deprecated watch path could contain the name of an object.
		return apierrors.NewBadRequest("watch: the deprecated watch path is not supported; use the parameter watch=true")
	}
	if errs := validation.ValidateListOptions(&q.options, true); len(errs) > 0 {
		return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "ListOptions"}, "", errs)
	}
	// They are repeated for each namespace.
	if err := selectors.Validate(&q.options); err != nil {
		return err
	}
	// Selectors as they were written may be much longer.
	for parameter, value := range map[string]string{
		"labelSelector": selectors.Label(&q.options), "fieldSelector": selectors.Field(&q.options), "includeObject": r.URL.Query().Get("includeObject"),
	} {
		if value != "" {
			q.reader.query.Set(parameter, value)
		}
	}
	var err error
	if q.reader.output, err = negotiate(r, h.serializer, info.Verb); err != nil {
		return err
	}
	if q.permissions, err = permissionsFor(ctx, h.authorizer, k, q.root); err != nil {
		return err
	}
	if info.Verb == "watch" {
		q.permissions.decisions = newDecisions(h.lastChange, h.cached)
	}
	if info.Verb == "get" {
		return h.getNamespace(ctx, w, q, info.Name)
	}
	release, err := h.limits[info.Verb].Acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	switch {
	case q.root == "":
		query := r.URL.Query()
		query.Del(versionParameter)
		return h.forward(ctx, w, query, q)
	case info.Verb == "watch":
		return h.watch(ctx, w, q)
	}
	return h.list(ctx, w, q)
}

// getNamespace writes a Namespace of the subtree. It fails with NotFound if the caller is not allowed to get it, so it
// does not reveal which exist.
func (h *handler) getNamespace(ctx context.Context, w http.ResponseWriter, q *request, name string) error {
	namespaces, err := h.members.subtree(ctx, q.root)
	if err != nil {
		return err
	}
	allowed := slices.Contains(namespaces, name)
	if allowed {
		if allowed, err = q.permissions.allowedIn(ctx, name); err != nil {
			return err
		}
	}
	if !allowed {
		return apierrors.NewNotFound(corev1.Resource("namespaces"), name)
	}
	raw, err := h.upstream.getNamespace(ctx, name, q.reader.query, q.reader.output.accept)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(raw) // a write error means that the caller has disconnected
	return nil
}

func (h *handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	responsewriters.ErrorNegotiated(err, h.serializer, groupVersion, w, r)
}
