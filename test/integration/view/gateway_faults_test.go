package view

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// A replica serves at once what another one has created, and takes over from one that is killed: no write that was
// acknowledged is lost, and watches continue.
func TestReplicasOfTheGateway(t *testing.T) {
	tn := newUser(t, "replicated")
	port, err := cp.StartServer(t.Context(), gatewayInstallation, secondGateway)
	must(t, "second replica", err)
	t.Cleanup(func() {
		ctx := context.Background()
		first, err := cp.StartServer(ctx, gatewayInstallation, gateway)
		must(t, "first replica", err)
		must(t, "register", cp.Register(ctx, gatewayInstallation, first))
		must(t, "stop", cp.StopProcess(ctx, secondGateway.Process()))
	})
	first, second := servedBy(t, tn, gateway), servedBy(t, tn, secondGateway)
	for _, ns := range []string{"a", "b", "c"} {
		_, err := first.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}, metav1.CreateOptions{})
		must(t, "namespace", err)
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "before", Labels: map[string]string{"test": "yes"}}}
		if _, err := second.CoreV1().ConfigMaps(ns).Create(t.Context(), cm, metav1.CreateOptions{}); err != nil {
			t.Errorf("a namespace that another replica has created: %v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	factory := informers.NewSharedInformerFactoryWithOptions(tn.view, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = "test" }))
	lister := factory.Core().V1().ConfigMaps().Lister()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	must(t, "kill", cp.Kill(t.Context(), gateway.Process()))
	must(t, "register", cp.Register(t.Context(), gatewayInstallation, port))
	configMap(t, tn.view, "a", "after")
	suite.EventuallyEqual(t, "what the informer has", "[a/after a/before b/before c/before]", func() string {
		var names []string
		all, err := lister.List(labels.Everything())
		must(t, "list", err)
		for _, cm := range all {
			names = append(names, cm.Namespace+"/"+cm.Name)
		}
		slices.Sort(names)
		return fmt.Sprint(names)
	})
}

// A replica that stops ends watches, which their clients continue elsewhere, and does not wait for them in vain.
func TestAGatewayThatStopsEndsWatches(t *testing.T) {
	tn := newUser(t, "stopping")
	_, err := cp.StartServer(t.Context(), gatewayInstallation, secondGateway)
	must(t, "second replica", err)
	second := servedBy(t, tn, secondGateway)
	for what, begin := range map[string]func() (watch.Interface, error){
		"of a member": func() (watch.Interface, error) {
			return second.CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{})
		},
		"of the view": func() (watch.Interface, error) {
			return second.CoreV1().ConfigMaps("").Watch(t.Context(), metav1.ListOptions{})
		},
	} {
		w, err := begin()
		must(t, "watch "+what, err)
		defer func() {
			for range w.ResultChan() {
			}
		}()
	}
	must(t, "stop", cp.StopProcess(t.Context(), secondGateway.Process()))
	log, err := os.ReadFile(cp.Log(secondGateway.Process()))
	must(t, "log", err)
	if strings.Contains(string(log), "Failed to shutdown server") {
		t.Error("the replica has waited for watches until it gave up")
	}
}

// large is the content of an object of nearly the greatest size.
var large = map[string]string{"data": strings.Repeat("x", 900<<10)}

// open sends a request, and returns the response without reading it.
func open(t *testing.T, u suite.User, path string) *http.Response {
	t.Helper()
	client, err := suite.SlowClient(u.Config)
	must(t, "client", err)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, u.Config.Host+path, http.NoBody)
	must(t, "request", err)
	response, err := client.Do(r)
	must(t, path, err)
	t.Cleanup(func() { _ = response.Body.Close() })
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", path, response.Status)
	}
	return response
}

func TestSlowReadersDelayNobody(t *testing.T) {
	slow, quick := newUser(t, "slow"), newUser(t, "quick")
	for _, path := range []string{"/api/v1/configmaps?watch=true", "/api/v1/namespaces/default/configmaps?watch=true"} {
		for range 5 {
			open(t, slow.view, path)
		}
	}
	follow, err := quick.view.CoreV1().ConfigMaps("").Watch(t.Context(), metav1.ListOptions{LabelSelector: "test"})
	must(t, "watch", err)
	defer follow.Stop()
	for i := range 8 {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("large-", i)}, Data: large}
		_, err := slow.view.CoreV1().ConfigMaps("default").Create(t.Context(), cm, metav1.CreateOptions{})
		must(t, "large object", err)
	}
	configMap(t, quick.view, "default", "seen")
	ctx, cancel := context.WithTimeout(t.Context(), suite.Deadline)
	defer cancel()
	select {
	case event := <-follow.ResultChan():
		if cm, ok := event.Object.(*corev1.ConfigMap); !ok || cm.Name != "seen" {
			t.Errorf("got %v", event)
		}
	case <-ctx.Done():
		t.Error("slow readers delay the watch of another tenant")
	}
}

