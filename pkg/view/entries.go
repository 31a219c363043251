package view

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// maxDocument bounds the size of discovery and OpenAPI documents without what is left out, in bytes.
const maxDocument = 32 << 20

// members are the members of documents that have named entries: paths, models and groups. Their functions return the
// name of an entry in the view; ok is false if the view does not show it.
var members = map[string]func(d document, name string) (shown string, ok bool){
	"paths": document.path, "definitions": document.model, "schemas": document.model, "groups": document.name, "items": document.name,
}

// read copies a document of kube-apiserver without the entries of other views. These can be large and many: they are
// left out by their names, one by one, and never decoded.
func (d document) read(contentType string, from io.Reader, to *kept) error {
	if strings.Contains(contentType, "protobuf") {
		return d.readProto(from, to)
	}
	return copyBounded(from, to, to.hold, func(member, name string, entry []byte) (string, []byte, error) {
		if _, ok := members[member](d, name); !ok {
			return "", nil, nil
		}
		return name, entry, nil
	})
}

// shows returns the name in the view of an entry of an OpenAPI document; ok is false if the view does not show it.
func (h *Handler) shows(d document, member, name string) (shown string, ok bool) {
	shown, ok = members[member](d, name)
	return shown, ok && (member != "paths" || h.servesPath(name))
}

// kept is what is kept of a document in memory. Grow counts its bytes, with those of the largest entry, which is in
// memory before it is known whether it is kept.
type kept struct {
	document bytes.Buffer
	entry    int
	grow     func(bytes int64) error
}

// hold counts an entry of which so many bytes are in memory.
func (k *kept) hold(entry int) error {
	if entry <= k.entry {
		return nil
	}
	if entry > maxDocument {
		return fmt.Errorf("an entry has more than %d bytes", maxDocument)
	}
	if err := k.grow(int64(k.document.Len() + entry)); err != nil {
		return err
	}
	k.entry = entry
	return nil
}

// Write implements io.Writer.
func (k *kept) Write(part []byte) (int, error) {
	size := k.document.Len() + len(part)
	if size > maxDocument {
		return 0, fmt.Errorf("it has more than %d bytes", maxDocument)
	}
	if err := k.grow(int64(size + k.entry)); err != nil {
		return 0, err
	}
	return k.document.Write(part)
}
