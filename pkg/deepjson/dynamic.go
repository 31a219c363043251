package deepjson

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// NewDynamic returns a dynamic client that reads objects of any depth, in JSON. Without a transport, it has its own.
func NewDynamic(config *rest.Config, transport *http.Client) (dynamic.Interface, error) {
	config = dynamic.ConfigFor(config)
	config.AcceptContentTypes = runtime.ContentTypeJSON
	config.GroupVersion = &schema.GroupVersion{}
	config.NegotiatedSerializer = negotiated{config.NegotiatedSerializer}
	if transport == nil {
		var err error
		if transport, err = rest.HTTPClientFor(config); err != nil {
			return nil, err
		}
	}
	client, err := rest.UnversionedRESTClientForConfigAndClient(config, transport)
	if err != nil {
		return nil, err
	}
	return dynamic.New(client), nil
}

// negotiated is the serializer of a dynamic client with decoders for deep objects.
type negotiated struct{ runtime.NegotiatedSerializer }

// SupportedMediaTypes implements runtime.NegotiatedSerializer.
func (n negotiated) SupportedMediaTypes() []runtime.SerializerInfo {
	types := slices.Clone(n.NegotiatedSerializer.SupportedMediaTypes())
	for i := range types {
		if t := &types[i]; t.MediaType == runtime.ContentTypeJSON {
			stream := *t.StreamSerializer
			stream.Serializer, stream.Framer = events{stream.Serializer}, lines{stream.Framer}
			t.Serializer, t.StreamSerializer = objects{t.Serializer}, &stream
		}
	}
	return types
}

// objects decodes objects, and the items of a list one by one.
type objects struct{ runtime.Serializer }

// Decode implements runtime.Decoder.
func (o objects) Decode(data []byte, kind *schema.GroupVersionKind, into runtime.Object) (decoded runtime.Object, found *schema.GroupVersionKind, err error) {
	list, ok := into.(*unstructured.UnstructuredList)
	if !ok {
		err = decode(data, func(data []byte) error {
			decoded, found, err = o.Serializer.Decode(data, kind, into)
			return err
		}, "")
		return decoded, found, err
	}
	read, err := ReadList(data)
	if err != nil {
		return nil, nil, fmt.Errorf("decoding a list: %w", err)
	}
	metadata, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&read.Metadata)
	if err != nil {
		return nil, nil, err
	}
	list.Object = map[string]any{"kind": read.Kind, "apiVersion": read.APIVersion, "metadata": metadata}
	list.Items = make([]unstructured.Unstructured, len(read.Items))
	for i, raw := range read.Items {
		if list.Items[i], err = read.Item(raw); err != nil {
			return nil, nil, fmt.Errorf("decoding a list: items[%d]: %w", i, err)
		}
	}
	listed := list.GroupVersionKind()
	return list, &listed, nil
}

// events decodes watch events.
type events struct{ runtime.Serializer }

// Decode implements runtime.Decoder.
func (e events) Decode(data []byte, kind *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	event, ok := into.(*metav1.WatchEvent)
	if !ok {
		return e.Serializer.Decode(data, kind, into)
	}
	var err error
	event.Type, event.Object.Raw, err = Event(data)
	return event, kind, err
}

// lines reads frames that are lines, as kube-apiserver writes events.
type lines struct{ runtime.Framer }

// NewFrameReader implements runtime.Framer.
func (lines) NewFrameReader(r io.ReadCloser) io.ReadCloser {
	return &lineReader{Closer: r, lines: bufio.NewReader(r)}
}

type lineReader struct {
	io.Closer
	lines *bufio.Reader
	// rest is what does not fit into the buffer of the last call.
	rest []byte
}

// Read reads a line, or the rest of it. The error is io.ErrShortBuffer if more of the line follows.
func (r *lineReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		line, err := r.lines.ReadBytes('\n')
		if r.rest = bytes.TrimSpace(line); len(r.rest) > 0 && errors.Is(err, io.EOF) {
			return 0, io.ErrUnexpectedEOF
		}
		if err != nil {
			return 0, err
		}
	}
	n := copy(p, r.rest)
	if r.rest = r.rest[n:]; len(r.rest) > 0 {
		return n, io.ErrShortBuffer
	}
	return n, nil
}
