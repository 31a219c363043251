package propagator

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	componentmetrics "k8s.io/component-base/metrics"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/client"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/metrics"
)

const deadline = 20 * time.Second

// cluster is a server and the propagator that works on it.
type cluster struct {
	*server
	t          *testing.T
	config     *rest.Config
	propagator *Manager
	events     *record.FakeRecorder
	stop       func()
	flushes    int
	// discovering, unless it is nil, is called before kinds are looked for.
	discovering func()
}

// newCluster returns a cluster without a propagator.
func newCluster(t *testing.T) *cluster {
	s := newServer()
	served := httptest.NewServer(s)
	t.Cleanup(func() { served.CloseClientConnections(); served.Close() })
	return &cluster{server: s, t: t, config: &rest.Config{Host: served.URL, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}}
}

// start runs a propagator until the test ends or stop is called.
func (c *cluster) start() {
	c.t.Helper()
	raw := rest.CopyConfig(c.config)
	raw.GroupVersion, raw.NegotiatedSerializer = &schema.GroupVersion{}, scheme.Codecs.WithoutConversion()
	restClient, err := rest.UnversionedRESTClientFor(raw)
	if err != nil {
		c.t.Fatal(err)
	}
	reader, err := client.NewReader(c.config, http.DefaultClient)
	if err != nil {
		c.t.Fatal(err)
	}
	c.events = record.NewFakeRecorder(10000)
	c.propagator = New(Config{
		Kubernetes: kubernetes.NewForConfigOrDie(c.config), Hierarchy: versioned.NewForConfigOrDie(c.config),
		Reader: reader, Dynamic: dynamic.NewForConfigOrDie(c.config), Copies: client.New(restClient), Events: c.events,
		Metadata: metadata.NewForConfigOrDie(c.config), Discover: c.discover, ConfigurationWindow: time.Millisecond,
		Metrics: metrics.New(componentmetrics.NewKubeRegistry().MustRegister, false), Workers: 8, StatusWindow: time.Millisecond,
	})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	c.propagator.Watch(ctx)
	running.Go(func() { c.propagator.Lead(ctx) })
	c.stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	c.t.Cleanup(c.stop)
}

// do makes a request as a user, who may do anything.
func (c *cluster) do(method, path, body string) {
	c.t.Helper()
	l, status := locate(path)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, failed := c.write(method, l, status, []byte(body)); failed != nil {
		c.t.Fatalf("%s %s: %v", method, path, failed)
	}
}

func (c *cluster) namespace(name string) {
	c.t.Helper()
	c.do("POST", "/api/v1/namespaces", `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"`+name+`"}}`)
}

const rbac, ours = "/apis/rbac.authorization.k8s.io/v1", "/apis/hnc.x-k8s.io/v1beta1"

// role creates or replaces a Role.
func (c *cluster) role(namespace, name, verb string) {
	c.t.Helper()
	path := rbac + "/namespaces/" + namespace + "/roles"
	if c.get("roles", namespace, name) != nil {
		c.do("PATCH", path+"/"+name, `{"rules":[{"verbs":["`+verb+`"]}]}`)
		return
	}
	c.do("POST", path, `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"`+name+`"},"rules":[{"verbs":["`+verb+`"]}]}`)
}

func (c *cluster) deleteRole(namespace, name string) {
	c.t.Helper()
	c.do("DELETE", rbac+"/namespaces/"+namespace+"/roles/"+name, "")
}

func (c *cluster) subnamespace(parent, name string) {
	c.t.Helper()
	c.do("POST", ours+"/namespaces/"+parent+"/subnamespaces",
		`{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"Subnamespace","metadata":{"name":"`+name+`","finalizers":["`+hnc.FinalizerSubnamespace+`"]}}`)
}

// parent sets the parent of a namespace.
func (c *cluster) parent(namespace, parent string) {
	c.t.Helper()
	path := ours + "/namespaces/" + namespace + "/hierarchies"
	if c.get("hierarchies", namespace, hnc.Singleton) != nil {
		c.do("PATCH", path+"/hierarchy", `{"spec":{"parent":"`+parent+`"}}`)
		return
	}
	c.do("POST", path, `{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"Hierarchy","metadata":{"name":"hierarchy"},"spec":{"parent":"`+parent+`"}}`)
}

func (c *cluster) get(resource, namespace, name string) *unstructured.Unstructured {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.objects[location{resource, namespace, name}]
}

// roles returns the roles of a namespace as "name=verb<source" in order.
func (c *cluster) roles(namespace string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var words []string
	for l, o := range c.objects {
		if l.resource == "roles" && l.namespace == namespace {
			word := l.name + "=" + verb(o)
			if from, ok := o.GetLabels()[hnc.LabelInheritedFrom]; ok {
				word += "<" + from
			}
			words = append(words, word)
		}
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

func verb(o *unstructured.Unstructured) string {
	rules, _ := json.Marshal(o.Object["rules"])
	return strings.TrimSuffix(strings.TrimPrefix(string(rules), `[{"verbs":["`), `"]}]`)
}

// ready tells the state and the Ready condition of a Subnamespace.
func (c *cluster) ready(parent, name string) string {
	s := c.get("subnamespaces", parent, name)
	if s == nil {
		return "gone"
	}
	state, _, _ := unstructured.NestedString(s.Object, "status", "state")
	conditions, _, _ := unstructured.NestedSlice(s.Object, "status", "conditions")
	for _, condition := range conditions {
		m := condition.(map[string]any)
		state += fmt.Sprintf(" %s=%s %s", m["type"], m["status"], m["reason"])
	}
	return state
}

// eventually polls until what f returns is what is wanted.
func (c *cluster) eventually(what, want string, f func() string) {
	c.t.Helper()
	var got string
	err := wait.PollUntilContextTimeout(c.t.Context(), time.Millisecond, deadline, true, func(context.Context) (bool, error) {
		got = f()
		return got == want, nil
	})
	if err != nil {
		c.t.Fatalf("%s: %q, want %q", what, got, want)
	}
}

func (c *cluster) eventuallyRoles(namespace, want string) {
	c.t.Helper()
	c.eventually("roles of "+namespace, want, func() string { return c.roles(namespace) })
}

// takeWrites returns the requests that changed something since the last call.
func (c *cluster) takeWrites() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	writes := c.writes
	c.writes = nil
	return writes
}
