package subtree

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/warning"
	restclient "k8s.io/client-go/rest"
)

// upstream reads from kube-apiserver, with the server's own rights.
type upstream struct{ client restclient.Interface }

func newUpstream(config *restclient.Config) (upstream, error) {
	config = restclient.CopyConfig(config)
	config.GroupVersion = &schema.GroupVersion{}
	// Answers are read as they are; errors are of this group.
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	config.WarningHandlerWithContext = passOn{}
	client, err := restclient.UnversionedRESTClientFor(config)
	return upstream{client}, err
}

// passOn passes the warnings of kube-apiserver on to the caller.
type passOn struct{}

func (passOn) HandleWarningHeaderWithContext(ctx context.Context, code int, _, message string) {
	if code == 299 && message != "" {
		warning.AddWarning(ctx, "", message)
	}
}

func (u upstream) request(k kind, namespace string, query url.Values, accept string) *restclient.Request {
	path := []string{"api", k.Version}
	if k.Group != "" {
		path = []string{"apis", k.Group, k.Version}
	}
	if namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	request := u.client.Get().AbsPath(append(path, k.Resource)...).SetHeader("Accept", accept)
	for key, values := range query {
		for _, value := range values {
			request.Param(key, value)
		}
	}
	return request
}

// page is a list or a table, or a part of one.
type page struct {
	Kind       string          `json:"kind"`
	APIVersion string          `json:"apiVersion"`
	Metadata   metav1.ListMeta `json:"metadata"`
	// ColumnDefinitions and Rows are a table's.
	ColumnDefinitions json.RawMessage `json:"columnDefinitions,omitempty"`
	// A slice that is there stays there when it is empty.
	Rows  []json.RawMessage `json:"rows,omitzero"`
	Items []json.RawMessage `json:"items,omitzero"`
}

func (p *page) len() int { return len(p.Rows) + len(p.Items) }

// list reads what is in a namespace, "" for the whole cluster.
func (u upstream) list(ctx context.Context, k kind, namespace string, query url.Values, accept string) (*page, error) {
	raw, err := u.request(k, namespace, query, accept).Do(ctx).Raw()
	if err != nil {
		return nil, translated(err)
	}
	p := &page{}
	if err := json.Unmarshal(raw, p); err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("the answer about %s can't be read: %w", k.GroupResource(), err))
	}
	return p, nil
}

// stream opens a request whose answer is read as it comes.
func (u upstream) stream(ctx context.Context, k kind, namespace string, query url.Values, accept string) (io.ReadCloser, error) {
	body, err := u.request(k, namespace, query, accept).Stream(ctx)
	return body, translated(err)
}

// translated makes an error of the server's own one that the caller does not take for theirs.
func translated(err error) error {
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		return apierrors.NewInternalError(fmt.Errorf("hnc-apiserver itself may not read this kind: label a ClusterRole that allows list and watch for it "+
			"with rbac.hnc.x-k8s.io/aggregate-to-apiserver: \"true\": %w", err))
	}
	return err
}
