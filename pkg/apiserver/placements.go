package apiserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/endpoints/filters"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/treeplacement"
)

// placementWriter writes the hierarchies of a tree placement by requests to this server's own API, without a connection. So each write is authorized,
// audited, admitted and validated exactly as if the requester had sent it.
type placementWriter struct {
	api  http.Handler
	info genericapirequest.RequestInfoResolver
}

// newPlacementWriter returns a writer that sends requests to the API, behind the filters that concern the requester. The reviews ask for every right,
// because kube-apiserver has authorized the tree placement only.
func (c CompletedConfig) newPlacementWriter(api http.Handler) *placementWriter {
	api = filters.WithAuthorization(api, c.reviews, withoutProtobuf{Codecs})
	api = filters.WithAudit(api, c.generic.AuditBackend, c.generic.AuditPolicyRuleEvaluator, c.generic.LongRunningFunc)
	return &placementWriter{api: api, info: c.generic.RequestInfoResolver}
}

// write sends a request, and returns the error with which it ends.
func (p *placementWriter) write(ctx context.Context, w treeplacement.Write) (err error) {
	method, path, content, body := http.MethodPost, treeplacement.Path(w.Namespace), runtime.ContentTypeJSON, any(&v1beta1.Hierarchy{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1beta1.SchemeGroupVersion.String(), Kind: "Hierarchy"},
		ObjectMeta: metav1.ObjectMeta{Name: hnc.Singleton, Namespace: w.Namespace},
		Spec:       v1beta1.HierarchySpec{Parent: w.Parent},
	})
	if w.Exists {
		var parent any
		if w.Parent != "" {
			parent = w.Parent
		}
		method, path, content = http.MethodPatch, treeplacement.ItemPath(w.Namespace), string(types.MergePatchType)
		body = map[string]any{"spec": map[string]any{"parent": parent}}
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, path+"?"+query(w.Options), bytes.NewReader(encoded))
	if err != nil {
		return err
	}
	request.RequestURI = request.URL.RequestURI()
	request.Header.Set("Content-Type", content)
	request.Header.Set("Accept", runtime.ContentTypeJSON)
	request.Header.Set("User-Agent", userAgentFrom(ctx))
	if request, err = p.withContext(request, w.Namespace); err != nil {
		return err
	}
	answer := &recorder{header: http.Header{}}
	defer func() {
		if r := recover(); r != nil {
			klog.FromContext(ctx).Error(nil, "A write of a tree placement panicked", "panic", r, "stack", string(debug.Stack()))
			err = apierrors.NewInternalError(fmt.Errorf("panic: %v", r))
		}
	}()
	p.api.ServeHTTP(answer, request)
	return answer.err()
}

func query(options *metav1.CreateOptions) string {
	values := url.Values{}
	for _, dryRun := range options.DryRun {
		values.Add("dryRun", dryRun)
	}
	if options.FieldManager != "" {
		values.Set("fieldManager", options.FieldManager)
	}
	return values.Encode()
}

// withContext gives a request what the filters of the server attach to a request. The audit event is its own, with the ID of the placement's.
func (p *placementWriter) withContext(request *http.Request, namespace string) (*http.Request, error) {
	outer := request.Context()
	info, err := p.info.NewRequestInfo(request)
	if err != nil {
		return nil, err
	}
	ctx := audit.WithAuditContext(withoutAudit{outer})
	if id, ok := audit.AuditIDFrom(outer); ok {
		audit.WithAuditID(ctx, id)
	}
	ctx = genericapirequest.WithRequestInfo(ctx, info)
	ctx = warning.WithWarningRecorder(ctx, placementWarnings{outer, namespace})
	return request.WithContext(ctx), nil
}

// placementWarnings adds the warnings about a hierarchy to those of the placement.
type placementWarnings struct {
	placement context.Context
	namespace string
}

// AddWarning adds a warning.
func (w placementWarnings) AddWarning(agent, text string) {
	warning.AddWarning(w.placement, agent, fmt.Sprintf("namespace %q: %s", w.namespace, text))
}

// recorder records a response.
type recorder struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(code int) {
	if r.code == 0 {
		r.code = code
	}
}

func (r *recorder) Write(data []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(data)
}

// err returns the error of a response, nil for success.
func (r *recorder) err() error {
	if r.code >= http.StatusOK && r.code < http.StatusMultipleChoices {
		return nil
	}
	var status metav1.Status
	if err := json.Unmarshal(r.body.Bytes(), &status); err != nil || status.Code == 0 {
		return apierrors.NewGenericServerResponse(r.code, "", hnc.Resource("hierarchies"), hnc.Singleton, r.body.String(), 0, true)
	}
	return &apierrors.StatusError{ErrStatus: status}
}

// withoutAudit is a context without the audit event of the request.
type withoutAudit struct{ context.Context }

// Value returns a value of the context.
func (c withoutAudit) Value(key any) any {
	value := c.Context.Value(key)
	if _, ok := value.(*audit.AuditContext); ok {
		return nil
	}
	return value
}

type userAgentKey struct{}

// withUserAgent keeps the user agent of tree placements in their context: it is the default name of their field manager.
func withUserAgent(build handlerChain) handlerChain {
	return func(api http.Handler, config *genericapiserver.Config) http.Handler {
		return build(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if info, ok := genericapirequest.RequestInfoFrom(r.Context()); ok && info.Resource == treeplacement.Resource {
				r = r.WithContext(context.WithValue(r.Context(), userAgentKey{}, r.UserAgent()))
			}
			api.ServeHTTP(w, r)
		}), config)
	}
}

func userAgentFrom(ctx context.Context) string {
	agent, _ := ctx.Value(userAgentKey{}).(string)
	return agent
}
