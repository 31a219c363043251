package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// rewrite sends a request for a document, and changes the document of a successful response. Filters depend on nothing
// but their document and what the view projects, so that entity tags of kube-apiserver stay valid for an edition.
func (h *Handler) rewrite(c *call, accept string, filter func(contentType string, document []byte) ([]byte, error)) {
	r := c.r.Clone(c.r.Context())
	r.Header.Set("Accept", accept)
	r.Header.Del("Accept-Encoding") // The transport negotiates and decodes.
	r.Header.Del("Range")
	h.projected.untag(r.Header)
	changed := *c
	changed.r = r
	h.proxy(&changed, func(response *http.Response) error {
		h.projected.tag(response.Header)
		if response.StatusCode != http.StatusOK || r.Method == http.MethodHead {
			return nil
		}
		document, err := h.document(r, response, filter)
		if err != nil {
			return err
		}
		if err := c.use(h.Budget.Response(r.Context(), int64(len(document)))); err != nil {
			return err
		}
		response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(document)), int64(len(document))
		response.Header.Set("Content-Length", strconv.Itoa(len(document)))
		return nil
	})
}

// document reads what a view may show of a document and changes it, which uses several times its size, when it may.
func (h *Handler) document(r *http.Request, response *http.Response, filter func(contentType string, document []byte) ([]byte, error)) ([]byte, error) {
	grow, release, err := h.Budget.Document(r.Context())
	if err != nil {
		return nil, err
	}
	defer release()
	contentType, whole := response.Header.Get("Content-Type"), &kept{grow: grow}
	if err := h.groupsOf().read(contentType, response.Body, whole); err != nil {
		return nil, fmt.Errorf("the document at %s: %w", r.URL.Path, err)
	}
	// A connection whose response is not read to its end is not used again.
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return nil, err
	}
	_ = response.Body.Close()
	return filter(contentType, whole.document.Bytes())
}

// discoveryAccept returns the forms of discovery documents that a client accepts and a filter reads: the aggregated
// one in its stable version, and the older one, in JSON.
func discoveryAccept(accept string) string {
	for part := range strings.SplitSeq(accept, ",") {
		_, parameters, err := mime.ParseMediaType(part)
		if err == nil && parameters["g"] == apidiscovery.GroupName && parameters["v"] == "v2" {
			return "application/json;g=" + apidiscovery.GroupName + ";v=v2;as=APIGroupDiscoveryList,application/json"
		}
	}
	return "application/json"
}

// filterDiscovery removes from a discovery document what the view does not serve, and names its own groups.
func (h *Handler) filterDiscovery(_ string, document []byte) ([]byte, error) {
	var kind metav1.TypeMeta
	if err := json.Unmarshal(document, &kind); err != nil {
		return nil, err
	}
	switch kind.Kind {
	case "APIGroupDiscoveryList":
		return filtered(document, h.filterAggregated)
	case "APIGroupList":
		return filtered(document, h.filterGroups)
	case "APIGroup":
		return filtered(document, func(group *metav1.APIGroup) { h.groupsOf().rename(group) })
	case "APIResourceList":
		return filtered(document, h.filterResources)
	}
	return document, nil // APIVersions
}

func filtered[T any](document []byte, filter func(*T)) ([]byte, error) {
	var value T
	if err := json.Unmarshal(document, &value); err != nil {
		return nil, err
	}
	filter(&value)
	return json.Marshal(value)
}

func (h *Handler) filterGroups(list *metav1.APIGroupList) {
	var names []string
	for _, group := range list.Groups {
		names = append(names, group.Name)
	}
	d := h.groupsOf(names...)
	list.Groups = slices.DeleteFunc(list.Groups, func(g metav1.APIGroup) bool {
		_, shown := d.name(g.Name)
		return !shown
	})
	for i := range list.Groups {
		d.rename(&list.Groups[i])
	}
}

// rename gives a group its name in the view.
func (d document) rename(group *metav1.APIGroup) {
	group.Name, _ = d.name(group.Name)
	group.PreferredVersion.GroupVersion = d.version(group.PreferredVersion.GroupVersion)
	for i := range group.Versions {
		group.Versions[i].GroupVersion = d.version(group.Versions[i].GroupVersion)
	}
}

