package propagator

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/cache"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/configuration"
)

// discover finds all kinds of the server but gadgets, which it has once their definition is there.
func (c *cluster) discover(context.Context) (configuration.Cluster, error) {
	if c.discovering != nil {
		c.discovering()
	}
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
	spec, _ := json.Marshal(entriesOf(entries))
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

// entriesOf reads entries "resource.group mode [onConflict]".
func entriesOf(entries []string) []map[string]string {
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
	return resources
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
		"apiVersion": kind.GroupVersion().String(), "kind": kind.Kind, "metadata": map[string]any{"name": name, "annotations": set},
		"data": map[string]any{"value": value},
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
			value, _, _ := unstructured.NestedString(o.Object, "data", "value")
			word := l.name + "=" + value
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

// unauthorized answers as an API server does to somebody without the right.
func unauthorized() *metav1.Status {
	s := failure(http.StatusForbidden, metav1.StatusReasonForbidden)
	s.Message = `widgets.example.com is forbidden: User "p" cannot do that`
	return s
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

// kind calls f with a kind that is or was watched.
func (c *cluster) kind(resource, group string, f func(*cache.Kind)) {
	c.propagator.cache.Read(func(s *cache.State) {
		if kind, known := s.KindOf(schema.GroupResource{Group: group, Resource: resource}); known {
			f(s.Kind(kind))
		}
	})
}

func (c *cluster) synced(resource, group string) string {
	synced := false
	c.kind(resource, group, func(k *cache.Kind) { synced = k.Synced })
	return fmt.Sprint(synced)
}

// policy returns the mode of the sources of a namespace.
func (c *cluster) policy(resource, group, namespace string) (mode string) {
	c.kind(resource, group, func(k *cache.Kind) {
		mode = string(k.Index.Mode)
		if k.Index.PolicyOf != nil {
			mode = string(k.Index.PolicyOf(namespace).Mode)
		}
	})
	return mode
}
