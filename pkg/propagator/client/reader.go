package client

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/model/copies"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/wire"
)

// Reader reads all objects of a kind in protobuf, as wire.Objects. A nil Reader reads no kinds.
type Reader struct {
	formats *wire.Formats
	client  rest.Interface
	// bindingPages bounds the pages of RoleBindings that are read at a time.
	bindingPages chan struct{}
}

// NewReader returns a Reader of the built-in kinds.
func NewReader(config *rest.Config, transport *http.Client) (*Reader, error) {
	r := &Reader{formats: wire.NewFormats(scheme.Scheme), bindingPages: make(chan struct{}, bindingPages)}
	config = rest.CopyConfig(config)
	config.GroupVersion, config.NegotiatedSerializer = &schema.GroupVersion{}, r.formats.NegotiatedSerializer(scheme.Codecs)
	config.AcceptContentTypes, config.ContentType = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf
	var err error
	r.client, err = rest.UnversionedRESTClientForConfigAndClient(config, transport)
	return r, err
}

// Reads says whether the kind can be read in protobuf.
func (r *Reader) Reads(kind copies.Kind) bool {
	return r != nil && r.formats.Of(kind.GroupVersion().WithKind(kind.Kind)) != nil
}

// List returns a list of the results of f for each object.
func (r *Reader) List(ctx context.Context, kind copies.Kind, o metav1.ListOptions, f func(*wire.Object) runtime.Object) (runtime.Object, error) {
	if o.Continue == "" {
		// In one chunk, and as fresh as possible: the API server responds from its watch cache once that is up to date.
		o.Limit = 0
		if o.ResourceVersion == "0" {
			o.ResourceVersion = ""
		}
	}
	list := &internalversion.List{}
	var err error
	list.ListMeta, err = r.read(ctx, kind, metav1.NamespaceAll, o, func(o *wire.Object) { list.Items = append(list.Items, f(o)) })
	if err != nil {
		return nil, err
	}
	return list, nil
}

// read calls each with the objects of a namespace, or of all, as they arrive.
func (r *Reader) read(ctx context.Context, kind copies.Kind, namespace string, o metav1.ListOptions, each func(*wire.Object)) (metav1.ListMeta, error) {
	body, err := r.request(kind, namespace, o).Stream(ctx)
	if err != nil {
		return metav1.ListMeta{}, err
	}
	defer body.Close()
	meta, err := r.formats.ReadList(body, kind.GroupVersion().WithKind(kind.Kind), each)
	if err != nil {
		return meta, fmt.Errorf("list of %s: %w", kind.Resource, err)
	}
	return meta, nil
}

// Watch returns a watch of wire.Objects.
func (r *Reader) Watch(ctx context.Context, kind copies.Kind, o metav1.ListOptions) (watch.Interface, error) {
	o.Watch = true
	return r.request(kind, metav1.NamespaceAll, o).Watch(ctx)
}

func (r *Reader) request(kind copies.Kind, namespace string, o metav1.ListOptions) *rest.Request {
	request := r.client.Get().AbsPath(path(kind, namespace)...).SpecificallyVersionedParams(&o, scheme.ParameterCodec, metav1.Unversioned)
	if o.TimeoutSeconds != nil {
		request = request.Timeout(time.Duration(*o.TimeoutSeconds) * time.Second)
	}
	return request
}

// IsWatchListSemanticsUnSupported keeps reflectors from requesting lists by a watch. A list that is read item by item
// takes no more memory than one by a watch, and costs both sides less because there is no event around each object.
func (r *Reader) IsWatchListSemanticsUnSupported() bool { return true }
