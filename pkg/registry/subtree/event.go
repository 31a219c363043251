package subtree

import (
	"encoding/json"
	"fmt"
	"io"
)

// rawEvent is an event as kube-apiserver sent it, with the decoded metadata. It is shared by many watches.
type rawEvent struct {
	Type   string          `json:"type"`
	Object json.RawMessage `json:"object"`

	// line is the encoded event, including the newline.
	line []byte
	// columns are the columns of the table. kube-apiserver sends them only with the first event of a watch.
	columns json.RawMessage
	meta    eventMeta
	err     error
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

// decode yields the events of a watch of a kind until it ends or yield returns false. It closes body.
func decode(body io.ReadCloser, k kind, yield func(rawEvent) bool) {
	defer func() { _ = body.Close() }()
	for decoder := json.NewDecoder(body); ; {
		var f rawEvent
		if decoder.Decode(&f) != nil {
			return // a new watch resumes after any error
		}
		f.meta, f.err = eventMetaOf(f.Object)
		if k.isNamespaces() {
			f.meta.Namespace = f.meta.Name
		}
		prefix := fmt.Sprintf(`{"type":%q,"object":`, f.Type)
		f.line = append(append(append(make([]byte, 0, len(prefix)+len(f.Object)+2), prefix...), f.Object...), '}', '\n')
		f.Object = f.line[len(prefix) : len(prefix)+len(f.Object)]
		if !yield(f) {
			return
		}
	}
}

// eventMetaOf reads the metadata of an object. In a table it is that of the first row's object.
func eventMetaOf(object json.RawMessage) (eventMeta, error) {
	var o struct {
		Metadata eventMeta `json:"metadata"`
		Rows     []struct {
			Object struct {
				Metadata eventMeta `json:"metadata"`
			} `json:"object"`
		} `json:"rows"`
	}
	if err := json.Unmarshal(object, &o); err != nil {
		return eventMeta{}, err
	}
	if len(o.Rows) > 0 {
		return o.Rows[0].Object.Metadata, nil
	}
	return o.Metadata, nil
}
