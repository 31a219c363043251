package propagation

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

func TestCopiesThatNoLongerApplyAreRemovedBeforeAnyIsWritten(t *testing.T) {
	c := newCluster(t)
	c.namespaces("old", "new", "leaf old")
	parallel(10, func(i int) {
		c.role("old", fmt.Sprintf("old-%d", i), "get")
		c.role("new", fmt.Sprintf("new-%d", i), "get")
	})
	c.start()
	c.eventually("copies", "10", func() string { return fmt.Sprint(strings.Count(c.objects("roles", "leaf"), "<old")) })
	c.written()
	c.parent("leaf", "new")
	c.eventually("copies", "10", func() string { return fmt.Sprint(strings.Count(c.objects("roles", "leaf"), "<new")) })
	created := false
	for _, w := range c.written() {
		switch {
		case strings.HasPrefix(w, "POST "+rbac+"/namespaces/leaf"):
			created = true
		case strings.HasPrefix(w, "DELETE "+rbac+"/namespaces/leaf") && created:
			t.Fatal("removed after one was written")
		}
	}
	if got := strings.Count(c.objects("roles", "leaf"), "<old"); got != 0 {
		t.Errorf("%d old copies are left", got)
	}
}

func TestChangedCopiesAreRestored(t *testing.T) {
	c := newTree(t)
	c.role("root", "a", "get")
	c.start()
	const want = "a=get<root"
	c.eventuallyObjects("roles", "leaf", want)
	for name, change := range map[string]func(){
		"edited":      func() { c.role("leaf", "a", "steal") },
		"deleted":     func() { c.remove("roles", "leaf", "a") },
		"taken over":  func() { c.mark("roles", "leaf", "a", hnc.LabelInheritedFrom, nil) },
		"misdirected": func() { c.mark("roles", "leaf", "a", hnc.LabelInheritedFrom, c.full("leaf")) },
		"forged": func() {
			c.role("leaf", "b", "steal")
			c.mark("roles", "leaf", "b", hnc.LabelInheritedFrom, c.full("root"))
		},
	} {
		change()
		c.eventually("roles of leaf after one was "+name, want, func() string { return c.objects("roles", "leaf") })
	}
}

func TestLocalObjectIsOverwrittenAndBothSidesGetAnEvent(t *testing.T) {
	c := newTree(t)
	c.role("leaf", "a", "list")
	c.start()
	c.role("root", "a", "get")
	c.eventuallyObjects("roles", "leaf", "a=get<root")
	events := c.recorded("Warning ObjectOverwritten", 2)
	if len(events) != 2 || !strings.HasPrefix(events[0], "Warning ObjectOverwritten Has overwritten") ||
		!strings.HasPrefix(events[1], "Warning ObjectOverwritten Overwritten by") {
		t.Errorf("events %q", events)
	}
}

func TestRejectedCopyIsReportedAndRetriedLessAndLessOften(t *testing.T) {
	c := newTree(t)
	c.role("root", "a", "get")
	c.role("root", "b", "get")
	var tries atomic.Int32
	c.setRefuse(func(r *http.Request) *metav1.Status {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/namespaces/"+c.full("leaf")+"/roles") && tries.Add(1) < 6 {
			return failure(http.StatusForbidden, metav1.StatusReasonForbidden, "forbidden")
		}
		return nil
	})
	start := time.Now()
	c.start()
	c.eventuallyObjects("roles", "leaf", "a=get<root b=get<root")
	// Two at a time, so the third round succeeds: it comes after 5 and 10 ms at the earliest.
	if d := time.Since(start); d < 15*time.Millisecond {
		t.Errorf("retried without a back-off, within %v", d)
	}
	events := c.recorded("", 2)
	for _, want := range []string{"Warning CannotUpdateObject", "Warning CannotPropagateObject"} {
		if !slices.ContainsFunc(events, func(e string) bool { return strings.HasPrefix(e, want) }) {
			t.Errorf("no event %q in %v", want, events)
		}
	}
}

func TestLocalObjectIsKeptWhereTheConfigurationSaysSo(t *testing.T) {
	c := newTree(t)
	c.namespaces("below leaf")
	c.configure("widgets.example.com Propagate Keep")
	c.put("widgets", "leaf", "a", "local")
	c.start()
	c.put("widgets", "root", "a", "1")
	c.put("widgets", "root", "b", "1")
	c.eventuallyObjects("widgets", "below", "a=1<root b=1<root")
	c.eventuallyObjects("widgets", "leaf", "a=local b=1<root")
	c.put("widgets", "leaf", "a", "still")
	c.put("widgets", "root", "a", "2")
	c.eventuallyObjects("widgets", "below", "a=2<root b=1<root")
	c.eventuallyObjects("widgets", "leaf", "a=still b=1<root")
	// Without the local object there is a copy.
	c.remove("widgets", "leaf", "a")
	c.eventuallyObjects("widgets", "leaf", "a=2<root b=1<root")
	events := c.recorded("Warning ObjectKept", 2)
	if len(events) != 2 || !strings.Contains(events[0], "Kept, although") || !strings.Contains(events[1], "Not propagated to") {
		t.Errorf("events %q", events)
	}
}

func TestCopiesThatFinalizersKeepAreReportedUntilTheyAreGone(t *testing.T) {
	c := newTree(t)
	c.configure("secrets Propagate")
	c.put("secrets", "root", "a", "1")
	c.put("secrets", "root", "b", "1")
	c.put("secrets", "leaf", "own", "1")
	c.start()
	c.eventuallyObjects("secrets", "leaf", "a=1<root b=1<root own=1")
	// held returns the objects that the condition names, after the common text.
	held := func() string {
		_, list, _ := strings.Cut(c.condition("leaf", hnc.ConditionOutOfSync), "keep them: ")
		list, _, _ = strings.Cut(list, ";")
		return list
	}
	const hold = "example.com/hold"
	terminate := func(name string) {
		t.Helper()
		c.finalizers("secrets", "leaf", name, hold)
		c.remove("secrets", "leaf", name)
	}
	for _, name := range []string{"a", "b", "own"} {
		terminate(name)
	}
	c.eventually("condition", `secrets "a", secrets "b"`, held)
	// A restart reports the same.
	c.stop()
	c.finalizers("secrets", "leaf", "a")
	c.start()
	c.eventually("condition", hnc.ReasonFinalizersRemain+
		`: copies in namespace "leaf" no longer apply, but finalizers keep them: secrets "b"; clear metadata.finalizers of these objects`,
		func() string { return c.condition("leaf", hnc.ConditionOutOfSync) })
	c.finalizers("secrets", "leaf", "b")
	c.eventually("condition", "", held)
	c.finalizers("secrets", "leaf", "own")
	c.eventuallyObjects("secrets", "leaf", "a=1<root b=1<root")

	// So are copies that the propagator deletes.
	c.finalizers("secrets", "leaf", "b", hold)
	c.remove("secrets", "root", "b")
	c.eventually("condition", `secrets "b"`, held)
	c.finalizers("secrets", "leaf", "b")
	c.eventually("condition", "", held)

	// A kind that is not watched any more is not reported.
	terminate("a")
	c.eventually("condition", `secrets "a"`, held)
	c.configure("secrets Ignore")
	c.eventually("condition", "", held)
	c.finalizers("secrets", "leaf", "a")
}
