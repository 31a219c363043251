package view

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
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
		h.rewrite(c, "application/json", h.filterOpenAPIIndex)
	case len(segments) > 2 && segments[0] == "v3":
		if segments[1] == "apis" {
			if err := h.mapDocument(c, segments[2]); err != nil {
				return err
			}
		}
		// The documents of groups are asked for as JSON: the filter does not know their form in protobuf.
		h.rewrite(c, "application/json", func(_ string, document []byte) ([]byte, error) { return h.filterOpenAPIJSON(document) })
	default:
		return notFound(c)
	}
	return nil
}

func (h *Handler) filterOpenAPIIndex(_ string, document []byte) ([]byte, error) {
	type entry struct {
		ServerRelativeURL string `json:"serverRelativeURL"`
	}
	return filtered(document, func(index *struct {
		Paths map[string]entry `json:"paths"`
	}) {
		d := h.groupsOf(groupsOfPaths(index.Paths)...)
		shown := map[string]entry{}
		for path, entry := range index.Paths {
			name, ok := d.path(path)
			if !ok {
				continue
			}
			entry.ServerRelativeURL, _ = d.path(entry.ServerRelativeURL)
			shown[name] = entry
		}
		index.Paths = shown
	})
}

func groupsOfPaths[T any](paths map[string]T) (groups []string) {
	for path := range paths {
		groups = append(groups, groupOfPath(path))
	}
	return groups
}

// filterOpenAPIJSON removes what the view does not serve, and the models of other views, and names its own groups.
func (h *Handler) filterOpenAPIJSON(document []byte) ([]byte, error) {
	var whole map[string]json.RawMessage
	if err := json.Unmarshal(document, &whole); err != nil {
		return nil, err
	}
	var paths map[string]json.RawMessage
	if err := json.Unmarshal(whole["paths"], &paths); err != nil {
		return nil, err
	}
	d, served := h.groupsOf(groupsOfPaths(paths)...), map[string]json.RawMessage{}
	for path, item := range paths {
		shown, ok := d.path(path)
		if !ok || !h.servesPath(path) {
			continue
		}
		if served[shown] = item; shown != path {
			var err error
			if served[shown], err = d.extensions(item); err != nil {
				return nil, err
			}
		}
	}
	var err error
	if whole["paths"], err = json.Marshal(served); err != nil {
		return nil, err
	}
	if err := d.filterModels(whole, "definitions"); err != nil {
		return nil, err
	}
	var components map[string]json.RawMessage
	if err := json.Unmarshal(whole["components"], &components); err == nil {
		if err := d.filterModels(components, "schemas"); err != nil {
			return nil, err
		}
		if whole["components"], err = json.Marshal(components); err != nil {
			return nil, err
		}
	}
	return json.Marshal(whole)
}

// filterModels removes the models of other views from a member of a document, if that exists.
func (d document) filterModels(of map[string]json.RawMessage, member string) error {
	if !bytes.Contains(of[member], []byte(modelsOf(hnc.ViewGroupsSuffix))) {
		return nil
	}
	var models map[string]json.RawMessage
	if err := json.Unmarshal(of[member], &models); err != nil {
		return err
	}
	for name, model := range models {
		shown, own := d.showsModel(name)
		if !shown {
			delete(models, name)
		}
		if own {
			var err error
			if models[name], err = d.extensions(model); err != nil {
				return err
			}
		}
	}
	var err error
	of[member], err = json.Marshal(models)
	return err
}

func (h *Handler) filterOpenAPIProto(document []byte) ([]byte, error) {
	var whole openapi_v2.Document
	if err := proto.Unmarshal(document, &whole); err != nil {
		return nil, err
	}
	var groups []string
	for _, item := range whole.GetPaths().GetPath() {
		groups = append(groups, groupOfPath(item.GetName()))
	}
	d := h.groupsOf(groups...)
	kept := whole.GetPaths().GetPath()[:0]
	for _, item := range whole.GetPaths().GetPath() {
		// The view's own kinds are in the other forms only.
		if shown, ok := d.path(item.GetName()); ok && shown == item.GetName() && h.servesPath(item.GetName()) {
			kept = append(kept, item)
		}
	}
	whole.Paths.Path = kept
	if models := whole.GetDefinitions(); models != nil {
		models.AdditionalProperties = slices.DeleteFunc(models.AdditionalProperties, func(model *openapi_v2.NamedSchema) bool {
			return strings.HasPrefix(model.GetName(), modelsOf(hnc.ViewGroupsSuffix))
		})
	}
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
	return h.servedVerbs(resource, namespaced, []string{"get"}) != nil
}
