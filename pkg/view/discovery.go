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
)

// maxDocument bounds the size of discovery and OpenAPI documents, in bytes.
const maxDocument = 64 << 20

// rewrite sends a request for a document, and changes the document of a successful response. Filters depend on nothing
// but their document, so that entity tags of kube-apiserver stay valid.
func (h *Handler) rewrite(c *call, accept string, filter func(contentType string, document []byte) ([]byte, error)) {
	r := c.r.Clone(c.r.Context())
	r.Header.Set("Accept", accept)
	r.Header.Del("Accept-Encoding") // The transport negotiates and decodes.
	r.Header.Del("Range")
	changed := *c
	changed.r = r
	h.proxy(&changed, func(response *http.Response) error {
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

// document reads a document and changes it, which uses several times its size, when it may.
func (h *Handler) document(r *http.Request, response *http.Response, filter func(contentType string, document []byte) ([]byte, error)) ([]byte, error) {
	release, err := h.Budget.Document(r.Context())
	if err != nil {
		return nil, err
	}
	defer release()
	document, err := io.ReadAll(io.LimitReader(response.Body, maxDocument+1))
	if err != nil {
		return nil, err
	}
	if len(document) > maxDocument {
		return nil, fmt.Errorf("the document at %s has more than %d bytes", r.URL.Path, maxDocument)
	}
	_ = response.Body.Close()
	return filter(response.Header.Get("Content-Type"), document)
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

// filterDiscovery removes from a discovery document what views do not serve.
func filterDiscovery(_ string, document []byte) ([]byte, error) {
	var kind metav1.TypeMeta
	if err := json.Unmarshal(document, &kind); err != nil {
		return nil, err
	}
	switch kind.Kind {
	case "APIGroupDiscoveryList":
		return filtered(document, filterAggregated)
	case "APIGroupList":
		return filtered(document, func(list *metav1.APIGroupList) {
			list.Groups = slices.DeleteFunc(list.Groups, func(g metav1.APIGroup) bool { return refusedGroup(g.Name) })
		})
	case "APIResourceList":
		return filtered(document, filterResources)
	}
	return document, nil // APIVersions, APIGroup
}

func filtered[T any](document []byte, filter func(*T)) ([]byte, error) {
	var value T
	if err := json.Unmarshal(document, &value); err != nil {
		return nil, err
	}
	filter(&value)
	return json.Marshal(value)
}

func filterAggregated(list *apidiscovery.APIGroupDiscoveryList) {
	for i := range list.Items {
		group := &list.Items[i]
		for j := range group.Versions {
			version := &group.Versions[j]
			version.Resources = slices.DeleteFunc(version.Resources, func(r apidiscovery.APIResourceDiscovery) bool {
				resource := schema.GroupResource{Group: group.Name, Resource: r.Resource}
				return servedVerbs(resource, r.Scope == apidiscovery.ScopeNamespace, r.Verbs) == nil
			})
			for k := range version.Resources {
				r := &version.Resources[k]
				resource, namespaced := schema.GroupResource{Group: group.Name, Resource: r.Resource}, r.Scope == apidiscovery.ScopeNamespace
				r.Verbs = servedVerbs(resource, namespaced, r.Verbs)
				if !namespaced {
					r.Subresources = nil
				}
			}
		}
	}
	// A group without kinds is one that the view does not have, unless its server is unavailable.
	list.Items = slices.DeleteFunc(list.Items, func(group apidiscovery.APIGroupDiscovery) bool {
		return refusedGroup(group.Name) || !slices.ContainsFunc(group.Versions, func(v apidiscovery.APIVersionDiscovery) bool {
			return len(v.Resources) > 0 || v.Freshness == apidiscovery.DiscoveryFreshnessStale
		})
	})
}

func filterResources(list *metav1.APIResourceList) {
	gv, err := schema.ParseGroupVersion(list.GroupVersion)
	if err != nil {
		return
	}
	served := list.APIResources[:0]
	for _, r := range list.APIResources {
		name, _, sub := strings.Cut(r.Name, "/")
		if sub && !r.Namespaced {
			continue
		}
		if verbs := servedVerbs(gv.WithResource(name).GroupResource(), r.Namespaced, r.Verbs); verbs != nil {
			r.Verbs = verbs
			served = append(served, r)
		}
	}
	list.APIResources = served
}

// filterPaths keeps the paths that views serve in the list of all paths.
func filterPaths(_ string, document []byte) ([]byte, error) {
	return filtered(document, func(list *metav1.RootPaths) {
		list.Paths = slices.DeleteFunc(list.Paths, func(path string) bool {
			segments := strings.Split(strings.Trim(path, "/"), "/")
			switch segments[0] {
			case "api", "openapi", "version", "healthz", "livez", "readyz", "openid", ".well-known":
				return false
			case "apis":
				return len(segments) > 1 && refusedGroup(segments[1])
			}
			return true
		})
	})
}
