package subtree

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
)

// errEnded says that the watch has ended with an event that says why.
var errEnded = errors.New("the watch has ended")

// frame is an event as kube-apiserver sends it, and what is read of it.
type frame struct {
	Type   string          `json:"type"`
	Object json.RawMessage `json:"object"`

	id  where
	err error
}

// where says whose an object is, and of which revision.
type where struct {
	Namespace       string `json:"namespace"`
	ResourceVersion string `json:"resourceVersion"`
}

// read returns the events of a watch as they come; the channel is closed at its end. It closes body.
func read(ctx context.Context, body io.ReadCloser) <-chan frame {
	frames := make(chan frame, 100)
	go func() {
		defer close(frames)
		defer func() { _ = body.Close() }()
		for decoder := json.NewDecoder(body); ; {
			var f frame
			if decoder.Decode(&f) != nil {
				return // the end, however it came: the caller goes on with a new watch
			}
			f.id, f.err = locate(f.Object)
			select {
			case frames <- f:
			case <-ctx.Done():
				return
			}
		}
	}()
	return frames
}

// locate reads where an object is, which in a table is said by the object of its row.
func locate(object json.RawMessage) (where, error) {
	var o struct {
		Metadata where `json:"metadata"`
		Rows     []struct {
			Object struct {
				Metadata where `json:"metadata"`
			} `json:"object"`
		} `json:"rows"`
	}
	if err := json.Unmarshal(object, &o); err != nil {
		return where{}, err
	}
	if len(o.Rows) > 0 {
		return o.Rows[0].Object.Metadata, nil
	}
	return o.Metadata, nil
}

// events writes events to the caller.
type events struct {
	w http.ResponseWriter
	q *request
	// begun is whether the answer has begun, headed whether a table has named its columns.
	begun, headed bool
	columns       json.RawMessage
}

func newEvents(w http.ResponseWriter, q *request) *events { return &events{w: w, q: q} }

func (e *events) begin() {
	if !e.begun {
		e.begun = true
		e.w.Header().Set("Content-Type", "application/json")
		e.w.WriteHeader(http.StatusOK)
	}
}

// flush sends what was written, and at first that there is an answer.
func (e *events) flush() {
	e.begin()
	flush(e.w)
}

func (e *events) write(eventType string, object any) {
	e.begin()
	raw, err := json.Marshal(struct {
		Type   string `json:"type"`
		Object any    `json:"object"`
	}{eventType, object})
	if err == nil {
		_, _ = e.w.Write(append(raw, '\n')) // the request's context tells when the caller has gone
	}
}

// raw passes an event on as it is.
func (e *events) raw(f frame) { e.write(f.Type, f.Object) }

// fail ends the watch with an error.
func (e *events) fail(err error) {
	if errors.Is(err, errEnded) {
		return
	}
	status := responsewriters.ErrorToAPIStatus(err)
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	e.write(string(watch.Error), status)
	e.flush()
}

// object tells of an object. Of tables the first names the columns.
func (e *events) object(eventType string, object json.RawMessage) {
	if e.q.reader.form.table == "" {
		e.write(eventType, object)
		return
	}
	var table page
	if err := json.Unmarshal(object, &table); err != nil {
		return
	}
	e.write(eventType, e.headers(table))
}
