package view

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	authorizationv1client "k8s.io/client-go/kubernetes/typed/authorization/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	hncalphaclient "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/typed/hnc/v1alpha3"
	hncclient "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/typed/hnc/v1beta1"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
)

// clients are those of the caller, for what takes more than one request.
type clients struct {
	namespaces    corev1client.NamespaceInterface
	subnamespaces hncclient.SubnamespacesGetter
	definitions   hncalphaclient.ViewDefinitionsGetter
	reviews       authorizationv1client.AuthorizationV1Interface
	// release ends the use of all that they have read. It ends with the call at the latest.
	release func()
}

// clients returns the caller's clients. The warnings of their responses are added to the view's.
func (h *Handler) clients(c *call) (*clients, error) {
	config := &rest.Config{
		Host: h.Server.String(), QPS: -1, UserAgent: c.r.UserAgent(),
		WarningHandler: warnings{c.w, h.Mapper},
	}
	reads := newReads(c)
	c.releases = append(c.releases, reads.release)
	client := &http.Client{Transport: reads}
	core, err := corev1client.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, err
	}
	hierarchies, err := hncclient.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, err
	}
	alpha, err := hncalphaclient.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, err
	}
	authorization, err := authorizationv1client.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, err
	}
	return &clients{core.Namespaces(), hierarchies, alpha, authorization, reads.release}, nil
}

// warnings adds warnings of the cluster to a response that is not written yet.
type warnings struct {
	http.ResponseWriter
	mapper *mapping.Mapper
}

// HandleWarningHeader implements rest.WarningHandler.
func (w warnings) HandleWarningHeader(code int, _ string, text string) {
	addWarning(w, code, w.mapper.Message(text))
}

// warn adds a warning to a response that is not written yet, once.
func (c *call) warn(text string) { addWarning(c.w, 299, text) }

func addWarning(w http.ResponseWriter, code int, text string) {
	if header, err := net.NewWarningHeader(code, "", text); err == nil && !slices.Contains(w.Header()["Warning"], header) {
		w.Header().Add("Warning", header)
	}
}

// seeTimeout bounds how long a view waits until its caller sees what the caller has written.
const seeTimeout = 10 * time.Second

// see returns the namespace when it is as the caller has made it. Permissions reach kube-apiserver after the namespace.
func see(ctx context.Context, get corev1client.NamespaceInterface, name string, ready func(*corev1.Namespace) bool) (*corev1.Namespace, error) {
	var seen *corev1.Namespace
	var last error
	err := poll(ctx, func(ctx context.Context) (bool, error) {
		var ns *corev1.Namespace
		if ns, last = get.Get(ctx, name, metav1.GetOptions{}); last == nil && ready(ns) {
			seen = ns
			return true, nil
		}
		return false, nil
	})
	if seen == nil {
		return nil, cmp.Or(last, err)
	}
	seen.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}
	return seen, nil
}

// pollBackoff makes some 15 requests in seeTimeout.
var pollBackoff = wait.Backoff{Duration: 20 * time.Millisecond, Factor: 1.5, Cap: time.Second, Steps: 100}

// poll calls a function until it is done or fails, for seeTimeout.
func poll(ctx context.Context, done wait.ConditionWithContextFunc) error {
	ctx, cancel := context.WithTimeout(ctx, seeTimeout)
	defer cancel()
	return pollBackoff.DelayFunc().Until(ctx, true, true, done)
}
