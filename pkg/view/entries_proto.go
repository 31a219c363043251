package view

import (
	"bytes"
	"io"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/wire"
)

// Numbers of the fields of an OpenAPI v2 document with entries, of the name of an entry, and of what names an
// operation.
const (
	documentPaths       protowire.Number = 8
	documentDefinitions protowire.Number = 9
	entryName           protowire.Number = 1
	operationTag        protowire.Number = 1
	operationID         protowire.Number = 5
)

var protoMembers = map[protowire.Number]string{documentPaths: "paths", documentDefinitions: "definitions"}

// The messages in these members.
var protoTypes = map[protowire.Number]protoreflect.MessageDescriptor{
	documentPaths:       (&openapi_v2.NamedPathItem{}).ProtoReflect().Descriptor(),
	documentDefinitions: (&openapi_v2.NamedSchema{}).ProtoReflect().Descriptor(),
}

// readProto reads an OpenAPI v2 document. Each entry gets a member of its own: decoders merge them.
func (d document) readProto(from io.Reader, to *kept) error {
	write := func(number protowire.Number, content []byte) error {
		_, err := to.Write(appendField(nil, number, content))
		return err
	}
	r := wire.NewReader(from)
	r.Hold = to.hold
	for r.More() {
		number, length, err := r.Header()
		if err != nil {
			return err
		}
		member, ok := protoMembers[number]
		if !ok {
			content, err := r.Bytes(length)
			if err != nil {
				return err
			}
			if err := write(number, content); err != nil {
				return err
			}
			continue
		}
		err = r.Each(length, func(field protowire.Number, entry []byte) error {
			name, err := protoName(entry)
			if err != nil {
				return err
			}
			if _, ok := members[member](d, name); !ok {
				return nil
			}
			return write(number, appendField(nil, field, entry))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func appendField(out []byte, number protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(out, number, protowire.BytesType), content)
}

// protoName returns the name of an entry.
func protoName(entry []byte) (name string, err error) {
	err = wire.Each(entry, func(f wire.Field) error {
		if f.Number == entryName && f.Kind == protowire.BytesType {
			name = string(f.Value)
		}
		return nil
	})
	return name, err
}

// filterOpenAPIProto removes what the view does not serve, and names its own groups. It copies all entries but those of
// its own groups as they are.
func (h *Handler) filterOpenAPIProto(document []byte) ([]byte, error) {
	var groups []string
	_, err := eachProto(document, func(member protowire.Number, name string, _ wire.Field) error {
		if member == documentPaths {
			groups = append(groups, groupOfPath(name))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	d, filtered := h.groupsOf(groups...), map[protowire.Number][]byte{}
	out, err := eachProto(document, func(member protowire.Number, name string, entry wire.Field) (err error) {
		shown, ok := h.shows(d, protoMembers[member], name)
		if !ok {
			return nil
		}
		content := entry.Value
		if shown != name {
			if content, err = d.renamed(content, shown, protoTypes[member]); err != nil {
				return err
			}
		}
		filtered[member] = appendField(filtered[member], entry.Number, content)
		return nil
	})
	if err != nil {
		return nil, err
	}
	out = appendField(out, documentPaths, filtered[documentPaths])
	return appendField(out, documentDefinitions, filtered[documentDefinitions]), nil
}

// eachProto calls f with each entry of a document. It returns the document without them.
func eachProto(document []byte, f func(member protowire.Number, name string, entry wire.Field) error) (others []byte, err error) {
	err = wire.Each(document, func(field wire.Field) error {
		if protoMembers[field.Number] == "" {
			others = append(others, field.Raw...)
			return nil
		}
		return wire.Each(field.Value, func(entry wire.Field) error {
			name, err := protoName(entry.Value)
			if err != nil {
				return err
			}
			return f(field.Number, name, entry)
		})
	})
	return others, err
}

// renamed returns an entry with another name, and with the names that groups and models have in the view.
func (d document) renamed(entry []byte, name string, of protoreflect.MessageDescriptor) ([]byte, error) {
	out := protowire.AppendString(protowire.AppendTag(nil, entryName, protowire.BytesType), name)
	err := wire.Each(entry, func(f wire.Field) (err error) {
		if f.Number != entryName {
			out, err = d.field(out, f, of, false)
		}
		return err
	})
	return out, err
}

// field appends a field of a message. Kinds is set for what is below kindsExtension. What does not contain the suffix
// is copied as it is.
func (d document) field(out []byte, f wire.Field, of protoreflect.MessageDescriptor, kinds bool) ([]byte, error) {
	field := of.Fields().ByNumber(f.Number)
	if of.Name() == "Operation" && (f.Number == operationTag || f.Number == operationID) {
		return appendField(out, f.Number, []byte(d.operation(string(f.Value)))), nil
	}
	if field == nil || !bytes.Contains(f.Value, []byte(d.suffix)) && !bytes.Contains(f.Value, []byte(d.models)) {
		return append(out, f.Raw...), nil
	}
	content := f.Value
	switch {
	case field.Name() == "_ref":
		content = []byte(d.reference(string(content)))
	case field.Name() == "yaml" && kinds:
		content = bytes.ReplaceAll(content, []byte("."+d.suffix), nil)
	case field.Message() != nil:
		if field.Message().Name() == "NamedAny" {
			name, err := protoName(content)
			if err != nil {
				return nil, err
			}
			kinds = name == kindsExtension
		}
		content = nil
		err := wire.Each(f.Value, func(inner wire.Field) (err error) {
			content, err = d.field(content, inner, field.Message(), kinds)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return appendField(out, f.Number, content), nil
}
