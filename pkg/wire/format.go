package wire

import (
	"reflect"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Format locates the fields of a kind's messages that matter.
type Format struct {
	// status is the number of the field that copies leave out, kind that of the type of a Secret, roleRef that of a
	// RoleBinding's; 0 if there is none.
	status, kind, roleRef protowire.Number
	// head begins each object in an envelope: everything but its message.
	head []byte
}

// Formats are those of all kinds in a scheme. They are safe for concurrent use.
type Formats struct {
	scheme *runtime.Scheme
	known  sync.Map
}

// NewFormats returns the formats of a scheme's kinds.
func NewFormats(scheme *runtime.Scheme) *Formats { return &Formats{scheme: scheme} }

// Of returns the format of a kind, nil if it has none in protobuf.
func (f *Formats) Of(kind schema.GroupVersionKind) *Format {
	if known, ok := f.known.Load(kind); ok {
		return known.(*Format)
	}
	format := f.find(kind)
	f.known.Store(kind, format)
	return format
}

func (f *Formats) find(kind schema.GroupVersionKind) *Format {
	object, err := f.scheme.New(kind)
	if err != nil {
		return nil
	}
	if _, ok := object.(interface{ Unmarshal([]byte) error }); !ok {
		return nil
	}
	t := reflect.TypeOf(object).Elem()
	if number(t, "ObjectMeta") != metadata {
		return nil
	}
	var head []byte
	head = appendString(head, 1, kind.GroupVersion().String())
	head = appendString(head, 2, kind.Kind)
	head = protowire.AppendBytes(protowire.AppendTag([]byte(prefix), envelopeType, protowire.BytesType), head)
	return &Format{status: number(t, "Status"), kind: number(t, "Type"), roleRef: number(t, "RoleRef"), head: head}
}

// number returns the number of a field of a type, 0 if it has none.
func number(t reflect.Type, name string) protowire.Number {
	f, ok := t.FieldByName(name)
	if !ok {
		return 0
	}
	// "bytes,3,opt,name=status"
	words := strings.Split(f.Tag.Get("protobuf"), ",")
	if len(words) < 2 || words[0] != "bytes" {
		return 0
	}
	n, err := strconv.ParseInt(words[1], 10, 32)
	if err != nil {
		return 0
	}
	return protowire.Number(n)
}

// Body returns an object as the body of a request: the metadata, of which empty fields are left out, and the rest of
// the object.
func (f *Format) Body(meta, rest []byte, id types.UID, version string) []byte {
	size := len(meta)
	if id != "" {
		size += sizeOf(uid, len(id))
	}
	if version != "" {
		size += sizeOf(resourceVersion, len(version))
	}
	message := sizeOf(metadata, size) + len(rest)
	body := make([]byte, 0, len(f.head)+sizeOf(envelopeRaw, message))
	body = append(body, f.head...)
	body = protowire.AppendVarint(protowire.AppendTag(body, envelopeRaw, protowire.BytesType), uint64(message)) //nolint:gosec // a size
	body = protowire.AppendVarint(protowire.AppendTag(body, metadata, protowire.BytesType), uint64(size))
	body = append(body, meta...)
	if id != "" {
		body = appendString(body, uid, string(id))
	}
	if version != "" {
		body = appendString(body, resourceVersion, version)
	}
	return append(body, rest...)
}
