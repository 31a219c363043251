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
	// Scheme knows the types that are served.
	Scheme = newScheme()
	// Codecs encode and decode them.
	Codecs = serializer.NewCodecFactory(Scheme)
)

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	// The generic server decodes the options of requests as v1, and answers with these types.
	v1 := schema.GroupVersion{Version: "v1"}
	metav1.AddToGroupVersion(scheme, v1)
	scheme.AddUnversionedTypes(v1, &metav1.Status{}, &metav1.APIVersions{}, &metav1.APIGroupList{}, &metav1.APIGroup{}, &metav1.APIResourceList{})
	return scheme
}

// withoutProtobuf is a serializer that does not offer protobuf, which our types don't have. Were it offered, the
// namespace controller would ask for it, get 406 for ever, and every namespace deletion in the cluster would hang.
type withoutProtobuf struct{ runtime.NegotiatedSerializer }

// SupportedMediaTypes returns what clients can negotiate.
func (s withoutProtobuf) SupportedMediaTypes() []runtime.SerializerInfo {
	return slices.DeleteFunc(slices.Clone(s.NegotiatedSerializer.SupportedMediaTypes()), func(info runtime.SerializerInfo) bool {
		return info.MediaType == runtime.ContentTypeProtobuf
	})
}
