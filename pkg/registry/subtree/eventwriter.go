package subtree

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
)

// errWatchEnded reports that the watch has already sent an error event.
var errWatchEnded = errors.New("the watch has ended")

// eventWriter writes watch events to the caller.
type eventWriter struct {
	w       http.ResponseWriter
	request *request
	// started is whether the response has started, columnsSent whether a table with columns was sent.
	started, columnsSent bool
	columns              json.RawMessage
	// dirty is whether there is something to flush. err is why the watch ends: the first write error, or errWatchEnded
	// after an event that could not be sent. Nothing is written after it.
	dirty bool
	err   error

	// deadline guards the write deadline, and aborted and closed, which say that it remains.
	deadline        sync.Mutex
	aborted, closed bool
}

func newEventWriter(w http.ResponseWriter, q *request) *eventWriter {
	return &eventWriter{w: w, request: q}
}

func (e *eventWriter) start() {
	if !e.started {
		e.started = true
		e.w.Header().Set("Content-Type", "application/json")
		e.w.WriteHeader(http.StatusOK)
	}
}

// writeTimeout bounds how long a caller may take to read an event before the watch ends.
const writeTimeout = 30 * time.Second

// flush sends the written events. The first call sends the response headers.
func (e *eventWriter) flush() {
	if !e.started {
		e.start()
		e.dirty = true
	}
	if !e.dirty {
		return
	}
	e.dirty = false
	flush(e.w)
	// The deadline would also end a watch that has nothing to send.
	e.setDeadline(time.Time{})
}

// setDeadline sets the write deadline unless the response is aborted. Without support for deadlines, a watch that
// nobody reads lasts until the connection breaks.
func (e *eventWriter) setDeadline(at time.Time) {
	e.deadline.Lock()
	defer e.deadline.Unlock()
	if !e.aborted {
		_ = http.NewResponseController(e.w).SetWriteDeadline(at)
	}
}

// abort makes the present write and all later ones fail. It may be called at any time.
func (e *eventWriter) abort() {
	e.deadline.Lock()
	defer e.deadline.Unlock()
	if !e.closed {
		e.aborted = true
		_ = http.NewResponseController(e.w).SetWriteDeadline(time.Now().Add(-time.Second))
	}
}

// close is called at the end of the request, after which the response must not be used.
func (e *eventWriter) close() {
	e.deadline.Lock()
	defer e.deadline.Unlock()
	e.closed = true
}

// writeLine writes an encoded event.
func (e *eventWriter) writeLine(line []byte) {
	if e.err != nil {
		return
	}
	e.start()
	if !e.dirty {
		e.setDeadline(time.Now().Add(writeTimeout))
		e.dirty = true
	}
	_, e.err = e.w.Write(line)
}

func (e *eventWriter) writeEvent(eventType string, object any) {
	raw, err := json.Marshal(struct {
		Type   string `json:"type"`
		Object any    `json:"object"`
	}{eventType, object})
	if err != nil {
		e.lose(err)
		return
	}
	e.writeLine(append(raw, '\n'))
}

// lose ends the watch because an event cannot be sent. The error makes the caller list again, as if its revision were
// too old: a later position would tell it that it has missed nothing.
func (e *eventWriter) lose(err error) {
	if e.err == nil {
		e.writeError(apierrors.NewResourceExpired(fmt.Sprintf("an event cannot be sent: %v; list again", err)))
		e.err = errWatchEnded
	}
}

// writeRaw writes an event unchanged.
func (e *eventWriter) writeRaw(event rawEvent) { e.writeLine(event.line) }

// forward writes an event of kube-apiserver in the caller's output type. A table is encoded for each caller, so it
// counts like the objects of a list until it is written.
func (e *eventWriter) forward(event rawEvent) {
	reader := e.request.reader
	if reader.output.table == "" {
		e.writeLine(event.line)
		return
	}
	if err := reader.memory.take(event.size()); apierrors.IsTooManyRequests(err) {
		if e.err == nil {
			e.err = errWatchEnded // Nothing is lost: the caller goes on from its last event.
		}
		return
	} else if err != nil {
		e.lose(err)
		return
	}
	defer reader.memory.giveBack(0)
	e.writeObject(event.Type, event.Object)
}

// writeError ends the watch with an error event.
func (e *eventWriter) writeError(err error) {
	if errors.Is(err, errWatchEnded) {
		return
	}
	status := responsewriters.ErrorToAPIStatus(err)
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	e.writeEvent(string(watch.Error), status)
	e.flush()
}

// writeObject writes an object. The first table names the columns.
func (e *eventWriter) writeObject(eventType string, object json.RawMessage) {
	if e.request.reader.output.table == "" {
		e.writeEvent(eventType, object)
		return
	}
	var table page
	if err := json.Unmarshal(object, &table); err != nil {
		e.lose(err)
		return
	}
	e.writeTable(eventType, table)
}
