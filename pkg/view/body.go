package view

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/rbac"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/typed"
)

// mediaType returns the content type of a request without its parameters.
func mediaType(r *http.Request) string {
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return media
}

// bodyTimeout bounds how long a client may take to send a body that is kept in memory.
const bodyTimeout = time.Minute

// readBody reads the body of a request, which counts until the request has ended.
func (c *call) readBody() ([]byte, error) {
	size := c.r.ContentLength
	if size > mapping.MaxRequest {
		return nil, bodyTooLarge()
	}
	reserved := size
	if size < 0 {
		reserved = mapping.MaxRequest
	}
	if err := c.use(c.budget.Body(c.r.Context(), reserved)); err != nil {
		return nil, err
	}
	control := http.NewResponseController(c.w)
	if err := control.SetReadDeadline(time.Now().Add(bodyTimeout)); err == nil {
		defer func() { _ = control.SetReadDeadline(time.Time{}) }()
	}
	body := bytes.NewBuffer(make([]byte, 0, max(size, 0)+bytes.MinRead))
	if _, err := body.ReadFrom(io.LimitReader(c.r.Body, mapping.MaxRequest+1)); err != nil {
		return nil, apierrors.NewBadRequest("reading the body: " + err.Error())
	}
	if body.Len() > mapping.MaxRequest {
		return nil, bodyTooLarge()
	}
	return body.Bytes(), nil
}

// copiesOfBody is what a body takes that is decoded and encoded again: so many times its size, besides rbac.ValueSize for
// each of its values.
const copiesOfBody = 3

// readDecoded reads a body that is decoded. What this takes counts as well, unless it is little.
func (c *call) readDecoded() ([]byte, error) {
	body, err := c.readBody()
	if err != nil {
		return nil, err
	}
	return body, c.countDecoded(body)
}

// countDecoded counts what it takes to decode a body, until c.decoded is called.
func (c *call) countDecoded(body []byte) error {
	values, err := typed.Values(body)
	size := copiesOfBody*len(body) + rbac.ValueSize*values
	if err != nil || size <= rbac.Uncounted {
		return err
	}
	release, err := c.budget.Response(c.r.Context(), int64(min(size, MaxPart)))
	if err != nil {
		return err
	}
	c.decoded = sync.OnceFunc(release)
	return c.use(c.decoded, nil)
}

// readMapped reads a body that the Mapper translates, which does not decode JSON and protobuf.
func (c *call) readMapped() ([]byte, error) {
	if strings.HasSuffix(mediaType(c.r), "yaml") {
		return c.readDecoded()
	}
	return c.readBody()
}

func bodyTooLarge() error {
	return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", mapping.MaxRequest))
}
