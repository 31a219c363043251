package view

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/rbac"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/yamlbody"
)

// copiesOfRead is what an object takes that is decoded, changed and encoded again: so many times the size of its text,
// besides rbac.ValueSize for each of its values.
const copiesOfRead = 8

// reads sends the requests of a call's clients. What its responses take counts until they are released. An object that
// is read again counts as its largest response, because what was read before may still be in use.
type reads struct {
	next        http.RoundTripper
	reserve     counting
	sizeOfValue int
	// written reports whether the call has written something. Then sent is called.
	written bool
	sent    func()
	counted map[string]int // by path
	held    []func()
}

// newReads returns the transport of a call's clients, whose responses count up to MaxPart together.
func newReads(c *call) *reads {
	t := &reads{next: c.up.Transport, sizeOfValue: rbac.ValueSize, sent: func() { c.decoded() }, counted: map[string]int{}}
	if c.kind == mapping.Definition {
		t.sizeOfValue = 0 // Its spec stays text.
	}
	t.reserve = counting(func(ctx context.Context, bytes int64) (func(), error) {
		if t.written {
			return c.budget.Answer(ctx, bytes)
		}
		return c.budget.Response(ctx, bytes)
	}).upToMaxPart()
	return t
}

// RoundTrip implements http.RoundTripper. It counts the response while it reads it.
func (t *reads) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if writes(r) && response.StatusCode < http.StatusMultipleChoices {
		t.written = true
		t.sent()
	}
	text := response.Body
	defer func() { _ = text.Close() }()
	var body bytes.Buffer
	for err == nil {
		_, err = io.CopyN(&body, text, rbac.Uncounted)
		size := copiesOfRead * body.Len()
		if errors.Is(err, io.EOF) {
			size += t.sizeOfValue * yamlbody.Values(body.Bytes(), true)
		}
		more := size - t.counted[r.URL.Path]
		if more <= rbac.Uncounted {
			continue
		}
		release, err := t.reserve(r.Context(), int64(more))
		if err != nil {
			return nil, err
		}
		t.counted[r.URL.Path], t.held = size, append(t.held, release)
	}
	if !errors.Is(err, io.EOF) {
		return nil, err
	}
	response.Body = io.NopCloser(&body)
	return response, nil
}

// writes reports whether a request writes something, which dry runs and reviews do not. Deletions have dryRun in their
// body, and responses that are no larger than what was read before.
func writes(r *http.Request) bool {
	return r.Method != http.MethodGet && !r.URL.Query().Has("dryRun") && !strings.Contains(r.URL.Path, "/"+authorizationv1.GroupName+"/")
}

// release releases all responses.
func (t *reads) release() {
	for _, release := range t.held {
		release()
	}
	t.held = nil
	clear(t.counted)
}
