package apiserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apiserver"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apiserver/options"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/storage/embedded"
)

// fuzzNamespaces are those of the cluster.
var fuzzNamespaces = []string{"a", "b", "c", "root"}

// tenant is a user without permissions in the cluster, for the registry; the server's own authorizer allows everything,
// as kube-apiserver has.
const tenant = "tenant"

// startAPI runs the whole server on an etcd of its own, without a port, and returns the handler of its requests. It
// configures the server first.
func startAPI(t testing.TB, configure ...func(*apiserver.Config)) http.Handler {
	return startAPIOn(t, serveCluster, configure...)
}

// process is a test that ends with the process.
type process struct {
	testing.TB
	cleanups []func()
}

// Cleanup calls f after the last test.
func (p *process) Cleanup(f func()) { p.cleanups = append(p.cleanups, f) }

var (
	all    process
	shared http.Handler
)

// sharedAPI returns the server of tests that need no configuration of their own, and expect objects of others.
func sharedAPI(t testing.TB) http.Handler {
	t.Helper()
	if shared == nil {
		all.TB = t
		shared = startAPI(&all)
	}
	return shared
}

func TestMain(m *testing.M) {
	m.Run()
	for _, cleanup := range slices.Backward(all.cleanups) {
		cleanup()
	}
}

func startAPIOn(t testing.TB, kubeAPIServer http.HandlerFunc, configure ...func(*apiserver.Config)) http.Handler {
	t.Helper()
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	dir, err := os.MkdirTemp("", "fuzz")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	etcd, err := embedded.Start(dir, embedded.DefaultQuota)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(etcd.Stop)
	cluster := httptest.NewServer(kubeAPIServer)
	t.Cleanup(cluster.Close)
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(kubeconfig, fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Config","clusters":[{"name":"c","cluster":{"server":%q}}],`+
		`"contexts":[{"name":"c","context":{"cluster":"c"}}],"current-context":"c"}`, cluster.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	o := options.New()
	flags := pflag.NewFlagSet("hns-apiserver", pflag.ContinueOnError)
	for _, section := range o.Flags().FlagSets {
		flags.AddFlagSet(section)
	}
	if err := errors.Join(flags.Parse([]string{
		"--etcd-servers=" + etcd.Endpoint, "--kubeconfig=" + kubeconfig, "--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig, "--authentication-skip-lookup", "--enable-priority-and-fairness=false",
		"--cert-dir=" + dir, "--ready-timeout=0",
	}), o.Server.ComponentGlobalsRegistry.Set(), o.Validate()); err != nil {
		t.Fatal(err)
	}
	// Nothing is served on it.
	if o.Recommended.SecureServing.Listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.Recommended.SecureServing.Listener.Close() })
	config, err := o.Config()
	if err != nil {
		t.Fatal(err)
	}
	config.Generic.SecureServing, config.Generic.ExternalAddress = nil, "localhost:443"
	config.Generic.Authentication.Authenticator = authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
		return &authenticator.Response{User: &user.DefaultInfo{Name: r.Header.Get("User"), Groups: []string{user.AllAuthenticated}}}, true, nil
	})
	config.Generic.Authorization.Authorizer = allow(func(user.Info) bool { return true })
	config.Reviews = allow(func(u user.Info) bool { return u.GetName() != tenant })
	for _, configure := range configure {
		configure(config)
	}
	server, err := config.Complete().New()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	if _, _, err := server.PrepareRun().NonBlockingRunWithContext(ctx, time.Second); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); server.Destroy() })
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		response := send(server.Handler, http.MethodGet, "/readyz?verbose", "", "", nil)
		if response.Code == http.StatusOK {
			return server.Handler
		}
		if time.Now().After(deadline) {
			t.Fatal(response.Body.String())
		}
	}
}

// allow returns an authorizer that allows everything to some users.
func allow(allowed func(user.Info) bool) authorizer.Authorizer {
	return authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		if allowed(a.GetUser()) {
			return authorizer.DecisionAllow, "", nil
		}
		return authorizer.DecisionNoOpinion, "", nil
	})
}

