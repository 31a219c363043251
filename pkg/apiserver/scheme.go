package apiserver

import (
	"bytes"
	"io"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/install"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/strategy"
)

var (
	// Scheme contains the served types.
	Scheme = newScheme()
	// Codecs encode and decode them.
	Codecs = serializer.NewCodecFactory(Scheme)
	// StorageCodec encodes and decodes what etcd contains.
	StorageCodec = newStorageCodec()
	// StorageVersions are the versions that it encodes objects in.
	StorageVersions runtime.GroupVersioner = preferredVersions{}
)

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	// The generic server decodes request options as v1, and responds with these types.
	v1 := schema.GroupVersion{Version: "v1"}
	metav1.AddToGroupVersion(scheme, v1)
	scheme.AddUnversionedTypes(v1, &metav1.Status{}, &metav1.APIVersions{}, &metav1.APIGroupList{}, &metav1.APIGroup{}, &metav1.APIResourceList{})
	return scheme
}

func newStorageCodec() runtime.Codec {
	scheme := runtime.NewScheme()
	install.InstallStored(scheme)
	codecs := serializer.NewCodecFactory(scheme)
	json, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	return codecs.CodecForVersions(json.Serializer, storedDecoder{codecs.UniversalDeserializer()}, StorageVersions, runtime.InternalGroupVersioner)
}

// storedDecoder decodes what etcd contains, without what the API does not accept any more.
type storedDecoder struct{ runtime.Decoder }

// Decode implements runtime.Decoder.
func (d storedDecoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	obj, kind, err := d.Decoder.Decode(data, defaults, into)
	if err != nil {
		return obj, kind, err
	}
	if metadata, err := meta.Accessor(obj); err == nil {
		strategy.Shallow(metadata)
	}
	return obj, kind, nil
}

// preferredVersions picks the preferred one of the versions that have a kind, regardless of the name and version of the
// request.
type preferredVersions struct{}

// KindForGroupVersionKinds implements runtime.GroupVersioner.
func (preferredVersions) KindForGroupVersionKinds(kinds []schema.GroupVersionKind) (schema.GroupVersionKind, bool) {
	for _, kind := range kinds {
		for _, version := range Scheme.PrioritizedVersionsForGroup(kind.Group) {
			if target := version.WithKind(kind.Kind); Scheme.Recognizes(target) {
				return target, true
			}
		}
	}
	return schema.GroupVersionKind{}, false
}

// Identifier implements runtime.GroupVersioner.
func (preferredVersions) Identifier() string { return "preferred" }

// served is the serializer of this API. Its types do not support protobuf: if it offered that, the namespace controller
// would request it and get 406, and no namespace in the cluster could be deleted.
type served struct{ runtime.NegotiatedSerializer }

// SupportedMediaTypes returns the media types that clients can negotiate.
func (s served) SupportedMediaTypes() []runtime.SerializerInfo {
	return slices.DeleteFunc(slices.Clone(s.NegotiatedSerializer.SupportedMediaTypes()), func(info runtime.SerializerInfo) bool {
		return info.MediaType == runtime.ContentTypeProtobuf
	})
}

// EncoderForVersion returns an encoder of a version.
func (s served) EncoderForVersion(encoder runtime.Encoder, version runtime.GroupVersioner) runtime.Encoder {
	return splicing{s.NegotiatedSerializer.EncoderForVersion(encoder, version)}
}

// splicing is an encoder that leaves a watch nothing to keep. Each watch has two buffers, which would stay as large as
// the largest event that they have had.
type splicing struct{ runtime.Encoder }

// Encode implements runtime.Encoder.
func (e splicing) Encode(obj runtime.Object, w io.Writer) error {
	buffer, ok := w.(runtime.Splice)
	if _, cached := obj.(runtime.CacheableObject); cached || !ok {
		return e.Encoder.Encode(obj, w)
	}
	var encoded bytes.Buffer
	if err := e.Encoder.Encode(obj, &encoded); err != nil {
		return err
	}
	buffer.Splice(encoded.Bytes())
	return nil
}
