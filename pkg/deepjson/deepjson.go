// Package deepjson reads lists and watch events whose objects have as many levels as decoders accept.
//
// kube-apiserver stores custom resources of up to 10,000 levels, which is the limit of Go's decoders. A list of them
// has two more levels and an event has one, so decoding either as a whole fails: one object would keep all others of
// its kind from being read.
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
)

// Event returns the type and the object of a watch event in JSON.
func Event(line []byte) (eventType string, object json.RawMessage, err error) {
	decoder := json.NewDecoder(bytes.NewReader(line))
	err = Object(decoder, func(key string) error {
		switch key {
		case "type":
			return decoder.Decode(&eventType)
		case "object":
			return decoder.Decode(&object)
		}
		return decoder.Decode(&json.RawMessage{})
	})
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
func ReadList(data []byte) (*List, error) {
	l := &List{}
	decoder := json.NewDecoder(bytes.NewReader(data))
	elements := func(to *[]json.RawMessage) error {
		*to = []json.RawMessage{}
		return Array(decoder, func(raw json.RawMessage) error {
			*to = append(*to, raw)
			return nil
		})
	}
	return l, Object(decoder, func(key string) error {
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
			return elements(&l.Rows)
		case "items":
			return elements(&l.Items)
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

// Object reads an object. For each of its members, it calls a function that decodes the value.
func Object(decoder *json.Decoder, member func(key string) error) error {
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

// Array reads an array or null. For each of its elements, it calls a function with the value.
func Array(decoder *json.Decoder, element func(json.RawMessage) error) error {
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
		if err := element(raw); err != nil {
			return err
		}
	}
	_, err = decoder.Token()
	return err
}
