package wire

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Numbers of the fields of metav1.ObjectMeta.
const (
	name              protowire.Number = 1
	namespace         protowire.Number = 3
	uid               protowire.Number = 5
	resourceVersion   protowire.Number = 6
	deletionTimestamp protowire.Number = 9
	labels            protowire.Number = 11
	annotations       protowire.Number = 12
	ownerReferences   protowire.Number = 13
	finalizers        protowire.Number = 14
)

// decodeMetadata decodes the fields above into m, and skips the others: managedFields are most of a message.
func decodeMetadata(message []byte, m *metav1.ObjectMeta) error {
	return Each(message, func(f Field) (err error) {
		switch f.Number {
		case name:
			m.Name, err = f.string()
		case namespace:
			m.Namespace, err = f.string()
		case uid:
			var value string
			value, err = f.string()
			m.UID = types.UID(value)
		case resourceVersion:
			m.ResourceVersion, err = f.string()
		case deletionTimestamp:
			m.DeletionTimestamp, err = decodeTime(f)
		case labels:
			m.Labels, err = decodeEntry(f, m.Labels)
		case annotations:
			m.Annotations, err = decodeEntry(f, m.Annotations)
		case ownerReferences:
			var o metav1.OwnerReference
			o, err = decodeOwner(f)
			m.OwnerReferences = append(m.OwnerReferences, o)
		case finalizers:
			var value string
			value, err = f.string()
			m.Finalizers = append(m.Finalizers, value)
		}
		return err
	})
}

// decodeOwner returns an owner reference of which only the UID is decoded.
func decodeOwner(owner Field) (o metav1.OwnerReference, err error) {
	message, err := owner.bytes()
	if err != nil {
		return o, err
	}
	return o, Each(message, func(f Field) error {
		if f.Number != 4 {
			return nil
		}
		value, err := f.string()
		o.UID = types.UID(value)
		return err
	})
}

// decodeEntry adds an entry to the map and returns it.
func decodeEntry(entry Field, to map[string]string) (map[string]string, error) {
	message, err := entry.bytes()
	if err != nil {
		return to, err
	}
	var key, value string
	err = Each(message, func(f Field) (err error) {
		switch f.Number {
		case 1:
			key, err = f.string()
		case 2:
			value, err = f.string()
		}
		return err
	})
	if err != nil {
		return to, fmt.Errorf("field %d: %w", entry.Number, err)
	}
	if to == nil {
		to = map[string]string{}
	}
	to[key] = value
	return to, nil
}

func decodeTime(at Field) (*metav1.Time, error) {
	message, err := at.bytes()
	if err != nil {
		return nil, err
	}
	if len(message) == 0 {
		return &metav1.Time{}, nil // the encoding of the zero time
	}
	var seconds uint64
	err = Each(message, func(f Field) error {
		if f.Number == 1 && f.Kind == protowire.VarintType {
			_, _, tag := protowire.ConsumeTag(f.Raw)
			seconds, _ = protowire.ConsumeVarint(f.Raw[tag:])
		}
		return nil
	})
	return &metav1.Time{Time: time.Unix(int64(seconds), 0)}, err
}

// Metadata returns the metadata of an object. Equal metadata has equal bytes.
func Metadata(named string, labelled, annotated map[string]string) []byte {
	message := appendString(nil, name, named)
	message = appendEntries(message, labels, labelled)
	return appendEntries(message, annotations, annotated)
}

func appendEntries(message []byte, number protowire.Number, entries map[string]string) []byte {
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		value := entries[key]
		message = protowire.AppendTag(message, number, protowire.BytesType)
		message = protowire.AppendVarint(message, uint64(sizeOf(1, len(key))+sizeOf(2, len(value)))) //nolint:gosec // a size
		message = appendString(appendString(message, 1, key), 2, value)
	}
	return message
}
