package propagator

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/configuration"
)

// discover finds all kinds of the server but gadgets, which it has once their definition is there.
func (c *cluster) discover(context.Context) (configuration.Cluster, error) {
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{{Version: "v1"}, {Group: "example.com", Version: "v1"}})
	for resource, kind := range kinds {
		if resource == "gadgets" && c.get("customresourcedefinitions", "", "gadgets.example.com") == nil {
			continue
		}
		var scope meta.RESTScope = meta.RESTScopeNamespace
		if resource == "namespaces" || strings.HasPrefix(kind.Group, "api") {
			scope = meta.RESTScopeRoot
		}
		mapper.AddSpecific(kind, kind.GroupVersion().WithResource(resource), kind.GroupVersion().WithResource(strings.ToLower(kind.Kind)), scope)
	}
	return configuration.Cluster{Mapper: mapper}, nil
}

// configure creates or replaces the configuration. Entries are "resource.group mode [onConflict]".
func (c *cluster) configure(entries ...string) {
	c.t.Helper()
	resources := []map[string]string{}
	for _, entry := range entries {
		words := strings.Fields(entry)
		resource, group, _ := strings.Cut(words[0], ".")
		r := map[string]string{"resource": resource, "group": group, "mode": words[1]}
		if len(words) > 2 {
			r["onConflict"] = words[2]
		}
		resources = append(resources, r)
	}
	spec, _ := json.Marshal(resources)
	path := ours + "/hncconfigurations"
	if c.get("hncconfigurations", "", "config") == nil {
		c.do("POST", path, `{"apiVersion":"hnc.x-k8s.io/v1beta1","kind":"HNCConfiguration","metadata":{"name":"config"},"spec":{"resources":`+string(spec)+`}}`)
		return
	}
	c.mu.Lock()
	generation := c.version // as good as any that is new
	c.mu.Unlock()
	c.do("PATCH", path+"/config", fmt.Sprintf(`{"metadata":{"generation":%d},"spec":{"resources":%s}}`, generation, spec))
}

// configured returns what the status tells of a resource, as "mode propagated/sources", and "-" for a number that is absent.
func (c *cluster) configured(resource string) string {
	config := c.get("hncconfigurations", "", "config")
	if config == nil {
		return "no configuration"
	}
	list, _, _ := unstructured.NestedSlice(config.Object, "status", "resources")
	for _, entry := range list {
		e := entry.(map[string]any)
		if e["resource"] == resource {
			number := func(key string) string {
				if n, ok := e[key]; ok {
					return fmt.Sprint(n)
				}
				return "-"
			}
			return fmt.Sprintf("%v %s/%s", e["mode"], number("numPropagatedObjects"), number("numSourceObjects"))
		}
	}
	return "not active"
}

// condition returns "reason: message" of a condition of the configuration that is True, "" if there is none.
func (c *cluster) condition(conditionType string) string {
	config := c.get("hncconfigurations", "", "config")
	if config == nil {
		return "no configuration"
	}
	list, _, _ := unstructured.NestedSlice(config.Object, "status", "conditions")
	for _, entry := range list {
		if e := entry.(map[string]any); e["type"] == conditionType && e["status"] == "True" {
			return fmt.Sprintf("%v: %v", e["reason"], e["message"])
		}
	}
	return ""
}

// put creates or replaces an object with a value.
func (c *cluster) put(resource, namespace, name, value string, annotations ...string) {
	c.t.Helper()
	kind := kinds[resource]
	path := "/apis/" + kind.Group + "/v1/namespaces/" + namespace + "/" + resource
	if kind.Group == "" {
		path = "/api/v1/namespaces/" + namespace + "/" + resource
	}
	set := map[string]string{}
	for _, a := range annotations {
		key, v, _ := strings.Cut(a, "=")
		set[key] = v
	}
	object, _ := json.Marshal(map[string]any{
		"apiVersion": kind.GroupVersion().String(), "kind": kind.Kind, "metadata": map[string]any{"name": name, "annotations": set}, "value": value,
	})
	if c.get(resource, namespace, name) != nil {
		c.do("PATCH", path+"/"+name, string(object))
		return
	}
	c.do("POST", path, string(object))
}

