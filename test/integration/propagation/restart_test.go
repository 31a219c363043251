package propagation

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestRestartWritesNothingThatIsUpToDate(t *testing.T) {
	c := newCluster(t)
	c.namespaces("root")
	c.role("root", "dev", "get")
	c.start()
	parallel(20, func(i int) { _ = c.try("subnamespaces", "root", c.full(fmt.Sprintf("n%d", i)), nil) })
	for i := range 20 {
		c.eventuallyReady("root", fmt.Sprintf("n%d", i))
	}
	// follow returns when the propagator has followed changes that come after all others.
	follow := func(name string) {
		t.Helper()
		c.namespaces(name, name+"-child "+name)
		c.eventually("children of "+name, c.full(name+"-child"), func() string { return strings.Join(c.children(name), " ") })
		c.role(name, "r", "get")
		c.eventuallyObjects("roles", name+"-child", "r=get<"+name)
	}
	follow("first")
	// A list of children that keeps changing is written last.
	c.eventually("children of root", "20", func() string { return fmt.Sprint(len(c.children("root"))) })
	c.stop()
	c.written()
	c.start()
	follow("second")
	c.eventually("waiting work", "0", func() string { return fmt.Sprint(c.queued()) })
	c.stop()
	writes := slices.DeleteFunc(c.written(), func(w string) bool {
		return strings.Contains(w, "/second") || strings.Contains(w, "/first") || strings.Contains(w, "/hncconfigurations/")
	})
	if len(writes) > 0 {
		t.Errorf("written:\n%s", strings.Join(writes, "\n"))
	}
}

func TestRestartWritesNothingThatIsUpToDateInATree(t *testing.T) {
	c := newTrees(t)
	c.defineGadgets()
	c.put("widgets", "root", "a", "1")
	c.put("widgets", "mid", "m", "1")
	c.put("widgets", "other", "o", "1")
	c.configure(widget+"Propagate", "gadgets.example.com Propagate")
	c.propagate("mid", widget+"Remove", "gadgets.example.com Propagate")
	c.propagate("other", widget+"Ignore")
	c.undefineGadgets()
	c.start()
	c.eventuallyObjects("widgets", "leaf", "a=1<root")
	c.eventuallyReason("mid", hnc.ConditionBadConfiguration, hnc.ReasonResourceNotFound)
	c.eventuallyReason("", hnc.ConditionBadConfiguration, hnc.ReasonResourceNotFound)
	c.flush()
	c.eventuallyConfigured("roles", "Propagate 2/1")
	c.stop()
	c.written()
	// The hierarchies are late.
	var lists atomic.Int32
	c.setRefuse(func(r *http.Request) *metav1.Status {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/v1beta1/hierarchies") && lists.Add(1) < 3 {
			return unavailable()
		}
		return nil
	})
	c.start()
	c.put("widgets", "root", "b", "1")
	c.eventuallyObjects("widgets", "leaf", "a=1<root b=1<root")
	c.eventuallyObjects("widgets", "mid", "a=1<root b=1<root m=1")
	c.stop()
	writes := slices.DeleteFunc(c.written(), func(w string) bool { return strings.HasSuffix(w, "/config/status") })
	slices.Sort(writes)
	if got := strings.Join(writes, ", "); got != "POST /apis/example.com/v1/namespaces/leaf/widgets, POST /apis/example.com/v1/namespaces/mid/widgets" {
		t.Errorf("written: %s", got)
	}
}

func TestConditionsOfNamespacesAreSummarized(t *testing.T) {
	c := newTree(t)
	c.namespaces("mid", "other")
	c.parent("root", "mid")
	c.parent("mid", "missing")
	c.start()
	// summary returns the conditions of the configuration about namespaces, as "reason: message" in order.
	summary := func() string {
		var words []string
		for _, condition := range conditions(c.get("hncconfigurations", "", hnc.ConfigurationName)) {
			if condition["type"] == hnc.ConditionNamespace {
				words = append(words, c.short(fmt.Sprintf("%v: %v", condition["reason"], condition["message"])))
			}
		}
		return strings.Join(words, ", ")
	}
	const halted = `ActivitiesHalted: Namespaces "mid" is affected by "ParentMissing"; 2 namespaces "leaf", "root" are affected by "AncestorHaltActivities"`
	c.eventually("conditions", halted, summary)

	// A restart does not write what is known.
	c.stop()
	var writes atomic.Int32
	c.setRefuse(func(r *http.Request) *metav1.Status {
		if r.Method == http.MethodPatch && strings.Contains(r.URL.Path, "/hncconfigurations") {
			// Checkpoints are written to the configuration, too.
			if body, err := r.GetBody(); err != nil {
				t.Error(err)
			} else if patch, err := io.ReadAll(body); err != nil || bytes.Contains(patch, []byte(`"conditions"`)) {
				writes.Add(1)
			}
		}
		return nil
	})
	c.start()
	c.parent("other", "other2")
	c.eventually("conditions", strings.Replace(halted, `Namespaces "mid" is`, `2 namespaces "mid", "other" are`, 1), summary)
	if n := writes.Load(); n != 1 {
		t.Errorf("%d writes of the conditions", n)
	}

	c.remove("namespaces", "", c.full("other"))
	c.eventually("conditions after one is deleted", halted, summary)
	c.namespaces("missing")
	c.eventually("conditions after the parent has appeared", "", summary)
}
