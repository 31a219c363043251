package propagator

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

// The server keeps all objects as JSON. These functions translate for clients that speak protobuf.

var inProtobuf = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)

// asked says whether an answer is to be in protobuf, in which only built-in kinds are.
func asked(r *http.Request) bool {
	l, _ := locate(r.URL.Path)
	return strings.HasPrefix(r.Header.Get("Accept"), runtime.ContentTypeProtobuf) && scheme.Scheme.Recognizes(kinds[l.resource])
}

// fromWire returns the body of a request as JSON.
func fromWire(r *http.Request) []byte {
	body, _ := io.ReadAll(r.Body)
	if r.Header.Get("Content-Type") != runtime.ContentTypeProtobuf {
		return body
	}
	object, _, err := inProtobuf.Decode(body, nil, nil)
	if err != nil {
		panic(err)
	}
	body, _ = json.Marshal(object)
	return body
}

// toWire returns an answer as the client has asked for it.
func toWire(r *http.Request, body []byte) (contentType string, encoded []byte) {
	if !asked(r) {
		return runtime.ContentTypeJSON, body
	}
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		panic(err)
	}
	if m, ok := object.(metav1.Object); ok && strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata") {
		partial := &metav1.PartialObjectMetadata{}
		partial.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata"))
		partial.UID, partial.ResourceVersion = m.GetUID(), m.GetResourceVersion()
		object = partial
	}
	var out bytes.Buffer
	if err := inProtobuf.Encode(object, &out); err != nil {
		panic(err)
	}
	return runtime.ContentTypeProtobuf, out.Bytes()
}

// frame returns one event of a watch.
func frame(r *http.Request, event []byte) (contentType string, encoded []byte) {
	if !asked(r) {
		return runtime.ContentTypeJSON, event
	}
	contentType = runtime.ContentTypeProtobuf + ";stream=watch"
	if len(event) == 0 {
		return contentType, nil
	}
	var e struct {
		Type   string
		Object json.RawMessage
	}
	if err := json.Unmarshal(event, &e); err != nil {
		panic(err)
	}
	_, object := toWire(r, e.Object)
	encoded, _ = (&metav1.WatchEvent{Type: e.Type, Object: runtime.RawExtension{Raw: object}}).Marshal()
	return contentType, append(binary.BigEndian.AppendUint32(nil, uint32(len(encoded))), encoded...)
}
