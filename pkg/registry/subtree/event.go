package subtree

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"k8s.io/klog/v2"
	kjson "sigs.k8s.io/json"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/deepjson"
)

// rawEvent is an event as kube-apiserver sent it, with the decoded metadata. It is shared by many watches.
type rawEvent struct {
	Type   string
	Object json.RawMessage

	// line is the encoded event, including the newline.
	line []byte
	// columns are the columns of the table. kube-apiserver sends them only with the first event of a watch.
	columns json.RawMessage
	meta    eventMeta
}

// rawEventOverhead is the approximate size of a rawEvent without its line, in bytes.
const rawEventOverhead = 256

func (f rawEvent) size() int64 { return int64(len(f.line)) + rawEventOverhead }

// eventMeta is the namespace and the revision of an object. A Namespace counts as an object in itself.
type eventMeta struct {
	Name            string `json:"name"`
	Namespace       string `json:"namespace"`
	ResourceVersion string `json:"resourceVersion"`
}

const (
	// largeEvent is the size of events of which few are read and decoded at a time, because nothing counts them until
	// they are buffered, and decoding takes several times their memory.
	largeEvent = 64 << 10
	// largeEventTimeout is how long one may take. Its watch begins again then.
	largeEventTimeout = 30 * time.Second
)

// decode yields the events of a watch until it ends or yield returns false. It closes body. All watches of the kind
// share the events, so one that cannot be decoded is dropped: it is about an object in a namespace that is not known.
func (w *sharedWatch) decode(body io.ReadCloser, yield func(rawEvent) bool) {
	defer func() { _ = body.Close() }()
	events := eventReader{bufio.NewReader(body), body, func() (func(), error) { return w.mux.largeEvents.acquire(w.ctx, w.reader.memory) }}
	for more := true; more && w.waitForReader(); {
		if err := events.read(func(line []byte) {
			if f, err := w.reader.event(line); err != nil {
				klog.FromContext(w.ctx).Error(err, "Dropping a watch event that cannot be decoded", "resource", w.reader.kind.GroupResource())
			} else {
				more = yield(f)
			}
		}); err != nil {
			return // a new watch resumes after any error
		}
	}
}

// eventReader reads the events of a watch.
type eventReader struct {
	*bufio.Reader
	body io.Closer
	// acquire waits for a slot for a large event.
	acquire func() (release func(), err error)
}

// read calls use with the next event, including the newline. It waits for a slot before it reads more than largeEvent,
// and holds that until use returns.
func (r eventReader) read(use func(line []byte)) error {
	var line []byte
	err := bufio.ErrBufferFull
	for errors.Is(err, bufio.ErrBufferFull) && len(line) <= largeEvent {
		var part []byte
		part, err = r.ReadSlice('\n')
		line = append(line, part...)
	}
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		release, err := r.acquire()
		if err != nil {
			return err
		}
		defer release()
		// An aggregated API server that stops in the middle keeps no slot.
		defer time.AfterFunc(largeEventTimeout, func() { _ = r.body.Close() }).Stop()
		rest, err := r.ReadBytes('\n')
		if err != nil {
			return err
		}
		line = slices.Concat(line, rest)
	case err != nil:
		return err
	}
	if len(bytes.TrimSpace(line)) > 0 {
		use(line)
	}
	return nil
}

// event decodes an event.
func (r reader) event(line []byte) (f rawEvent, err error) {
	if f.Type, f.Object, err = deepjson.Event(line); err != nil {
		return f, err
	}
	if f.meta, err = eventMetaOf(f.Object, r.output.table != ""); err != nil {
		return f, err
	}
	if r.kind.isNamespaces() {
		f.meta.Namespace = f.meta.Name
	}
	prefix := fmt.Sprintf(`{"type":%q,"object":`, f.Type)
	// kube-apiserver encodes events like this; a copy of large ones would take memory.
	if f.line = line; len(line) != len(prefix)+len(f.Object)+2 || !bytes.HasPrefix(line, []byte(prefix)) {
		f.line = append(append(append(make([]byte, 0, len(prefix)+len(f.Object)+2), prefix...), f.Object...), '}', '\n')
	}
	f.Object = f.line[len(prefix) : len(prefix)+len(f.Object)]
	return f, nil
}

// eventMetaOf reads the metadata of an object. In a table it is that of the first row's object. Any other object may
// have rows of its own, and keys that differ from "metadata" in case only.
func eventMetaOf(raw json.RawMessage, table bool) (eventMeta, error) {
	type object struct {
		Metadata eventMeta `json:"metadata"`
	}
	if !table {
		var o object
		err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &o)
		return o.Metadata, err
	}
	var t struct {
		object
		Rows []struct {
			Object object `json:"object"`
		} `json:"rows"`
	}
	err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &t)
	if len(t.Rows) > 0 {
		return t.Rows[0].Object.Metadata, err
	}
	return t.Metadata, err
}
