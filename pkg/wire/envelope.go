package wire

import (
	"bytes"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// prefix begins everything in Kubernetes' protobuf encoding; a runtime.Unknown, the envelope, follows.
const prefix = "k8s\x00"

// Numbers of the fields of the envelope, and of the metadata in each object and list.
const (
	envelopeType protowire.Number = 1
	envelopeRaw  protowire.Number = 2
	metadata     protowire.Number = 1
	listItems    protowire.Number = 2
)

// Recognizes reports whether data is an object in protobuf.
func Recognizes(data []byte) bool { return bytes.HasPrefix(data, []byte(prefix)) }

// open returns the message in an envelope, and its kind.
func open(data []byte) (kind schema.GroupVersionKind, message []byte, err error) {
	if !Recognizes(data) {
		return kind, nil, errors.New("not an object in protobuf")
	}
	var version string
	err = Each(data[len(prefix):], func(f Field) (err error) {
		switch f.Number {
		case envelopeType:
			var value []byte
			if value, err = f.bytes(); err != nil {
				return err
			}
			return Each(value, func(f Field) (err error) {
				switch f.Number {
				case 1:
					version, err = f.string()
				case 2:
					kind.Kind, err = f.string()
				}
				return err
			})
		case envelopeRaw:
			message, err = f.bytes()
		}
		return err
	})
	if err != nil {
		return kind, nil, fmt.Errorf("envelope: %w", err)
	}
	gv, err := schema.ParseGroupVersion(version)
	return gv.WithKind(kind.Kind), message, err
}

// DecodeMetadata returns the metadata of an object of any kind: name, namespace, uid, resourceVersion, labels,
// annotations, UIDs of owners, finalizers and deletionTimestamp.
func DecodeMetadata(data []byte) (*metav1.ObjectMeta, error) {
	_, message, err := open(data)
	if err != nil {
		return nil, err
	}
	o, err := decodeObject(message, &Format{})
	if err != nil {
		return nil, err
	}
	return &o.ObjectMeta, nil
}
