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

func TestNothingIsDecidedBeforeTheHierarchiesAreKnown(t *testing.T) {
	c := newCluster(t)
	c.namespace("root")
	c.namespace("leaf")
	c.role("root", "a", "get")
	c.role("leaf", "stray", "get")
	c.do("PATCH", rbac+"/namespaces/leaf/roles/stray", `{"metadata":{"labels":{"hnc.x-k8s.io/inherited-from":"root"}}}`)
	c.parent("leaf", "root")
	var down atomic.Bool
	var asked atomic.Int32
	down.Store(true)
	c.refuse = func(_, path string) *metav1.Status {
		if down.Load() && strings.Contains(path, "hnc.x-k8s.io") {
			asked.Add(1)
			return failure(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable)
		}
		return nil
	}
	c.takeWrites()
	c.start()
	c.eventually("it has asked twice", "true", func() string { return fmt.Sprint(asked.Load() > 4) })
	if writes := c.takeWrites(); len(writes) > 0 {
		t.Errorf("written: %v", writes)
	}
	down.Store(false)
	c.eventuallyRoles("leaf", "a=get<root")
}

func TestALostWatchIsMadeUpForByAList(t *testing.T) {
	c := newCluster(t)
	for _, name := range []string{"root", "leaf", "other", "orphan", "sub-root"} {
		c.namespace(name)
	}
	c.parent("leaf", "root")
	c.parent("orphan", "sub-root")
	c.role("sub-root", "a", "get")
	c.role("root", "a", "get")
	c.role("root", "b", "get")
	c.start()
	c.subnamespace("root", "sub")
	c.eventually("subnamespace", readyOk, func() string { return c.ready("root", "sub") })
	c.eventuallyRoles("leaf", "a=get<root b=get<root")
	c.eventuallyRoles("orphan", "a=get<sub-root")
	c.mu.Lock()
	c.write("DELETE", location{"roles", "root", "a"}, false, nil)
	c.write("PATCH", location{"roles", "root", "b"}, false, []byte(`{"rules":[{"verbs":["list"]}]}`))
	c.write("DELETE", location{"namespaces", "", "sub-root"}, false, nil)
	c.write("DELETE", location{"hierarchies", "leaf", hnc.Singleton}, false, nil)
	c.store("DELETED", location{"subnamespaces", "root", "sub"}, c.objects[location{"subnamespaces", "root", "sub"}].DeepCopy())
	c.lose()
	c.mu.Unlock()
	c.eventuallyRoles("leaf", "")
	c.eventuallyRoles("sub", "b=list<root")
	label := func(namespace, key, want string) {
		t.Helper()
		c.eventually(key+" of "+namespace, want, func() string { return c.get("namespaces", "", namespace).GetLabels()[key] })
	}
	label("orphan", hnc.TreeLabel("sub-root"), "")
	label("sub", hnc.LabelOrphaned, "true")
}

func TestAServerThatHasLostItsHistoryIsBelieved(t *testing.T) {
	c := newCluster(t)
	c.namespace("root")
	c.namespace("leaf")
	c.role("root", "a", "get")
	c.parent("leaf", "root")
	c.mu.Lock()
	c.version += 1000
	c.mu.Unlock()
	c.start()
	c.role("root", "b", "get")
	c.eventuallyRoles("leaf", "a=get<root b=get<root")
	c.mu.Lock()
	c.version -= 990
	delete(c.objects, location{"roles", "root", "b"})
	for l, o := range c.objects {
		o = o.DeepCopy()
		o.SetResourceVersion("5")
		c.objects[l] = o
	}
	c.lose()
	c.mu.Unlock()
	c.role("root", "c", "get")
	c.eventuallyRoles("leaf", "a=get<root c=get<root")
}

func TestWatchesGoOnWhereTheyWereWhenTheServerComesBack(t *testing.T) {
	c := newCluster(t)
	for _, name := range []string{hnc.SystemNamespace, "root", "other", "leaf"} {
		c.namespace(name)
	}
	c.parent("leaf", "root")
	var down atomic.Bool
	var asked, listed atomic.Int32
	c.refuse = func(method, path string) *metav1.Status {
		switch {
		case method != http.MethodGet:
		case strings.HasSuffix(path, "/hncconfigurations") && down.Load():
			asked.Add(1)
			return failure(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable)
		case strings.HasSuffix(path, "/v1beta1/hierarchies"):
			listed.Add(1)
		}
		return nil
	}
	below := func(parent string) {
		t.Helper()
		c.eventually("depth below "+parent, "1", func() string { return c.get("namespaces", "", "leaf").GetLabels()[hnc.TreeLabel(parent)] })
	}
	c.start()
	below("root")
	// A watch that has brought nothing is not taken up again.
	c.parent("leaf", "other")
	below("other")
	before := listed.Load()
	down.Store(true)
	c.mu.Lock()
	c.ended++
	c.changed.Broadcast()
	c.mu.Unlock()
	c.parent("leaf", "root")
	c.eventually("it has asked", "true", func() string { return fmt.Sprint(asked.Load() > 3) })
	down.Store(false)
	below("root")
	if n := listed.Load() - before; n > 0 {
		t.Errorf("all hierarchies were listed %d times", n)
	}
}

// A store that was restored from a backup would be watched from a version that it reaches much later.
func TestAStoreThatComesBackAtAnEarlierVersionIsListed(t *testing.T) {
	c := newCluster(t)
	c.version = 1000 // Writes that are still under way when the version goes back must not catch up with it.
	for _, name := range []string{hnc.SystemNamespace, "root", "other", "leaf"} {
		c.namespace(name)
	}
	c.parent("leaf", "root")
	var down atomic.Bool
	var asked, listed atomic.Int32
	c.refuse = func(method, path string) *metav1.Status {
		switch {
		case method != http.MethodGet:
		case strings.HasSuffix(path, "/hncconfigurations") && down.Load():
			asked.Add(1)
			return failure(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable)
		case strings.HasSuffix(path, "/v1beta1/hierarchies"):
			listed.Add(1)
		}
		return nil
	}
	c.start()
	// A watch that has brought nothing is not taken up again.
	c.parent("leaf", "other")
	c.eventually("depth below other", "1", func() string { return c.get("namespaces", "", "leaf").GetLabels()[hnc.TreeLabel("other")] })
	before := listed.Load()
	down.Store(true)
	c.mu.Lock()
	c.version = 1
	c.ended++
	c.changed.Broadcast()
	c.mu.Unlock()
	c.eventually("it has asked", "true", func() string { return fmt.Sprint(asked.Load() > 3) })
	down.Store(false)
	c.eventually("it has listed", "true", func() string { return fmt.Sprint(listed.Load() > before) })
}
