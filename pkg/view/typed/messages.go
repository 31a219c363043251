package typed

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/wire"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/yamlbody"
)

// maxMessageDepth bounds how deep messages are nested: decoding them is recursive, and some levels of a schema are encoded
// once more in each level above. A ViewDefinition may have 64 schemas within each other, of two messages each.
const maxMessageDepth = 150

// CheckMessage returns an error if a message of a Go type has too many fields, or messages nested too deep. A message of
// two bytes may need hundreds of them when it is decoded.
func CheckMessage(message []byte, of reflect.Type) error {
	var m messages
	return m.check(message, of, 0)
}

// messages counts the fields of messages.
type messages int

// check returns an error if a message of a Go type, or of the values of a map, has too many fields or is nested too
// deep.
func (m *messages) check(message []byte, of reflect.Type, depth int) error {
	if depth > maxMessageDepth {
		return fmt.Errorf("messages are nested in more than %d others", maxMessageDepth)
	}
	return wire.Each(message, func(f wire.Field) error {
		if *m++; *m > yamlbody.MaxValues {
			return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("an object in protobuf may have at most %d fields; send JSON", yamlbody.MaxValues))
		}
		if inner := messageAt(of, f.Number); inner != nil {
			return m.check(f.Value, inner, depth+1)
		}
		return nil
	})
}

// messageFields has the types of messages in the fields of structures, by number. A body has thousands of fields.
var messageFields sync.Map

// messageAt returns the type of the messages in a field, nil if it has none.
func messageAt(of reflect.Type, number protowire.Number) reflect.Type {
	if of.Kind() == reflect.Map { // An entry has the key in field 1, and the value in field 2.
		if number == 2 {
			return messageOf(of.Elem())
		}
		return nil
	}
	fields, ok := messageFields.Load(of)
	if !ok {
		types := map[protowire.Number]reflect.Type{}
		for i := range of.NumField() {
			if words := strings.Split(of.Field(i).Tag.Get("protobuf"), ","); len(words) > 1 {
				if n, err := strconv.ParseInt(words[1], 10, 32); err == nil {
					types[protowire.Number(n)] = messageOf(of.Field(i).Type)
				}
			}
		}
		fields, _ = messageFields.LoadOrStore(of, types)
	}
	return fields.(map[protowire.Number]reflect.Type)[number]
}

// messageOf returns the type of a message that values of a type are: a structure, or the entry of a map.
func messageOf(t reflect.Type) reflect.Type {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return messageOf(t.Elem())
	case reflect.Struct, reflect.Map:
		return t
	}
	return nil
}
