package subtree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/warning"
	restclient "k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/clientconfig"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/deepjson"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/internalerror"
)

// metadataList accepts lists of the metadata of objects.
const metadataList = runtime.ContentTypeJSON + ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

// upstream reads from kube-apiserver with the server's own permissions.
type upstream struct{ client restclient.Interface }

func newUpstream(config *restclient.Config) (upstream, error) {
	config = restclient.CopyConfig(config)
	config.GroupVersion = &schema.GroupVersion{}
	// Responses are not decoded; only errors are.
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	config.WarningHandlerWithContext = warningForwarder{}
	// A transport of its own, because others share that of the configuration.
	if config.Proxy == nil {
		config.Proxy = http.ProxyFromEnvironment
	}
	connection, err := restclient.HTTPClientFor(config)
	if err != nil {
		return upstream{}, err
	}
	clientconfig.BoundBuffers(connection.Transport)
	client, err := restclient.UnversionedRESTClientForConfigAndClient(config, connection)
	return upstream{client}, err
}

// warningForwarder forwards the warnings of kube-apiserver to the caller.
type warningForwarder struct{}

func (warningForwarder) HandleWarningHeaderWithContext(ctx context.Context, code int, _, message string) {
	if code == 299 && message != "" {
		warning.AddWarning(ctx, "", message)
	}
}

// request reads a namespace, "" for the whole cluster. It does not repeat requests that kube-apiserver asks to repeat
// later: clients do, and must not occupy this server meanwhile.
func (u upstream) request(k kind, namespace string, query url.Values, accept string) *restclient.Request {
	path := []string{"api", k.Version}
	if k.Group != "" {
		path = []string{"apis", k.Group, k.Version}
	}
	switch {
	case namespace == "":
	case k.isNamespaces():
		query = maps.Clone(query)
		if query == nil {
			query = url.Values{}
		}
		query.Set("fieldSelector", strings.TrimSuffix("metadata.name="+namespace+","+query.Get("fieldSelector"), ","))
	default:
		path = append(path, "namespaces", namespace)
	}
	request := u.client.Get().MaxRetries(0).AbsPath(append(path, k.Resource)...).SetHeader("Accept", accept)
	for key, values := range query {
		for _, value := range values {
			request.Param(key, value)
		}
	}
	return request
}

// getNamespace returns a Namespace, encoded.
func (u upstream) getNamespace(ctx context.Context, name string, query url.Values, accept string) ([]byte, error) {
	request := u.client.Get().MaxRetries(0).AbsPath("api", "v1", "namespaces", name).SetHeader("Accept", accept)
	for _, value := range query["includeObject"] {
		request.Param("includeObject", value)
	}
	raw, err := request.Do(ctx).Raw()
	return raw, upstreamError(err)
}

// list lists a namespace, "" for the whole cluster. The bytes of the response are taken from memory.
func (u upstream) list(ctx context.Context, k kind, namespace string, query url.Values, accept string, memory *share) (*page, error) {
	body, err := u.stream(ctx, k, namespace, query, accept)
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }()
	raw, err := io.ReadAll(memory.reader(body))
	if err != nil {
		return nil, upstreamError(err)
	}
	list, err := deepjson.ReadList(raw)
	if err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("decoding the list of %s: %w", k.GroupResource(), err))
	}
	p := page(*list)
	return &p, nil
}

// labeledNamespaces returns the namespaces that had root's tree label at a revision. The bytes of one page at a time are
// taken from memory.
func (u upstream) labeledNamespaces(ctx context.Context, root, resourceVersion string, memory *share) ([]string, error) {
	r := reader{
		upstream: u, kind: kind{GroupVersionResource: corev1.SchemeGroupVersion.WithResource("namespaces")}, output: outputType{accept: metadataList},
		query: url.Values{"labelSelector": {hnc.TreeLabel(root)}}, memory: memory,
	}
	var names []string
	err := r.eachPage(ctx, metav1.NamespaceAll, resourceVersion, namespacePage, func(p *page) error {
		for _, item := range p.Items {
			var n metav1.PartialObjectMetadata
			if err := json.Unmarshal(item, &n); err != nil {
				return apierrors.NewInternalError(fmt.Errorf("decoding a namespace: %w", err))
			}
			if hnc.IsBelow(n.Labels, hnc.AbstractAncestors(n.Annotations), root) {
				names = append(names, n.Name)
			}
		}
		return nil
	})
	return names, err
}

// stream opens a request and returns its response body.
func (u upstream) stream(ctx context.Context, k kind, namespace string, query url.Values, accept string) (io.ReadCloser, error) {
	body, err := u.request(k, namespace, query, accept).Stream(ctx)
	return body, upstreamError(err)
}

// upstreamError hides authorization errors of the server itself, which the caller would take for their own. Errors that
// are no answers of kube-apiserver become API errors.
func upstreamError(err error) error {
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		return apierrors.NewInternalError(fmt.Errorf("hns-apiserver is not allowed to read this kind: label a ClusterRole that allows list and watch for it "+
			"with rbac.hnc.x-k8s.io/aggregate-to-apiserver: \"true\": %w", err))
	}
	var answer apierrors.APIStatus
	if err == nil || errors.As(err, &answer) {
		return err
	}
	return internalerror.From(err)
}
