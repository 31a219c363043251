package view

import (
	"encoding/json"
	"net/http"
	"strings"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// serveOpenAPI serves the OpenAPI documents without the paths that views do not serve. Definitions stay.
func (h *Handler) serveOpenAPI(c *call, segments []string) error {
	if err := h.Kinds.current(c.r.Context()); err != nil {
		return err
	}
	accept := c.r.Header.Get("Accept")
	switch {
	case len(segments) == 1 && segments[0] == "v2":
		h.rewrite(c, accept, func(contentType string, document []byte) ([]byte, error) {
			if strings.Contains(contentType, "protobuf") {
				return h.filterOpenAPIProto(document)
			}
			return h.filterOpenAPIJSON(document)
		})
	case len(segments) == 1 && segments[0] == "v3":
		h.rewrite(c, "application/json", filterOpenAPIIndex)
	case len(segments) > 2 && segments[0] == "v3":
		if segments[1] == "apis" && refusedGroup(segments[2]) {
			return notFound(c)
		}
		// The documents of groups are asked for as JSON: the filter does not know their form in protobuf.
		h.rewrite(c, "application/json", func(_ string, document []byte) ([]byte, error) { return h.filterOpenAPIJSON(document) })
	default:
		return notFound(c)
	}
	return nil
}

func filterOpenAPIIndex(_ string, document []byte) ([]byte, error) {
	return filtered(document, func(index *struct {
		Paths map[string]json.RawMessage `json:"paths"`
	}) {
		for path := range index.Paths {
			if segments := strings.Split(path, "/"); len(segments) > 1 && segments[0] == "apis" && refusedGroup(segments[1]) {
				delete(index.Paths, path)
			}
		}
	})
}

func (h *Handler) filterOpenAPIJSON(document []byte) ([]byte, error) {
	var whole map[string]json.RawMessage
	if err := json.Unmarshal(document, &whole); err != nil {
		return nil, err
	}
	var paths map[string]json.RawMessage
	if err := json.Unmarshal(whole["paths"], &paths); err != nil {
		return nil, err
	}
	for path := range paths {
		if !h.servesPath(path) {
			delete(paths, path)
		}
	}
	var err error
	if whole["paths"], err = json.Marshal(paths); err != nil {
		return nil, err
	}
	return json.Marshal(whole)
}

func (h *Handler) filterOpenAPIProto(document []byte) ([]byte, error) {
	var whole openapi_v2.Document
	if err := proto.Unmarshal(document, &whole); err != nil {
		return nil, err
	}
	kept := whole.GetPaths().GetPath()[:0]
	for _, item := range whole.GetPaths().GetPath() {
		if h.servesPath(item.GetName()) {
			kept = append(kept, item)
		}
	}
	whole.Paths.Path = kept
	return proto.Marshal(&whole)
}

// servesPath reports whether a view serves a path of an OpenAPI document.
func (h *Handler) servesPath(path string) bool {
	r, err := http.NewRequest(http.MethodGet, path, nil)
	if err != nil {
		return true
	}
	info, err := h.infos.NewRequestInfo(r)
	if err != nil {
		return false // the deprecated watch
	}
	if !info.IsResourceRequest {
		return true
	}
	resource := schema.GroupResource{Group: info.APIGroup, Resource: info.Resource}
	if resource == namespaces || info.Namespace != "" && !refusedGroup(info.APIGroup) {
		return true
	}
	namespaced := h.Kinds.namespaced(resource.WithVersion(info.APIVersion))
	return servedVerbs(resource, namespaced, []string{"get"}) != nil
}
