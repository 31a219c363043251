package view

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// counted is a budget that counts what requests have had of it.
type counted struct {
	unlimited
	bodies, responses, documents int64
	release                      func()
}

func (c *counted) Body(_ context.Context, bytes int64) (func(), error) {
	c.bodies += bytes
	return c.release, nil
}

func (c *counted) Response(_ context.Context, bytes int64) (func(), error) {
	c.responses += bytes
	return c.release, nil
}

func (c *counted) Document(context.Context) (func(), error) {
	c.documents++
	return c.release, nil
}

// A document counts while it is changed, and until its client has read it.
func TestDocumentsOfAViewAreCounted(t *testing.T) {
	const document = `{"kind":"APIVersions","versions":["v1"]}`
	h := handler(fixed{}, func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(document)), Header: http.Header{}}, nil
	})
	released := 0
	b := &counted{release: func() { released++ }}
	h.Budget = b
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/api?watch=1", nil))
	if b.documents != 1 || b.responses != int64(len(document)) || released != 2 {
		t.Errorf("%d documents and %d bytes are counted, %d released", b.documents, b.responses, released)
	}
}
