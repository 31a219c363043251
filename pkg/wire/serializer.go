package wire

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// NegotiatedSerializer returns a serializer by which a client gets Objects from responses in protobuf, except lists;
// see ReadList. Everything else, such as errors in JSON, is decoded by the codecs.
func (f *Formats) NegotiatedSerializer(codecs serializer.CodecFactory) runtime.NegotiatedSerializer {
	n := negotiated{NegotiatedSerializer: codecs.WithoutConversion()}
	for _, info := range n.NegotiatedSerializer.SupportedMediaTypes() {
		if info.MediaType == runtime.ContentTypeProtobuf {
			info.Serializer = decoder{Encoder: info.Serializer, formats: f}
		}
		n.types = append(n.types, info)
	}
	return n
}

type negotiated struct {
	runtime.NegotiatedSerializer
	types []runtime.SerializerInfo
}

func (n negotiated) SupportedMediaTypes() []runtime.SerializerInfo { return n.types }

type decoder struct {
	runtime.Encoder
	formats *Formats
}

// Decode returns an Object or a Status.
func (d decoder) Decode(data []byte, _ *schema.GroupVersionKind, _ runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	kind, message, err := open(data)
	if err != nil {
		return nil, nil, err
	}
	object, err := d.decode(kind, message)
	if err != nil {
		return nil, &kind, fmt.Errorf("%s in protobuf: %w", kind.Kind, err)
	}
	return object, &kind, nil
}

func (d decoder) decode(kind schema.GroupVersionKind, message []byte) (runtime.Object, error) {
	if kind == metav1.Unversioned.WithKind("Status") {
		status := &metav1.Status{}
		return status, status.Unmarshal(message)
	}
	if format := d.formats.Of(kind); format != nil {
		return decodeObject(message, format)
	}
	return nil, fmt.Errorf("%s is unknown", kind)
}
