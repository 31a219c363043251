package view

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/rules"
)

// serveOpenAPI serves the OpenAPI documents without the paths that views do not serve. The models of the cluster's
// kinds stay.
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
		c.query = h.projected.query(c.r.URL.Query())
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
			if strings.Contains(entry.ServerRelativeURL, "?hash=") {
				entry.ServerRelativeURL += h.projected.edition
			}
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

// filterOpenAPIJSON removes what the view does not serve, and names its own groups. It decodes no entries but those of
// its own groups.
func (h *Handler) filterOpenAPIJSON(document []byte) ([]byte, error) {
	var groups []string
	err := copyJSON(bytes.NewReader(document), io.Discard, func(member, name string, _ []byte) (string, []byte, error) {
		if member == "paths" {
			groups = append(groups, groupOfPath(name))
		}
		return "", nil, nil
	})
	if err != nil {
		return nil, err
	}
	d := h.groupsOf(groups...)
	var out bytes.Buffer
	err = copyJSON(bytes.NewReader(document), &out, func(member, name string, entry []byte) (string, []byte, error) {
		shown, ok := h.shows(d, member, name)
		switch {
		case !ok:
			return "", nil, nil
		case shown == name:
			return name, entry, nil
		}
		entry, err := d.extensions(entry)
		return shown, entry, err
	})
	return out.Bytes(), err
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
	if resource == namespaces || info.Namespace != "" && !rules.RefusedGroup(info.APIGroup) {
		return true
	}
	namespaced := h.Kinds.namespaced(resource.WithVersion(info.APIVersion))
	return h.servedVerbs(resource, namespaced, []string{"get"}) != nil
}

// kindsExtension names the kinds that an operation or a model of an OpenAPI document is about.
const kindsExtension = "x-kubernetes-group-version-kind"

// extensions translates the groups, the references to models and the identifiers in an entry of an OpenAPI document.
func (d document) extensions(entry json.RawMessage) (json.RawMessage, error) {
	var value any
	if err := json.Unmarshal(entry, &value); err != nil {
		return nil, err
	}
	d.walk(value, false)
	return json.Marshal(value)
}

func (d document) walk(value any, kinds bool) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			d.walk(item, kinds)
		}
	case map[string]any:
		if group, ok := value["group"].(string); kinds && ok {
			if shown, ok := d.isOwn(group); ok {
				value["group"] = shown
			}
			return
		}
		if to, ok := value["$ref"].(string); ok {
			value["$ref"] = d.reference(to)
		}
		if identifier, ok := value["operationId"].(string); ok {
			value["operationId"] = d.operation(identifier)
			tags, _ := value["tags"].([]any)
			for i := range tags {
				if tag, ok := tags[i].(string); ok {
					tags[i] = d.operation(tag)
				}
			}
		}
		for name, member := range value {
			d.walk(member, name == kindsExtension)
		}
	}
}
