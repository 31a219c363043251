package propagator

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

const readyOk = "Ok Ready=True Ready"

func TestANewSubnamespaceIsCompleteWhenItIsReady(t *testing.T) {
	c := newCluster(t)
	c.namespace("acme")
	c.role("acme", "dev", "get")
	c.role("acme", "ops", "get")
	c.start()
	c.eventually("labels", "0", func() string { return c.get("namespaces", "", "acme").GetLabels()[hnc.TreeLabel("acme")] })
	c.takeWrites()

	c.subnamespace("acme", "team")
	c.eventually("subnamespace", readyOk, func() string { return c.ready("acme", "team") })
	if got := c.roles("team"); got != "dev=get<acme ops=get<acme" {
		t.Errorf("it has the roles %q", got)
	}
	if h := c.get("hierarchies", "team", hnc.Singleton); h == nil || fmt.Sprint(h.Object["spec"]) != "map[parent:acme]" {
		t.Errorf("its hierarchy is %v", h)
	}
	// The order protects the parent before there is anything to protect, and reports when there is nothing left to do.
	writes := c.takeWrites()
	at := -1
	for _, want := range []string{
		"PATCH /api/v1/namespaces/acme", "POST /api/v1/namespaces", "POST " + rbac + "/namespaces/team/roles",
		"PATCH " + ours + "/namespaces/acme/subnamespaces/team/status",
	} {
		i := slices.Index(writes, want)
		if i <= at {
			t.Errorf("%q is not in its place in\n%s", want, strings.Join(writes, "\n"))
		}
		at = i
	}
	if n := count(writes, "POST "+rbac+"/namespaces/team/roles"); n != 2 {
		t.Errorf("two roles took %d writes", n)
	}
}

func count(words []string, word string) int {
	return len(slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w != word }))
}

func TestNoSubnamespaceIsCreatedBeforeItsParentIsProtected(t *testing.T) {
	c := newCluster(t)
	c.namespace("acme")
	var left atomic.Int32
	left.Store(6)
	c.refuse = func(method, path string) *metav1.Status {
		switch {
		case method == "PATCH" && path == "/api/v1/namespaces/acme" && left.Load() > 0:
			left.Add(-1)
			return failure(http.StatusInternalServerError, metav1.StatusReasonInternalError)
		case method == "POST" && path == "/api/v1/namespaces" && left.Load() > 0:
			t.Error("created before the parent was labelled")
		}
		return nil
	}
	c.subnamespace("acme", "team")
	c.start()
	c.eventually("subnamespace", readyOk, func() string { return c.ready("acme", "team") })
}

func TestARestartWritesNothingThatIsRight(t *testing.T) {
	c := newCluster(t)
	c.namespace("root")
	c.role("root", "dev", "get")
	c.start()
	for i := range 20 {
		c.subnamespace("root", fmt.Sprintf("n%d", i))
	}
	for i := range 20 {
		name := fmt.Sprintf("n%d", i)
		c.eventually(name, readyOk, func() string { return c.ready("root", name) })
	}
	flush := func(name string) {
		c.namespace(name)
		c.namespace(name + "-child")
		c.parent(name+"-child", name)
		c.eventually("children of "+name, "["+name+"-child]", func() string {
			h := c.get("hierarchies", name, hnc.Singleton)
			if h == nil {
				return "no hierarchy"
			}
			status, _ := h.Object["status"].(map[string]any)
			return fmt.Sprint(status["children"])
		})
		c.role(name, "r", "get")
		c.eventuallyRoles(name+"-child", "r=get<"+name)
	}
	flush("first")
	// A list of children that keeps changing is written last.
	c.eventually("children of root", "20", func() string { return fmt.Sprint(len(c.children("root"))) })
	c.stop()
	c.takeWrites()
	c.start()
	flush("second")
	c.eventually("waiting work", "0", func() string { return fmt.Sprint(c.propagator.bulk.Len() + c.propagator.urgent.Len()) })
	c.stop()
	writes := slices.DeleteFunc(c.takeWrites(), func(w string) bool {
		return strings.Contains(w, "/second") || strings.Contains(w, "/first") || strings.Contains(w, "/hncconfigurations/")
	})
	if len(writes) > 0 {
		t.Errorf("written:\n%s", strings.Join(writes, "\n"))
	}
}

