package propagation

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

func TestNothingIsWrittenBeforeTheHierarchiesAreListed(t *testing.T) {
	c := newTree(t)
	c.role("root", "a", "get")
	c.role("leaf", "forged", "get")
	c.mark("roles", "leaf", "forged", hnc.LabelInheritedFrom, c.full("root"))
	var down atomic.Bool
	var requests atomic.Int32
	down.Store(true)
	c.setRefuse(func(r *http.Request) *metav1.Status {
		if down.Load() && strings.HasPrefix(r.URL.Path, "/apis/hnc.x-k8s.io/v1beta1/") {
			requests.Add(1)
			return unavailable()
		}
		return nil
	})
	c.start()
	c.eventually("all have failed", "true", func() string { return fmt.Sprint(requests.Load() > 4) })
	if writes := c.written(); len(writes) > 0 {
		t.Errorf("written: %v", writes)
	}
	down.Store(false)
	c.eventuallyObjects("roles", "leaf", "a=get<root")
}

func TestListMakesUpForALostWatch(t *testing.T) {
	c := newCluster(t)
	c.namespaces("root", "leaf root", "sub-root", "orphan sub-root")
	c.role("sub-root", "a", "get")
	c.role("root", "a", "get")
	c.role("root", "b", "get")
	c.start()
	c.subnamespaces("root", "sub")
	c.eventuallyReady("root", "sub")
	c.eventuallyObjects("roles", "leaf", "a=get<root b=get<root")
	c.eventuallyObjects("roles", "orphan", "a=get<sub-root")
	// All watches end, and their versions are too old when they could be watched again.
	c.setHold(isWatch)
	c.endWatches()
	c.remove("roles", "root", "a")
	c.role("root", "b", "list")
	c.remove("namespaces", "", c.full("sub-root"))
	c.remove("hierarchies", "leaf", hnc.Singleton)
	c.eventually("sub-root is gone", "", func() string { return c.get("namespaces", "", c.full("sub-root")).GetName() })
	var expired, listed sync.Map
	c.setRefuse(func(r *http.Request) *metav1.Status {
		if r.Method != http.MethodGet {
			return nil
		}
		if !isWatch(r) || r.URL.Query().Get("sendInitialEvents") == "true" {
			listed.Store(r.URL.Path, true)
		} else if _, known := expired.LoadOrStore(r.URL.Path, true); !known {
			return failure(http.StatusGone, metav1.StatusReasonExpired, "too old")
		}
		return nil
	})
	c.setHold(nil)
	c.eventuallyObjects("roles", "leaf", "")
	c.eventuallyObjects("roles", "sub", "b=list<root")
	c.eventuallyLabel("orphan", hnc.TreeLabel(c.full("sub-root")), "")
	for _, path := range []string{"/api/v1/namespaces", ours + "/hierarchies"} {
		if _, ok := listed.Load(path); !ok {
			t.Errorf("%s was not listed", path)
		}
	}
}

func TestFanOutInOneTreeDoesNotDelayAChangeInAnother(t *testing.T) {
	const many = 60
	c := newCluster(t)
	c.namespaces("big", "small", "small-below small")
	parallel(many, func(i int) {
		name := c.full(fmt.Sprintf("big-%d", i))
		if err := c.try("namespaces", "", name, nil); err != nil {
			t.Error(err)
		}
		c.parent(fmt.Sprintf("big-%d", i), "big")
	})
	c.start()
	parallel(many, func(i int) { c.eventuallyLabel(fmt.Sprintf("big-%d", i), hnc.TreeLabel(c.full("big")), "1") })
	c.eventually("waiting work", "0", func() string { return fmt.Sprint(c.queued()) })

	c.setHold(func(r *http.Request) bool {
		return r.Method == http.MethodPost && strings.Contains(r.URL.Path, "/namespaces/"+c.full("big-")) && strings.HasSuffix(r.URL.Path, "/roles")
	})
	c.role("big", "fan-out", "get")
	c.eventually("writes that are held", fmt.Sprint(workers), func() string { return fmt.Sprint(c.held()) })
	before := c.queued()
	if before < many/2 {
		t.Fatalf("only %d copies wait", before)
	}
	c.role("small", "change", "get")
	c.eventually("the change waits", "true", func() string { return fmt.Sprint(c.queued() > before) })
	c.written()
	c.setHold(nil)
	c.eventuallyObjects("roles", "small-below", "change=get<small")
	c.eventuallyObjects("roles", fmt.Sprintf("big-%d", many-1), "fan-out=get<big")

	earlier := 0
	for _, w := range c.written() {
		if strings.HasPrefix(w, "POST "+rbac+"/namespaces/small-below") {
			break
		}
		earlier++
	}
	// It is the next but one, but other workers go on until one has found that it is to be written.
	if earlier > before/2 {
		t.Errorf("%d writes came before that of the other tree, with %d waiting", earlier, before)
	}
	parallel(many, func(i int) { c.remove("namespaces", "", c.full(fmt.Sprintf("big-%d", i))) })
}
