package view

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/net"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/requestsize"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
)

// translates reports whether a request contains names of namespaces that differ in the view. What passes through the
// subresource proxy is the tenant's own.
func (h *Handler) translates(c *call) bool {
	return h.Mapper.Names().Relative() && !c.kind.Empty() && c.info.Subresource != "proxy"
}

// translate forwards a request whose body, query and response contain names of namespaces. Its path is translated.
func (h *Handler) translate(c *call) error {
	query, _ := url.ParseQuery(c.query) // kube-apiserver leaves out what is malformed, too
	if c.across {
		includeMetadata(query)
	}
	query, err := h.Mapper.Query(c.kind.GroupKind(), query)
	if err != nil {
		return err
	}
	c.query = query.Encode()
	if err := requestsize.CheckURL(&url.URL{RawQuery: c.query}, 0); err != nil {
		return err
	}
	c.r = c.r.Clone(c.r.Context())
	if !c.mapped {
		if err := h.translateBody(c); err != nil {
			return err
		}
	}
	c.readJSON()
	h.proxy(c, func(response *http.Response) error { return h.translateResponse(c, response) })
	return nil
}

// includeMetadata has the rows of a Table contain the metadata of their objects if the client wants none of these:
// without it, it is not known what the rows are about. It reports whether the query has changed.
func includeMetadata(query url.Values) bool {
	none := query.Get("includeObject") == string(metav1.IncludeNone)
	if none {
		query.Set("includeObject", string(metav1.IncludeMetadata))
	}
	return none
}

// readJSON asks for a response that can be changed: in JSON, and whole. What is changed cannot be compressed by
// kube-apiserver.
func (c *call) readJSON() {
	c.r.Header.Set("Accept", jsonAccept(c.r.Header.Values("Accept")))
	c.r.Header.Set("Accept-Encoding", "identity")
	c.r.Header.Del("Range")
}

// translateBody translates the body of a request. Options of deletions name no namespace.
func (h *Handler) translateBody(c *call) error {
	var translated func(contentType string, body []byte) ([]byte, string, error)
	switch c.info.Verb {
	case "create", "update":
		translated = func(contentType string, body []byte) ([]byte, string, error) {
			return h.requestMapper(c).Request(contentType, c.kind, body)
		}
	case "patch":
		translated = func(contentType string, body []byte) ([]byte, string, error) {
			body, err := h.requestMapper(c).Patch(contentType, c.kind, body)
			return body, contentType, err
		}
	default:
		return nil
	}
	body, err := c.readMapped()
	if err != nil {
		return err
	}
	body, contentType, err := translated(c.r.Header.Get("Content-Type"), body)
	if err != nil {
		return err
	}
	c.setBody(body, contentType)
	if c.kind.Group != rbacv1.GroupName {
		return nil
	}
	return c.countDecoded(body) // rbac.Transport decodes it, which may have become larger.
}

// requestMapper returns the Mapper for the body of a request, which counts until the request has ended, as large as it
// gets.
func (h *Handler) requestMapper(c *call) *mapping.Mapper {
	return h.Mapper.Counting(func(bytes int64) (func(), error) {
		return func() {}, c.use(c.budget.Body(c.r.Context(), bytes))
	})
}

// setBody sets the body of the request to kube-apiserver. What was decoded for it is no longer used.
func (c *call) setBody(body []byte, contentType string) {
	c.decoded()
	c.r.Body, c.r.ContentLength, c.mapped = io.NopCloser(bytes.NewReader(body)), int64(len(body)), true
	c.r.Header.Set("Content-Type", contentType)
}

// jsonAccept returns the JSON forms that a client accepts, and plain JSON for its other forms. A client that accepts
// Tables only gets 406 where there are none.
func jsonAccept(accept []string) string {
	var kept []string
	others := false
	for part := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		media, _, err := mime.ParseMediaType(part)
		if err == nil && (media == runtime.ContentTypeJSON || !strings.HasPrefix(media, "application/")) {
			kept = append(kept, strings.TrimSpace(part))
		}
		others = others || media != runtime.ContentTypeJSON
	}
	if others && !slices.Contains(kept, runtime.ContentTypeJSON) {
		kept = append(kept, runtime.ContentTypeJSON)
	}
	return strings.Join(kept, ",")
}

// translateResponse translates a response in JSON, as it streams. After an error in the middle, the connection is
// closed.
func (h *Handler) translateResponse(c *call, response *http.Response) error {
	h.translateWarnings(response.Header)
	media, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if media != runtime.ContentTypeJSON || c.r.Method == http.MethodHead {
		return nil
	}
	body := response.Body
	mapper := h.Mapper.Counting(h.reserve(c))
	if c.across {
		mapper = mapper.Across()
	}
	reader, writer := io.Pipe()
	watch := c.info.Verb == "watch" && response.StatusCode == http.StatusOK
	go func() {
		var err error
		defer func() {
			if cause := recover(); cause != nil {
				err = fmt.Errorf("translating a response: %v", cause)
			}
			_ = body.Close()
			_ = writer.CloseWithError(err)
		}()
		if watch {
			err = mapper.Watch(c.kind, body, writer)
			var status apierrors.APIStatus
			if errors.Is(context.Cause(c.r.Context()), errRenamed) {
				status = errRenamed
			}
			if status != nil || errors.As(err, &status) {
				_, err = writer.Write(endOfWatch(status))
			}
		} else {
			list := response.StatusCode == http.StatusOK && (c.info.Verb == "list" || c.info.Verb == "deletecollection")
			err = mapper.Response(c.kind, list, body, writer)
		}
	}()
	response.Header.Del("Content-Length")
	response.Body, response.ContentLength = &translated{reader, reader, body}, -1
	if watch {
		return nil
	}
	// What fails before anything is written is an error of its own.
	ahead := bufio.NewReader(reader)
	response.Body = &translated{ahead, reader, body}
	if _, err := ahead.Peek(1); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// translateWarnings translates the texts of warnings, in which quotes are escaped. Malformed ones are left out: clients
// ignore them.
func (h *Handler) translateWarnings(header http.Header) {
	warnings, _ := net.ParseWarningHeaders(header["Warning"])
	header.Del("Warning")
	for _, w := range warnings {
		if translated, err := net.NewWarningHeader(w.Code, w.Agent, h.Mapper.Message(w.Text)); err == nil {
			header.Add("Warning", translated)
		}
	}
}

// translated is the body of a translated response. Closing it ends the original one, too.
type translated struct {
	io.Reader
	pipe, original io.Closer
}

// Close implements io.Closer.
func (t *translated) Close() error {
	_ = t.pipe.Close()
	return t.original.Close()
}

// respond writes an object of the cluster as it is in the view.
func (h *Handler) respond(c *call, code int, object any) error {
	body, err := json.Marshal(object)
	if err == nil {
		body, err = h.Mapper.Object(mapping.Out, c.kind, body)
	}
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	writeJSON(c.w, code, json.RawMessage(body))
	return nil
}
