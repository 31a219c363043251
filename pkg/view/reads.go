package view

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/yamlbody"
)

// What an object takes that is decoded, changed and encoded again: so many times the size of its text, and so many bytes
// for each of its values. What takes no more than uncounted is not counted.
const copiesOfRead, sizeOfValue, uncounted = 8, 256, 64 << 10

// reads sends the requests of a call's clients. What its responses take counts until the same request is sent again, or
// they are released.
type reads struct {
	next        http.RoundTripper
	reserve     func(bytes int64) (release func(), err error)
	sizeOfValue int
	// written reports whether a write was sent.
	written bool
	held    map[string][]func()
}

// newReads returns the transport of a call's clients, whose responses count up to MaxPart together.
func newReads(c *call) *reads {
	t := &reads{next: c.up.Transport, sizeOfValue: sizeOfValue, held: map[string][]func(){}}
	if c.kind == mapping.Definition {
		t.sizeOfValue = 0 // Its spec stays text.
	}
	t.reserve = upToMaxPart(c, func(ctx context.Context, bytes int64) (func(), error) {
		if t.written {
			return c.budget.Answer(ctx, bytes)
		}
		return c.budget.Response(ctx, bytes)
	})
	return t
}

// RoundTrip implements http.RoundTripper. It counts the response while it reads it.
func (t *reads) RoundTrip(r *http.Request) (*http.Response, error) {
	request := r.Method + " " + r.URL.Path
	t.releaseOne(request)
	t.written = t.written || r.Method != http.MethodGet
	response, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	text := response.Body
	defer func() { _ = text.Close() }()
	var body bytes.Buffer
	for counted := 0; err == nil; {
		_, err = io.CopyN(&body, text, uncounted)
		size := copiesOfRead * body.Len()
		if errors.Is(err, io.EOF) {
			size += t.sizeOfValue * yamlbody.Values(body.Bytes(), true)
		}
		if size-counted <= uncounted {
			continue
		}
		release, err := t.reserve(int64(size - counted))
		if err != nil {
			return nil, err
		}
		counted, t.held[request] = size, append(t.held[request], release)
	}
	if !errors.Is(err, io.EOF) {
		return nil, err
	}
	response.Body = io.NopCloser(&body)
	return response, nil
}

func (t *reads) releaseOne(request string) {
	for _, release := range t.held[request] {
		release()
	}
	delete(t.held, request)
}

// release releases all responses.
func (t *reads) release() {
	for request := range t.held {
		t.releaseOne(request)
	}
}
