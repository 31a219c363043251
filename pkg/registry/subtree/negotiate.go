package subtree

import (
	"fmt"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/handlers/negotiation"
)

// outputType is the negotiated type of the response. kube-apiserver is asked for the same type, so its objects are
// forwarded unchanged.
type outputType struct {
	// accept is the Accept header for kube-apiserver.
	accept string
	// table and partialMetadata are the API version of that conversion; both are empty for whole objects.
	table, partialMetadata string
}

// listAccept is the Accept header for the lists that a watch begins with: those of metadata have a type of their own.
func (o outputType) listAccept() string {
	return strings.Replace(o.accept, ";as=PartialObjectMetadata;", ";as=PartialObjectMetadataList;", 1)
}

// negotiate returns an output type that the caller of a verb accepts, always as JSON.
func negotiate(r *http.Request, s runtime.NegotiatedSerializer, verb string) (outputType, error) {
	options, _, err := negotiation.NegotiateOutputMediaType(r, jsonOnly{s}, outputTypes{verb})
	if err != nil {
		return outputType{}, err
	}
	f := outputType{accept: runtime.ContentTypeJSON}
	if as := options.Convert; as != nil {
		f.accept += fmt.Sprintf(";as=%s;g=%s;v=%s", as.Kind, as.Group, as.Version)
		if as.Kind == "Table" {
			f.table = as.GroupVersion().String()
		} else {
			f.partialMetadata = as.GroupVersion().String()
		}
	}
	return f, nil
}

type jsonOnly struct{ runtime.NegotiatedSerializer }

func (s jsonOnly) SupportedMediaTypes() []runtime.SerializerInfo {
	for _, info := range s.NegotiatedSerializer.SupportedMediaTypes() {
		if info.MediaType == runtime.ContentTypeJSON {
			return []runtime.SerializerInfo{info}
		}
	}
	return nil
}

// outputTypes are the conversions that kube-apiserver supports for any kind.
type outputTypes struct{ verb string }

func (f outputTypes) AllowsMediaTypeTransform(_, _ string, as *schema.GroupVersionKind) bool {
	if as == nil {
		return true
	}
	if as.Group != metav1.GroupName || as.Version != "v1" && as.Version != "v1beta1" {
		return false
	}
	switch as.Kind {
	case "Table":
		return true
	case "PartialObjectMetadata":
		return f.verb != "list"
	case "PartialObjectMetadataList":
		return f.verb == "list"
	}
	return false
}

func (outputTypes) AllowsServerVersion(string) bool { return false }
func (f outputTypes) AllowsStreamSchema(schema string) bool {
	return f.verb == "watch" && schema == "watch"
}