// A list that ends early must not look complete: a client would take the rest for deleted.
func TestAListThatIsCutOffIsAnError(t *testing.T) {
	tn := newUser(t, "cut")
	for i := range 10 {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("large-", i)}, Data: large}
		_, err := tn.view.CoreV1().ConfigMaps("default").Create(t.Context(), cm, metav1.CreateOptions{})
		must(t, "large object", err)
	}
	u := ownPort(t, tn)
	for external, path := range map[string]string{"one": "/api/v1/namespaces/default/configmaps", "all": "/api/v1/configmaps"} {
		response := open(t, u, path)
		_, err := admin.HNC.HncV1alpha3().TenantViews(tn.root).Patch(t.Context(), hnc.TenantViewSingleton, types.MergePatchType,
			[]byte(`{"spec":{"external":["kube-system","`+external+`"]}}`), metav1.PatchOptions{})
		must(t, "change the view", err)
		suite.Eventually(t, "the changed view is served", func() error {
			ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: external}}
			_, err := u.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if !apierrors.IsAlreadyExists(err) {
				return cmp.Or(err, errors.New("the name is free"))
			}
			return nil
		})
		body, err := io.ReadAll(response.Body)
		if err == nil || json.Valid(body) {
			t.Errorf("%s: got %d bytes without an error", path, len(body))
		}
	}
}

// A namespace without the prefix that leaves is deleted in watches under the name that it had.
func TestWatchesOfTheGatewayShowWhatLeaves(t *testing.T) {
	tn, other := newUser(t, "left"), newTenant(t, "left-to")
	child(t, "guest-of-left", tn.root)
	configMap(t, tn.view, "guest-of-left", "mine")
	ctx, cancel := context.WithTimeout(t.Context(), suite.Deadline)
	defer cancel()
	objects, err := tn.view.CoreV1().ConfigMaps("").Watch(ctx, metav1.ListOptions{LabelSelector: "test"})
	must(t, "watch", err)
	defer objects.Stop()
	namespaces, err := tn.view.CoreV1().Namespaces().Watch(ctx, metav1.ListOptions{})
	must(t, "watch", err)
	defer namespaces.Stop()
	leave(t, "guest-of-left", other.root)
	for what, events := range map[string]<-chan watch.Event{"objects": objects.ResultChan(), "namespaces": namespaces.ResultChan()} {
		for event := range events {
			if event.Type != watch.Deleted {
				continue
			}
			o, ok := event.Object.(metav1.Object)
			if !ok || o.GetNamespace()+o.GetName() != map[string]string{"objects": "guest-of-leftmine", "namespaces": "guest-of-left"}[what] {
				t.Errorf("%s: got %v", what, event.Object)
			}
			break
		}
	}
	if ctx.Err() != nil {
		t.Error("no event says that the namespace has left")
	}
}

// A token to continue a list shows nothing of another view.
func TestTokensToContinueAreOfTheirView(t *testing.T) {
	tn, other := newUser(t, "paged"), newUser(t, "paged-not")
	for _, name := range []string{"a", "b", "c"} {
		configMap(t, tn.view, "default", name)
		configMap(t, other.view, "default", "of-"+name)
	}
	for _, ns := range []string{"", "default"} {
		list, err := tn.view.CoreV1().ConfigMaps(ns).List(t.Context(), metav1.ListOptions{LabelSelector: "test", Limit: 1})
		must(t, "list", err)
		rest, err := other.view.CoreV1().ConfigMaps(ns).List(t.Context(), metav1.ListOptions{LabelSelector: "test", Limit: 5, Continue: list.Continue})
		if err != nil {
			continue
		}
		for _, cm := range rest.Items {
			if !strings.HasPrefix(cm.Name, "of-") {
				t.Errorf("in %q: got %s of another view", ns, cm.Name)
			}
		}
	}
}

// A page of a browser has no credentials, and no permission to read answers.
func TestPagesOfBrowsersGetNothingFromTheGateway(t *testing.T) {
	tn := newUser(t, "browsed")
	anonymous := *tn
	anonymous.direct.Config = rest.AnonymousClientConfig(tn.direct.Config)
	page := []string{"Origin", "https://page.example.com", "Sec-Fetch-Mode", "cors", "Content-Type", "text/plain"}
	for what, u := range map[string]suite.User{"anonymous": ownPort(t, &anonymous), "authenticated": ownPort(t, tn)} {
		visitor := *tn
		visitor.view = u
		for _, method := range []string{http.MethodOptions, http.MethodPost} {
			code, body := visitor.raw(t, method, "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"by-a-page"}}`, page...)
			if code < http.StatusBadRequest {
				t.Errorf("%s, %s: got %d %s", what, method, code, body)
			}
		}
	}
	config := rest.CopyConfig(ownPort(t, tn).Config)
	client, err := rest.HTTPClientFor(config)
	must(t, "client", err)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, config.Host+"/api/v1/namespaces/default/configmaps", http.NoBody)
	must(t, "request", err)
	r.Header.Set("Origin", page[1])
	response, err := client.Do(r)
	must(t, "get", err)
	defer func() { _ = response.Body.Close() }()
	if allowed := response.Header.Get("Access-Control-Allow-Origin"); allowed != "" {
		t.Errorf("pages of %s may read answers", allowed)
	}
}
