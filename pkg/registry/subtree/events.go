package subtree

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
)

// errEnded says that the watch has ended with an event that says why.
var errEnded = errors.New("the watch has ended")

// frame is an event as kube-apiserver sends it, and what is read of it. Many watches share it.
type frame struct {
	Type   string          `json:"type"`
	Object json.RawMessage `json:"object"`

	// line is the event as it is sent, with the end of the line.
	line []byte
	// columns are those of the table, which only the first event of a watch of kube-apiserver names.
	columns json.RawMessage
	id      where
	err     error
}

// frameSize is about what a frame takes besides its line.
const frameSize = 256

func (f frame) size() int64 { return int64(len(f.line)) + frameSize }

// where says whose an object is, and of which revision.
type where struct {
	Namespace       string `json:"namespace"`
	ResourceVersion string `json:"resourceVersion"`
}

// decode yields the events of a watch as they come, until its end or yield returns false. It closes body.
func decode(body io.ReadCloser, yield func(frame) bool) {
	defer func() { _ = body.Close() }()
	for decoder := json.NewDecoder(body); ; {
		var f frame
		if decoder.Decode(&f) != nil {
			return // the end, however it came: a new watch goes on
		}
		f.id, f.err = locate(f.Object)
		prefix := fmt.Sprintf(`{"type":%q,"object":`, f.Type)
		f.line = append(append(append(make([]byte, 0, len(prefix)+len(f.Object)+2), prefix...), f.Object...), '}', '\n')
		f.Object = f.line[len(prefix) : len(prefix)+len(f.Object)]
		if !yield(f) {
			return
		}
	}
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
	// written is whether something is to be flushed, err why the caller can't be reached.
	written bool
	err     error
}

func newEvents(w http.ResponseWriter, q *request) *events { return &events{w: w, q: q} }

func (e *events) begin() {
	if !e.begun {
		e.begun = true
		e.w.Header().Set("Content-Type", "application/json")
		e.w.WriteHeader(http.StatusOK)
	}
}

// writeTimeout is how long a caller may take to read what is sent before the watch ends.
const writeTimeout = 30 * time.Second

// flush sends what was written, and at first that there is an answer.
func (e *events) flush() {
	if !e.begun {
		e.begin()
		e.written = true
	}
	if !e.written {
		return
	}
	e.written = false
	flush(e.w)
	// A deadline also ends a watch that has nothing to send.
	_ = http.NewResponseController(e.w).SetWriteDeadline(time.Time{})
}

// send writes a line.
func (e *events) send(line []byte) {
	e.begin()
	if !e.written {
		// Where this is not supported, a watch that nobody reads lasts until the connection breaks.
		_ = http.NewResponseController(e.w).SetWriteDeadline(time.Now().Add(writeTimeout))
		e.written = true
	}
	if _, err := e.w.Write(line); err != nil && e.err == nil {
		e.err = err
	}
}

func (e *events) write(eventType string, object any) {
	raw, err := json.Marshal(struct {
		Type   string `json:"type"`
		Object any    `json:"object"`
	}{eventType, object})
	if err == nil {
		e.send(append(raw, '\n'))
	}
}

// raw passes an event on as it is.
func (e *events) raw(f frame) { e.send(f.line) }

// pass tells of an object as kube-apiserver does.
func (e *events) pass(f frame) {
	if e.q.reader.form.table == "" {
		e.send(f.line)
		return
	}
	e.object(f.Type, f.Object)
}

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
