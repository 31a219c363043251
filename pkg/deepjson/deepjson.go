// Package deepjson reads objects that have as many levels as kube-apiserver stores, and lists and watch events of them.
//
// kube-apiserver stores custom resources of up to 10,000 levels, which is the limit of Go's decoders. A list of them
// has two more levels and an event has one, so decoding either as a whole fails: one object would keep all others of
// its kind from being read.
//
// The managed fields of built-in objects, and of templates in them, may have 10,000 levels of their own: in protobuf, they are
// a text that is decoded separately. Where they prevent decoding, they are left out.
package deepjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "sigs.k8s.io/json"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
)

// Unmarshal decodes an object, without its managed fields if they are too deep.
func Unmarshal(data []byte, into any) error {
	return decode(data, func(data []byte) error { return json.Unmarshal(data, into) }, "")
}

// managed are the paths of managed fields in built-in objects, where "*" is any element of an array.
var managed = []string{
	"metadata.managedFields", "spec.metadata.managedFields", "template.metadata.managedFields", "spec.template.metadata.managedFields",
	"spec.volumeClaimTemplates.*.metadata.managedFields",
	"spec.jobTemplate.metadata.managedFields", "spec.jobTemplate.spec.template.metadata.managedFields",
}

// decode calls f with a text. If that is too deep, f is called again, with a text from which the managed fields of objects are
// cut out whose paths have these prefixes. In them, "rows" are those of a table: other objects may have a field of this name.
func decode(text []byte, f func([]byte) error, prefixes ...string) error {
	err := f(text)
	if err == nil || !strings.Contains(err.Error(), "exceeded max depth") {
		return err
	}
	var paths [][]string
	for _, prefix := range prefixes {
		for _, path := range managed {
			paths = append(paths, strings.Split(prefix+path, "."))
		}
	}
	text, malformed := cut(make([]byte, 0, len(text)), text, paths)
	if malformed != nil {
		return err
	}
	return f(text)
}

// cut appends a value of any depth to out, without what is at the paths.
func cut(out, raw []byte, paths [][]string) ([]byte, error) {
	within := func(out []byte, name string, value []byte) ([]byte, bool, error) {
		var inner [][]string
		for _, path := range paths {
			switch {
			case path[0] != name, name == "rows" && mapping.TextOf(raw, "kind") != "Table":
			case len(path) == 1:
				return out, false, nil
			default:
				inner = append(inner, path[1:])
			}
		}
		if inner == nil {
			return append(out, value...), true, nil
		}
		out, err := cut(out, value, inner)
		return out, true, err
	}
	if paths[0][0] == "*" {
		return mapping.RewriteList(out, raw, func(out []byte, _ int, element []byte) ([]byte, bool, error) { return within(out, "*", element) })
	}
	return mapping.RewriteObject(out, raw, within)
}

// Event returns the type and the object of a watch event in JSON.
func Event(line []byte) (eventType string, object json.RawMessage, err error) {
	err = decode(line, func(line []byte) error {
		decoder := json.NewDecoder(bytes.NewReader(line))
		return members(decoder, func(key string) error {
			switch key {
			case "type":
				return decoder.Decode(&eventType)
			case "object":
				return decoder.Decode(&object)
			}
			return decoder.Decode(&json.RawMessage{})
		})
	}, "object.", "object.rows.*.object.")
	return eventType, object, err
}

// List is a list or a table whose items or rows are not decoded. A member that is there is not nil.
type List struct {
	Kind              string
	APIVersion        string
	Metadata          metav1.ListMeta
	ColumnDefinitions json.RawMessage
	Rows              []json.RawMessage
	Items             []json.RawMessage
}

// ReadList decodes a list.
func ReadList(data []byte) (l *List, err error) {
	err = decode(data, func(data []byte) error {
		l = &List{}
		err := l.read(json.NewDecoder(bytes.NewReader(data)))
		if err != nil {
			l = nil // It takes as much memory as the text.
		}
		return err
	}, "items.*.", "rows.*.object.")
	return l, err
}

func (l *List) read(decoder *json.Decoder) error {
	return members(decoder, func(key string) error {
		switch key {
		case "kind":
			return decoder.Decode(&l.Kind)
		case "apiVersion":
			return decoder.Decode(&l.APIVersion)
		case "metadata":
			return decoder.Decode(&l.Metadata)
		case "columnDefinitions":
			return decoder.Decode(&l.ColumnDefinitions)
		case "rows":
			return elements(decoder, &l.Rows)
		case "items":
			return elements(decoder, &l.Items)
		}
		return decoder.Decode(&json.RawMessage{})
	})
}

// Item decodes an item of the list. Servers of typed objects leave out its kind.
func (l *List) Item(raw json.RawMessage) (unstructured.Unstructured, error) {
	var item unstructured.Unstructured
	err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &item.Object)
	if err == nil && item.GetKind() == "" {
		item.SetAPIVersion(l.APIVersion)
		item.SetKind(strings.TrimSuffix(l.Kind, "List"))
	}
	return item, err
}

// members reads an object. For each of its members, it calls a function that decodes the value.
func members(decoder *json.Decoder, member func(key string) error) error {
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return errors.Join(err, fmt.Errorf("got %v, want an object", token))
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return err
		}
		if err := member(key.(string)); err != nil {
			return err
		}
	}
	_, err := decoder.Token()
	return err
}

// elements reads an array or null.
func elements(decoder *json.Decoder, to *[]json.RawMessage) error {
	*to = []json.RawMessage{}
	token, err := decoder.Token()
	if err != nil || token == nil {
		return err
	}
	if token != json.Delim('[') {
		return fmt.Errorf("got %v, want an array", token)
	}
	for decoder.More() {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			return err
		}
		*to = append(*to, raw)
	}
	_, err = decoder.Token()
	return err
}