func (h *Handler) filterAggregated(list *apidiscovery.APIGroupDiscoveryList) {
	var names []string
	for i := range list.Items {
		group := &list.Items[i]
		names = append(names, group.Name)
		for j := range group.Versions {
			version := &group.Versions[j]
			version.Resources = slices.DeleteFunc(version.Resources, func(r apidiscovery.APIResourceDiscovery) bool {
				resource := schema.GroupResource{Group: group.Name, Resource: r.Resource}
				return h.servedVerbs(resource, r.Scope == apidiscovery.ScopeNamespace, r.Verbs) == nil
			})
			for k := range version.Resources {
				r := &version.Resources[k]
				resource, namespaced := schema.GroupResource{Group: group.Name, Resource: r.Resource}, r.Scope == apidiscovery.ScopeNamespace
				r.Verbs = h.servedVerbs(resource, namespaced, r.Verbs)
				if !namespaced {
					r.Subresources = nil
				}
			}
		}
	}
	d := h.groupsOf(names...)
	// A group without kinds is one that the view does not have, unless its server is unavailable.
	list.Items = slices.DeleteFunc(list.Items, func(group apidiscovery.APIGroupDiscovery) bool {
		_, shown := d.name(group.Name)
		return !shown || !slices.ContainsFunc(group.Versions, func(v apidiscovery.APIVersionDiscovery) bool {
			return len(v.Resources) > 0 || v.Freshness == apidiscovery.DiscoveryFreshnessStale
		})
	})
	for i := range list.Items {
		d.renameDiscovery(&list.Items[i])
	}
}

// renameDiscovery gives a group its name in the view.
func (d document) renameDiscovery(group *apidiscovery.APIGroupDiscovery) {
	shown, own := d.isOwn(group.Name)
	if !own {
		return
	}
	rename := func(kind *metav1.GroupVersionKind) {
		if kind != nil && kind.Group == group.Name {
			kind.Group = shown
		}
	}
	for _, version := range group.Versions {
		for i := range version.Resources {
			r := &version.Resources[i]
			r.ShortNames, r.Categories = hnc.ShownShortNames(r.ShortNames, d.suffix), hnc.ShownShortNames(r.Categories, d.suffix)
			rename(r.ResponseKind)
			for _, sub := range r.Subresources {
				rename(sub.ResponseKind)
			}
		}
	}
	group.Name = shown
}

func (h *Handler) filterResources(list *metav1.APIResourceList) {
	gv, err := schema.ParseGroupVersion(list.GroupVersion)
	if err != nil {
		return
	}
	d := h.groupsOf()
	_, own := d.isOwn(gv.Group)
	served := list.APIResources[:0]
	for _, r := range list.APIResources {
		name, _, sub := strings.Cut(r.Name, "/")
		if sub && !r.Namespaced {
			continue
		}
		if verbs := h.servedVerbs(gv.WithResource(name).GroupResource(), r.Namespaced, r.Verbs); verbs != nil {
			r.Verbs = verbs
			if own {
				r.ShortNames, r.Categories = hnc.ShownShortNames(r.ShortNames, d.suffix), hnc.ShownShortNames(r.Categories, d.suffix)
			}
			served = append(served, r)
		}
	}
	list.APIResources, list.GroupVersion = served, d.version(list.GroupVersion)
}

// filterPaths keeps the paths that the view serves in the list of all paths.
func (h *Handler) filterPaths(_ string, document []byte) ([]byte, error) {
	return filtered(document, func(list *metav1.RootPaths) {
		var groups []string
		for _, path := range list.Paths {
			groups = append(groups, groupOfPath(path))
		}
		d := h.groupsOf(groups...)
		list.Paths = slices.DeleteFunc(list.Paths, func(path string) bool {
			switch segments := strings.Split(strings.Trim(path, "/"), "/"); segments[0] {
			case "api", "apis", "openapi", "version", "healthz", "livez", "readyz", "openid", ".well-known":
				_, shown := d.path(path)
				return !shown
			}
			return true
		})
		for i, path := range list.Paths {
			list.Paths[i], _ = d.path(path)
		}
	})
}
