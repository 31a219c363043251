package apiserver

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/install"
)

var (
	// Scheme contains the served types.
	Scheme = newScheme()
	// Codecs encode and decode them.
	Codecs = serializer.NewCodecFactory(Scheme)
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

// withoutProtobuf is a serializer without protobuf, which the types of this API do not support. If it offered protobuf,
// the namespace controller would request it and get 406, and no namespace in the cluster could be deleted.
type withoutProtobuf struct{ runtime.NegotiatedSerializer }

// SupportedMediaTypes returns the media types that clients can negotiate.
func (s withoutProtobuf) SupportedMediaTypes() []runtime.SerializerInfo {
	return slices.DeleteFunc(slices.Clone(s.NegotiatedSerializer.SupportedMediaTypes()), func(info runtime.SerializerInfo) bool {
		return info.MediaType == runtime.ContentTypeProtobuf
	})
}