func TestWhatNoLongerAppliesIsRemovedBeforeAnythingIsWritten(t *testing.T) {
	c := newCluster(t)
	for _, name := range []string{"old", "new", "leaf"} {
		c.namespace(name)
	}
	for i := range 10 {
		c.role("old", fmt.Sprintf("old-%d", i), "get")
		c.role("new", fmt.Sprintf("new-%d", i), "get")
	}
	c.parent("leaf", "old")
	c.start()
	c.eventually("copies", "10", func() string { return fmt.Sprint(strings.Count(c.roles("leaf"), "<old")) })
	c.takeWrites()
	c.parent("leaf", "new")
	c.eventually("copies", "10", func() string { return fmt.Sprint(strings.Count(c.roles("leaf"), "<new")) })
	created := false
	for _, w := range c.takeWrites() {
		switch {
		case strings.HasPrefix(w, "POST "+rbac+"/namespaces/leaf"):
			created = true
		case strings.HasPrefix(w, "DELETE "+rbac+"/namespaces/leaf") && created:
			t.Fatal("removed after something was written")
		}
	}
	if got := strings.Count(c.roles("leaf"), "<old"); got != 0 {
		t.Errorf("%d old copies are left", got)
	}
}

func TestACopyThatSomebodyMeddlesWithIsMadeRightAgain(t *testing.T) {
	c := newCluster(t)
	c.namespace("root")
	c.namespace("leaf")
	c.role("root", "a", "get")
	c.parent("leaf", "root")
	c.start()
	right := "a=get<root"
	c.eventuallyRoles("leaf", right)
	path := rbac + "/namespaces/leaf/roles/a"
	for name, meddle := range map[string]func(){
		"edited":      func() { c.role("leaf", "a", "steal") },
		"deleted":     func() { c.deleteRole("leaf", "a") },
		"taken over":  func() { c.do("PATCH", path, `{"metadata":{"labels":{"hnc.x-k8s.io/inherited-from":null}}}`) },
		"misdirected": func() { c.do("PATCH", path, `{"metadata":{"labels":{"hnc.x-k8s.io/inherited-from":"leaf"}}}`) },
		"forged": func() {
			c.role("leaf", "b", "steal")
			c.do("PATCH", rbac+"/namespaces/leaf/roles/b", `{"metadata":{"labels":{"hnc.x-k8s.io/inherited-from":"root"}}}`)
		},
	} {
		meddle()
		c.eventually("roles of leaf after one was "+name, right, func() string { return c.roles("leaf") })
	}
}

func TestALocalObjectInTheWayIsOverwrittenAndBothSidesAreTold(t *testing.T) {
	c := newCluster(t)
	c.namespace("root")
	c.namespace("leaf")
	c.role("leaf", "a", "list")
	c.parent("leaf", "root")
	c.start()
	c.role("root", "a", "get")
	c.eventuallyRoles("leaf", "a=get<root")
	told := c.told("Warning ObjectOverwritten", 2)
	if len(told) != 2 || !strings.HasPrefix(told[0], "Warning ObjectOverwritten Has overwritten") ||
		!strings.HasPrefix(told[1], "Warning ObjectOverwritten Overwritten by") {
		t.Errorf("events %q", told)
	}
}

func TestARefusedCopyIsReportedAndTriedLessAndLessOften(t *testing.T) {
	c := newCluster(t)
	c.namespace("root")
	c.namespace("leaf")
	c.role("root", "a", "get")
	c.role("root", "b", "get")
	c.parent("leaf", "root")
	var tries atomic.Int32
	c.refuse = func(method, path string) *metav1.Status {
		if method == "POST" && strings.HasSuffix(path, "/namespaces/leaf/roles") && tries.Add(1) < 6 {
			return failure(http.StatusForbidden, metav1.StatusReasonForbidden)
		}
		return nil
	}
	start := time.Now()
	c.start()
	c.eventuallyRoles("leaf", "a=get<root b=get<root")
	// Two at a time, so the third round succeeds: it comes after 5 and 10 ms at the earliest.
	if d := time.Since(start); d < 15*time.Millisecond {
		t.Errorf("tried again and again within %v", d)
	}
	c.stop()
	close(c.events.Events)
	var events []string
	for e := range c.events.Events {
		events = append(events, strings.Join(strings.Fields(e)[:2], " "))
	}
	for _, want := range []string{"Warning CannotUpdateObject", "Warning CannotPropagateObject"} {
		if !slices.Contains(events, want) {
			t.Errorf("no event %q in %v", want, events)
		}
	}
}
