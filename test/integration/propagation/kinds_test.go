package propagation

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestKindsThatCannotBeReadAreSkipped(t *testing.T) {
	c := newTree(t)
	c.put("widgets", "root", "a", "1")
	c.put("widgets", "leaf", "forged", "1")
	c.mark("widgets", "leaf", "forged", hnc.LabelInheritedFrom, c.full("root"))
	c.role("root", "r", "get")
	var denied atomic.Bool
	denied.Store(true)
	c.setRefuse(func(r *http.Request) *metav1.Status {
		if denied.Load() && r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/widgets") {
			return forbidden()
		}
		return nil
	})
	c.configure(widget + "Propagate")
	c.start()
	c.eventuallyObjects("roles", "leaf", "r=get<root")
	c.eventually("condition", "true", func() string {
		got := c.condition("", hnc.ConditionOutOfSync)
		return fmt.Sprint(strings.HasPrefix(got, "Unknown: widgets.example.com can't be read") && strings.Contains(got, hnc.LabelAggregateToPropagator))
	})
	c.wantObjects("widgets", "leaf", "forged=1<root")
	denied.Store(false)
	c.eventuallyObjects("widgets", "leaf", "a=1<root")
	c.eventually("condition", "", func() string { return c.condition("", hnc.ConditionOutOfSync) })
}

func TestKindThatCannotBeWrittenDoesNotDelayOthers(t *testing.T) {
	c := newTree(t)
	c.put("widgets", "root", "a", "1")
	c.put("widgets", "leaf", "forged", "1")
	c.mark("widgets", "leaf", "forged", hnc.LabelInheritedFrom, c.full("root"))
	c.role("root", "r", "get")
	var denied atomic.Bool
	denied.Store(true)
	c.setRefuse(func(r *http.Request) *metav1.Status {
		if denied.Load() && r.Method != http.MethodGet && strings.Contains(r.URL.Path, "/"+c.full("leaf")+"/widgets") {
			return forbidden()
		}
		return nil
	})
	c.configure(widget + "Propagate")
	c.start()
	c.eventuallyObjects("roles", "leaf", "r=get<root")
	c.eventually("condition", "true", func() string {
		got := c.condition("", hnc.ConditionOutOfSync)
		return fmt.Sprint(strings.HasPrefix(got, `Unknown: can't delete widgets.example.com "forged" in namespace "leaf"`) && strings.Contains(got, hnc.LabelAggregateToPropagator))
	})
	denied.Store(false)
	c.eventuallyObjects("widgets", "leaf", "a=1<root")
	c.eventually("condition", "", func() string { return c.condition("", hnc.ConditionOutOfSync) })
}

// defineGadgets installs the kind Gadget until the test ends.
func (c *cluster) defineGadgets() {
	c.t.Helper()
	c.eventually("defining gadgets", "<nil>", func() string { return fmt.Sprint(define(c.t.Context(), "Gadget")) })
	c.t.Cleanup(c.undefineGadgets)
}

func (c *cluster) undefineGadgets() { _ = undefine(context.WithoutCancel(c.t.Context()), "Gadget") }

const noGadgets = "(gadgets.example.com): the cluster has no such resource; install it, or remove this entry"

func TestKindIsRemovedAndInstalledAgain(t *testing.T) {
	c := newTree(t)
	c.defineGadgets()
	c.configure("gadgets.example.com Propagate")
	c.undefineGadgets()
	c.start()
	c.eventually("condition", "ResourceNotFound: spec.resources[0] "+noGadgets, func() string { return c.condition("", hnc.ConditionBadConfiguration) })
	c.defineGadgets()
	c.eventually("a source", "<nil>", func() string { return fmt.Sprint(c.try("gadgets", "root", "a", object{"data": object{"value": "1"}})) })
	c.eventuallyObjects("gadgets", "leaf", "a=1<root")
	c.eventuallyConfigured("gadgets", "Propagate 1/1")
	c.eventually("condition", "", func() string { return c.condition("", hnc.ConditionBadConfiguration) })
	c.undefineGadgets()
	c.eventuallyConfigured("gadgets", "not active")
}

func TestKindThatOnlyATreeNamesIsRemovedAndInstalledAgain(t *testing.T) {
	c := newTrees(t)
	c.defineGadgets()
	c.propagate("root", "gadgets.example.com Propagate")
	c.undefineGadgets()
	c.start()
	missing := "ResourceNotFound: spec.propagation[0] " + noGadgets
	reported := func() string { return c.condition("root", hnc.ConditionBadConfiguration) }
	c.eventually("condition", missing, reported)
	c.defineGadgets()
	c.eventually("a source", "<nil>", func() string { return fmt.Sprint(c.try("gadgets", "root", "a", object{"data": object{"value": "1"}})) })
	c.eventuallyObjects("gadgets", "leaf", "a=1<root")
	c.eventually("condition", "", reported)
	// The status of the configuration is about the configuration.
	if got := c.configured("gadgets"); got != "not active" {
		t.Errorf("status of the configuration: %q", got)
	}
	c.undefineGadgets()
	c.eventually("condition", missing, reported)
	c.propagate("root")
	c.eventually("condition", "", reported)
}

func TestNumbersFollowDeletedNamespaces(t *testing.T) {
	c := newTree(t)
	if err := c.try("widgets", "kube-public", "excluded", nil); err != nil {
		t.Fatal(err)
	}
	defer c.remove("widgets", "kube-public", "excluded")
	c.put("widgets", "root", "a", "1")
	c.put("widgets", "leaf", "own", "1")
	c.configure(widget + "Propagate")
	c.start()
	c.eventuallyConfigured("widgets", "Propagate 1/2")
	c.remove("namespaces", "", c.full("leaf"))
	c.eventuallyConfigured("widgets", "Propagate 0/1")
	c.eventually("leaf is gone", "", func() string { return c.get("namespaces", "", c.full("leaf")).GetName() })
	c.namespaces("leaf root")
	c.eventuallyConfigured("widgets", "Propagate 1/1")
}