// send returns the response to a request. What may be a watch ends early.
func send(api http.Handler, method, target, contentType, name string, body []byte) (response *httptest.ResponseRecorder) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r := httptest.NewRequestWithContext(ctx, method, "/", bytes.NewReader(body))
	r.URL.Path, r.URL.RawQuery, _ = strings.Cut(target, "?")
	if query := r.URL.Query(); method == http.MethodGet && (query.Has("watch") || query.Has("follow")) {
		defer time.AfterFunc(20*time.Millisecond, cancel).Stop()
	}
	r.Header.Set("User", name)
	r.Header.Set("Accept", "application/json")
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	// Only writers of HTTP/2 need no Hijack to be flushed.
	r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/2.0", 2, 0
	response = httptest.NewRecorder()
	w := recorder{response, ctx}
	defer func() {
		// As net/http, which ends the connection.
		aborted := recover()
		if err, ok := aborted.(error); aborted != nil && (!ok || !errors.Is(err, http.ErrAbortHandler)) {
			panic(aborted)
		}
	}()
	api.ServeHTTP(w, r)
	return response
}

// recorder can be flushed through all filters, as the writers of net/http.
type recorder struct {
	*httptest.ResponseRecorder
	ctx context.Context
}

func (r recorder) CloseNotify() <-chan bool {
	closed := make(chan bool, 1)
	context.AfterFunc(r.ctx, func() { closed <- true })
	return closed
}

// clusterKinds are all kinds that client-go knows, by their resources.
var clusterKinds = func() map[schema.GroupVersionResource]string {
	all := map[schema.GroupVersionResource]string{
		{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}: "CustomResourceDefinition",
		{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}:             "APIService",
	}
	for kind := range scheme.Scheme.AllKnownTypes() {
		plural, _ := meta.UnsafeGuessKindToResource(kind)
		all[plural] = kind.Kind
	}
	return all
}()

// serveCluster is a kube-apiserver with some namespaces, and nothing else.
func serveCluster(w http.ResponseWriter, r *http.Request) {
	info, err := (&genericapirequest.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}).NewRequestInfo(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	gvr := schema.GroupVersionResource{Group: info.APIGroup, Version: info.APIVersion, Resource: info.Resource}
	switch kind, known := clusterKinds[gvr], info.IsResourceRequest && clusterKinds[gvr] != ""; {
	case info.Verb == "watch" && r.URL.Query().Get("sendInitialEvents") == "true":
		respond(w, http.StatusUnprocessableEntity, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Reason: metav1.StatusReasonInvalid, Code: 422})
	case info.Verb == "watch":
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	case known && info.Verb == "list":
		list := map[string]any{"apiVersion": gvr.GroupVersion().String(), "kind": kind + "List", "metadata": map[string]any{"resourceVersion": "1"}, "items": []any{}}
		if strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata") {
			list["apiVersion"], list["kind"] = "meta.k8s.io/v1", "PartialObjectMetadataList"
		} else if gvr.Resource == "namespaces" {
			items := []any{}
			for _, name := range fuzzNamespaces {
				items = append(items, namespace(name))
			}
			list["items"] = items
		}
		respond(w, http.StatusOK, list)
	case gvr.Resource == "namespaces" && info.Verb == "get" && strings.Contains(" "+strings.Join(fuzzNamespaces, " ")+" ", " "+info.Name+" "):
		object := namespace(info.Name)
		object["apiVersion"], object["kind"] = "v1", "Namespace"
		respond(w, http.StatusOK, object)
	case !info.IsResourceRequest:
		serveDiscovery(w, strings.Split(strings.Trim(r.URL.Path, "/"), "/"))
	default:
		respond(w, http.StatusNotFound, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Reason: metav1.StatusReasonNotFound, Code: 404})
	}
}

func namespace(name string) map[string]any {
	return map[string]any{"metadata": map[string]any{"name": name, "uid": "uid-" + name, "resourceVersion": "1"}, "status": map[string]any{"phase": "Active"}}
}

func serveDiscovery(w http.ResponseWriter, path []string) {
	switch {
	case len(path) == 1 && path[0] == "api":
		respond(w, http.StatusOK, metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}})
	case len(path) == 1 && path[0] == "apis":
		version := metav1.GroupVersionForDiscovery{GroupVersion: "rbac.authorization.k8s.io/v1", Version: "v1"}
		respond(w, http.StatusOK, metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{
			{Name: "rbac.authorization.k8s.io", Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version}}})
	default:
		version := strings.Join(path[1:], "/")
		list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: version}
		for _, kind := range map[string][]string{"v1": {"Secret", "ConfigMap"}, "rbac.authorization.k8s.io/v1": {"Role", "RoleBinding"}}[version] {
			list.APIResources = append(list.APIResources, metav1.APIResource{
				Name: strings.ToLower(kind) + "s", SingularName: strings.ToLower(kind), Kind: kind, Namespaced: true,
				Verbs: metav1.Verbs{"create", "delete", "get", "list", "patch", "update", "watch"},
			})
		}
		respond(w, http.StatusOK, list)
	}
}

func respond(w http.ResponseWriter, code int, object any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(object)
}