// objects returns the objects of a resource in a namespace as "name=value<source" in order.
func (c *cluster) objectsOf(resource, namespace string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var words []string
	for l, o := range c.objects {
		if l.resource == resource && l.namespace == namespace {
			word := fmt.Sprintf("%s=%v", l.name, o.Object["value"])
			if from, ok := o.GetLabels()[hnc.LabelInheritedFrom]; ok {
				word += "<" + from
			}
			words = append(words, word)
		}
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

func (c *cluster) eventuallyObjects(resource, namespace, want string) {
	c.t.Helper()
	c.eventually(resource+" of "+namespace, want, func() string { return c.objectsOf(resource, namespace) })
}

func (c *cluster) eventuallyConfigured(resource, want string) {
	c.t.Helper()
	c.eventually("status of "+resource, want, func() string { return c.configured(resource) })
}

// newTree returns a cluster with root, and leaf below it.
func newTree(t *testing.T) *cluster {
	t.Helper()
	c := newCluster(t)
	c.namespace("root")
	c.namespace("leaf")
	c.parent("leaf", "root")
	return c
}

// TestModes has the rows of spec/hnc.md 3.11. Everything starts with a copy that an earlier configuration has left.
func TestModes(t *testing.T) {
	for name, test := range map[string]struct {
		mode string
		// wanted are the objects of leaf in the end, status what the configuration tells.
		wanted, status string
	}{
		"M-Propagate":      {"Propagate", "asked=new<root both=new<root left=new<root own=1 plain=new<root", "Propagate 4/5"},
		"M-AllowPropagate": {"AllowPropagate", "asked=new<root both=local own=1", "AllowPropagate 1/6"},
		"M-Remove":         {"Remove", "both=local own=1", "Remove 0/-"},
		"M-Ignore":         {"Ignore", "both=local left=old<root own=1", "Ignore -/-"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTree(t)
			for _, object := range []string{"plain", "both", "left"} {
				c.put("configmaps", "root", object, "new")
			}
			c.put("configmaps", "root", "asked", "new", hnc.AnnotationAll+"=true")
			c.put("configmaps", "leaf", "both", "local")
			c.put("configmaps", "leaf", "own", "1")
			c.put("configmaps", "leaf", "left", "old")
			c.do("PATCH", "/api/v1/namespaces/leaf/configmaps/left", `{"metadata":{"labels":{"hnc.x-k8s.io/inherited-from":"root"}}}`)
			c.configure("configmaps " + test.mode)
			c.start()
			c.eventuallyConfigured("configmaps", test.status)
			c.eventuallyObjects("configmaps", "leaf", test.wanted)
		})
	}
}

func TestAChangeOfModeTakesEffectAtOnceAndOnAllObjects(t *testing.T) {
	c := newTree(t)
	c.put("widgets", "root", "a", "1")
	c.put("widgets", "root", "b", "1", hnc.AnnotationTreeSelect+"=leaf")
	c.put("widgets", "root", "c", "1", hnc.AnnotationNone+"=true")
	c.start()
	c.eventuallyConfigured("roles", "Propagate 0/0")
	all, some := "a=1<root b=1<root", "b=1<root"
	for _, step := range []struct{ mode, wanted, status string }{
		{"Propagate", all, "Propagate 2/3"},
		{"AllowPropagate", some, "AllowPropagate 1/3"},
		{"Propagate", all, "Propagate 2/3"},
		{"Ignore", all, "Ignore -/-"},
		{"Remove", "", "Remove 0/-"},
		{"Ignore", "", "Ignore -/-"},
		{"AllowPropagate", some, "AllowPropagate 1/3"},
		{"Remove", "", "Remove 0/-"},
		{"Propagate", all, "Propagate 2/3"},
	} {
		c.configure("widgets.example.com " + step.mode)
		c.eventuallyConfigured("widgets", step.status)
		c.eventuallyObjects("widgets", "leaf", step.wanted)
	}
	// Removed from the configuration is ignored.
	c.configure()
	c.eventuallyConfigured("widgets", "not active")
	c.put("widgets", "root", "a", "2")
	c.role("root", "flush", "get")
	c.eventuallyRoles("leaf", "flush=get<root")
	c.eventuallyObjects("widgets", "leaf", all)
	c.configure("widgets.example.com Propagate")
	c.eventuallyObjects("widgets", "leaf", "a=2<root b=1<root")
}

func TestTheConfigurationIsCreatedByTheLeader(t *testing.T) {
	c := newCluster(t)
	c.start()
	c.eventuallyConfigured("roles", "Propagate 0/0")
	c.eventuallyConfigured("rolebindings", "Propagate 0/0")
	if got := c.condition(hnc.ConditionReady); !strings.HasPrefix(got, "Ready: ") {
		t.Errorf("ready: %q", got)
	}
}

func TestAKindThatComesLater(t *testing.T) {
	c := newTree(t)
	c.put("gadgets", "root", "a", "1")
	c.configure("gadgets.example.com Propagate")
	c.start()
	c.eventually("condition", "ResourceNotFound: spec.resources[0] (gadgets.example.com): the cluster has no such resource; install it, or remove this entry",
		func() string { return c.condition(hnc.ConditionBadConfiguration) })
	c.do("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
		`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"gadgets.example.com"}}`)
	c.eventuallyObjects("gadgets", "leaf", "a=1<root")
	c.eventuallyConfigured("gadgets", "Propagate 1/1")
	c.eventually("condition", "", func() string { return c.condition(hnc.ConditionBadConfiguration) })
	c.do("DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.example.com", "")
	c.eventuallyConfigured("gadgets", "not active")
}

// unauthorized answers as an API server does to somebody without the right.
func unauthorized() *metav1.Status {
	s := failure(http.StatusForbidden, metav1.StatusReasonForbidden)
	s.Message = `widgets.example.com is forbidden: User "p" cannot do that`
	return s
}

func TestNothingIsDecidedOfAKindThatCanNotBeRead(t *testing.T) {
	c := newTree(t)
	c.put("widgets", "root", "a", "1")
	c.put("widgets", "leaf", "stray", "1")
	c.do("PATCH", "/apis/example.com/v1/namespaces/leaf/widgets/stray", `{"metadata":{"labels":{"hnc.x-k8s.io/inherited-from":"root"}}}`)
	c.role("root", "r", "get")
	var denied atomic.Bool
	denied.Store(true)
	c.refuse = func(method, path string) *metav1.Status {
		if denied.Load() && method == http.MethodGet && strings.Contains(path, "widgets") {
			return unauthorized()
		}
		return nil
	}
	c.configure("widgets.example.com Propagate")
	c.start()
	c.eventuallyRoles("leaf", "r=get<root")
	c.eventually("condition", "true", func() string {
		got := c.condition(hnc.ConditionOutOfSync)
		return fmt.Sprint(strings.HasPrefix(got, "Unknown: widgets.example.com can't be read") && strings.Contains(got, aggregationLabel))
	})
	if got := c.objectsOf("widgets", "leaf"); got != "stray=1<root" {
		t.Errorf("leaf has %q", got)
	}
	denied.Store(false)
	c.eventuallyObjects("widgets", "leaf", "a=1<root")
	c.eventually("condition", "", func() string { return c.condition(hnc.ConditionOutOfSync) })
}

func TestAKindThatCanNotBeWrittenDoesNotHoldUpOthers(t *testing.T) {
	c := newTree(t)
	c.put("widgets", "root", "a", "1")
	c.put("widgets", "leaf", "stray", "1")
	c.do("PATCH", "/apis/example.com/v1/namespaces/leaf/widgets/stray", `{"metadata":{"labels":{"hnc.x-k8s.io/inherited-from":"root"}}}`)
	c.role("root", "r", "get")
	var denied atomic.Bool
	denied.Store(true)
	c.refuse = func(method, path string) *metav1.Status {
		if denied.Load() && method != http.MethodGet && strings.Contains(path, "/leaf/widgets") {
			return unauthorized()
		}
		return nil
	}
	c.configure("widgets.example.com Propagate")
	c.start()
	c.eventuallyRoles("leaf", "r=get<root")
	c.eventually("condition", "true", func() string {
		got := c.condition(hnc.ConditionOutOfSync)
		return fmt.Sprint(strings.HasPrefix(got, `Unknown: can't delete widgets.example.com "stray" in namespace "leaf"`) && strings.Contains(got, aggregationLabel))
	})
	denied.Store(false)
	c.eventuallyObjects("widgets", "leaf", "a=1<root")
	c.eventually("condition", "", func() string { return c.condition(hnc.ConditionOutOfSync) })
}

func TestTheLabelsOfANamespaceDecideOnExceptions(t *testing.T) {
	c := newTree(t)
	c.namespace("other")
	c.parent("other", "root")
	c.put("widgets", "root", "selected", "1", hnc.AnnotationSelect+"=env=prod")
	c.put("widgets", "root", "tree", "1", hnc.AnnotationTreeSelect+"=!leaf")
	c.configure("widgets.example.com Propagate")
	c.start()
	c.eventuallyObjects("widgets", "other", "tree=1<root")
	c.eventuallyObjects("widgets", "leaf", "")
	label := func(value string) {
		c.do("PATCH", "/api/v1/namespaces/leaf", `{"metadata":{"labels":{"env":`+value+`}}}`)
	}
	label(`"prod"`)
	c.eventuallyObjects("widgets", "leaf", "selected=1<root")
	label(`"dev"`)
	c.eventuallyObjects("widgets", "leaf", "")
	label(`"prod"`)
	c.eventuallyObjects("widgets", "leaf", "selected=1<root")
	label("null")
	c.eventuallyObjects("widgets", "leaf", "")
	// A move changes the tree labels.
	c.parent("other", "leaf")
	c.eventuallyObjects("widgets", "other", "")
	c.parent("other", "root")
	c.eventuallyObjects("widgets", "other", "tree=1<root")
	// So does the annotation.
	c.put("widgets", "root", "tree", "1", hnc.AnnotationTreeSelect+"=leaf")
	c.eventuallyObjects("widgets", "other", "")
	c.eventuallyObjects("widgets", "leaf", "tree=1<root")
}

func TestANewSubnamespaceGetsWhatItsTreeSelects(t *testing.T) {
	c := newCluster(t)
	c.namespace("root")
	c.put("widgets", "root", "in", "1", hnc.AnnotationTreeSelect+"=team")
	c.put("widgets", "root", "out", "1", hnc.AnnotationTreeSelect+"=!team")
	c.configure("widgets.example.com AllowPropagate")
	c.start()
	c.eventuallyConfigured("widgets", "AllowPropagate 0/2")
	c.subnamespace("root", "team")
	c.eventually("subnamespace", readyOk, func() string { return c.ready("root", "team") })
	if got := c.objectsOf("widgets", "team"); got != "in=1<root" {
		t.Errorf("it has %q", got)
	}
}

func TestAnAnnotationThatCanNotBeReadIsReported(t *testing.T) {
	c := newTree(t)
	c.put("widgets", "root", "a", "1")
	c.put("widgets", "root", "b", "1", hnc.AnnotationTreeSelect+"=x,,y")
	c.configure("widgets.example.com Propagate")
	c.start()
	c.eventuallyObjects("widgets", "leaf", "a=1<root")
	c.put("widgets", "root", "a", "1", hnc.AnnotationSelect+"=a!=b")
	c.eventuallyObjects("widgets", "leaf", "")
	c.put("widgets", "root", "a", "1", hnc.AnnotationSelect+"=!b")
	c.eventuallyObjects("widgets", "leaf", "a=1<root")
	told := c.told("Warning CannotParseSelector", 2)
	if len(told) != 2 {
		t.Fatalf("events %q", told)
	}
	for i, key := range []string{"/select:", "/treeSelect:"} {
		if !strings.Contains(told[i], key) {
			t.Errorf("%q does not name %s", told[i], key)
		}
	}
}

// told returns the events with a prefix in order, once there are as many of any kind and the propagator has stopped.
func (c *cluster) told(prefix string, events int) []string {
	c.t.Helper()
	c.eventually("there are events", "true", func() string { return fmt.Sprint(len(c.events.Events) >= events) })
	c.stop()
	close(c.events.Events)
	var told []string
	for e := range c.events.Events {
		if strings.HasPrefix(e, prefix) {
			told = append(told, e)
		}
	}
	slices.Sort(told)
	return told
}

func TestALocalObjectIsKeptWhereTheConfigurationSaysSo(t *testing.T) {
	c := newTree(t)
	c.namespace("below")
	c.parent("below", "leaf")
	c.put("widgets", "leaf", "a", "local")
	c.configure("widgets.example.com Propagate Keep")
	c.start()
	c.put("widgets", "root", "a", "1")
	c.put("widgets", "root", "b", "1")
	c.eventuallyObjects("widgets", "below", "a=1<root b=1<root")
	c.eventuallyObjects("widgets", "leaf", "a=local b=1<root")
	c.put("widgets", "leaf", "a", "still")
	c.put("widgets", "root", "a", "2")
	c.eventuallyObjects("widgets", "below", "a=2<root b=1<root")
	c.eventuallyObjects("widgets", "leaf", "a=still b=1<root")
	// Without it, the object goes.
	c.do("DELETE", "/apis/example.com/v1/namespaces/leaf/widgets/a", "")
	c.eventuallyObjects("widgets", "leaf", "a=2<root b=1<root")
	told := c.told("Warning ObjectKept", 2)
	if len(told) != 2 || !strings.Contains(told[0], "Kept, although") || !strings.Contains(told[1], "Not propagated to") {
		t.Errorf("events %q", told)
	}
}

func TestAKeptObjectIsOverwrittenOnceThatIsConfigured(t *testing.T) {
	c := newTree(t)
	c.put("widgets", "leaf", "a", "local")
	c.put("widgets", "root", "a", "1")
	c.put("widgets", "root", "b", "1")
	c.configure("widgets.example.com Propagate Keep")
	c.start()
	c.eventuallyObjects("widgets", "leaf", "a=local b=1<root")
	c.configure("widgets.example.com Propagate Overwrite")
	c.eventuallyObjects("widgets", "leaf", "a=1<root b=1<root")
}

func TestTheNumbersAreRightWhenNamespacesAreDeleted(t *testing.T) {
	c := newTree(t)
	c.namespace("kube-system")
	c.put("widgets", "kube-system", "foreign", "1")
	c.put("widgets", "root", "a", "1")
	c.put("widgets", "leaf", "own", "1")
	c.configure("widgets.example.com Propagate")
	c.start()
	c.eventuallyConfigured("widgets", "Propagate 1/2")
	c.do("DELETE", "/api/v1/namespaces/leaf", "")
	c.eventuallyConfigured("widgets", "Propagate 0/1")
	c.namespace("leaf")
	c.parent("leaf", "root")
	c.eventuallyConfigured("widgets", "Propagate 1/1")
}

func TestARestartDoesNotWriteAConfigurationThatIsRight(t *testing.T) {
	c := newTree(t)
	c.put("widgets", "root", "a", "1")
	c.configure("widgets.example.com Propagate", "missing Propagate")
	c.start()
	c.eventuallyConfigured("widgets", "Propagate 1/1")
	c.eventually("condition", "true", func() string { return fmt.Sprint(c.condition(hnc.ConditionBadConfiguration) != "") })
	c.role("root", "first", "get")
	c.eventuallyRoles("leaf", "first=get<root")
	c.eventuallyConfigured("roles", "Propagate 1/1")
	c.stop()
	c.takeWrites()
	c.start()
	c.eventually("synced", "true", func() string { return c.stateOf("widgets", "example.com") })
	c.put("widgets", "root", "b", "1")
	c.eventuallyObjects("widgets", "leaf", "a=1<root b=1<root")
	c.stop()
	for _, w := range c.takeWrites() {
		if strings.Contains(w, "/widgets/a") {
			t.Errorf("written: %s", w)
		}
	}
}

func (c *cluster) stateOf(resource, group string) string {
	c.propagator.mu.Lock()
	defer c.propagator.mu.Unlock()
	return fmt.Sprint(c.propagator.state(schema.GroupResource{Group: group, Resource: resource}).Synced)
}
