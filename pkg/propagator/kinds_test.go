package propagator

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

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
		return fmt.Sprint(strings.HasPrefix(got, "Unknown: widgets.example.com can't be read") && strings.Contains(got, hnc.LabelAggregateToPropagator))
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
		return fmt.Sprint(strings.HasPrefix(got, `Unknown: can't delete widgets.example.com "stray" in namespace "leaf"`) && strings.Contains(got, hnc.LabelAggregateToPropagator))
	})
	denied.Store(false)
	c.eventuallyObjects("widgets", "leaf", "a=1<root")
	c.eventually("condition", "", func() string { return c.condition(hnc.ConditionOutOfSync) })
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
	c.eventually("synced", "true", func() string { return c.synced("widgets", "example.com") })
	c.put("widgets", "root", "b", "1")
	c.eventuallyObjects("widgets", "leaf", "a=1<root b=1<root")
	c.stop()
	for _, w := range c.takeWrites() {
		if strings.Contains(w, "/widgets/a") {
			t.Errorf("written: %s", w)
		}
	}
}
