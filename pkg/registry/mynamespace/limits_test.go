package mynamespace

import (
	"context"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/inflight"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/mynamespace/rbacindex"
)

// A list as Table is one buffer, in which each namespace has all of its labels.
func TestLargeListsInFlightAreLimited(t *testing.T) {
	p := newTestCache()
	large := map[string]string{}
	for i := range 1000 {
		large[strings.Repeat("k", 20)+strconv.Itoa(i)] = strings.Repeat("v", 40)
	}
	for i := range 100 {
		name := "a" + strconv.Itoa(i)
		p.setNamespace(namespace(name, large))
		p.bind(name, "x", namespaceReader, ann)
	}
	r := New(p, inflight.NewResponses())
	list := func(ctx context.Context) error {
		_, err := r.List(genericapirequest.WithUser(ctx, &user.DefaultInfo{Name: "ann"}), &metainternalversion.ListOptions{})
		return err
	}
	ctx, cancel := context.WithCancel(t.Context())
	for i := range 5 {
		if err := list(ctx); err != nil {
			t.Fatalf("list %d: %v", i, err)
		}
	}
	if err := list(t.Context()); !apierrors.IsTooManyRequests(err) || !strings.Contains(err.Error(), "bytes of large responses") {
		t.Errorf("one list more: %v", err)
	}
	cancel()
	for end := time.Now().Add(10 * time.Second); list(t.Context()) != nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a list after others are written is rejected")
		}
	}
}

// Tenants choose labels, also of namespaces that administrators list.
func TestTheLargestLabelsAreLeftOutOfAListThatIsTooLarge(t *testing.T) {
	large := map[string]string{}
	for i := range 1000 {
		large["k"+strconv.Itoa(i)] = strings.Repeat("v", 60)
	}
	items := make([]hnc.MyNamespace, 1200)
	bytes := 0
	for i := range items {
		items[i].Labels = large
		if i%2 == 0 {
			items[i].Labels = map[string]string{"a": strings.Repeat("b", 60)}
			bytes += 61
		}
	}
	if _, omitted := boundLabels(items[:500]); omitted > 0 {
		t.Errorf("the labels of %d of 500 namespaces are left out", omitted)
	}
	if got, omitted := boundLabels(items); got != bytes || omitted != len(items)/2 || len(large) != 1000 {
		t.Errorf("labels of %d bytes stay, and those of %d namespaces are left out", got, omitted)
	}
	for i := range items {
		if (len(items[i].Labels) > 0) != (i%2 == 0) {
			t.Fatalf("namespace %d has %d labels", i, len(items[i].Labels))
		}
	}
}

// A Role is copied to a whole subtree, with any number of names.
func TestARoleKeepsItsOwnNamespaceOnly(t *testing.T) {
	names := []string{"a"}
	for i := range 1000 {
		names = append(names, "b"+strconv.Itoa(i))
	}
	rule := rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"namespaces"}, ResourceNames: names}
	rules := []rbacv1.PolicyRule{rule, rule}
	c := NewCache()
	for _, test := range []struct {
		role runtime.Object
		want int
	}{
		{&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "r"}, Rules: rules}, 1},
		{&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: "c", Name: "r"}, Rules: rules}, 0},
		{&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "r"}, Rules: rules}, 1001},
	} {
		r, err := c.roles("roles", false, test.role).record(test.role)
		if err != nil || len(r.Grant.Names) != test.want || test.want == 1 && (r.Grant.Names[0] != "a" || cap(r.Grant.Names) > 1) {
			t.Errorf("%T in %q: %d names, %v", test.role, r.Namespace, len(r.Grant.Names), err)
		}
	}
}

func TestWatchesOfOneUserAreLimited(t *testing.T) {
	r, ctx := served(t)
	open := func(ctx context.Context) (watch.Interface, error) {
		return r.Watch(ctx, &metainternalversion.ListOptions{})
	}
	var first watch.Interface
	for range limits.PerUser {
		w, err := open(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		first = w
	}
	_, err := open(ctx)
	if seconds, wait := apierrors.SuggestsClientDelay(err); !apierrors.IsTooManyRequests(err) || !wait || seconds != retryAfter {
		t.Errorf("one watch more: %v", err)
	}
	other, err := open(genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: "ben"}))
	if err != nil {
		t.Fatalf("somebody else: %v", err)
	}
	defer other.Stop()
	first.Stop()
	for range first.ResultChan() {
		// it must end
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		w, err := open(ctx)
		if err == nil {
			w.Stop()
			return
		}
		if time.Now().After(end) {
			t.Fatalf("after one has ended: %v", err)
		}
	}
}

// A change of a role changes all namespaces at once.
func TestWatchesThatAreNotReadKeepNoObjects(t *testing.T) {
	const watches, namespaces = 20, 5000
	r, ctx := served(t)
	for i := range namespaces {
		r.cache.setNamespace(namespace("n"+strconv.Itoa(i), nil))
	}
	heap := func() uint64 {
		goruntime.GC()
		var m goruntime.MemStats
		goruntime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	var unread []watch.Interface
	for range watches {
		w, err := r.Watch(ctx, &metainternalversion.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		next(t, w)
		unread = append(unread, w)
	}
	r.cache.bind("", "all", namespaceReader, ann)
	for end := time.Now().Add(10 * time.Second); slices.ContainsFunc(unread, func(w watch.Interface) bool { return len(w.ResultChan()) < cap(w.ResultChan()) }); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the watches send nothing")
		}
	}
	if used := int64(heap() - before); used > watches*namespaces*150 {
		t.Errorf("%d watches of %d namespaces keep %d bytes for each event", watches, namespaces, used/(watches*namespaces))
	}
}

func TestAWatchThatFailsIsNotCounted(t *testing.T) {
	r, ctx := served(t)
	for range limits.PerUser + 1 {
		if _, err := r.Watch(ctx, &metainternalversion.ListOptions{ResourceVersion: "1"}); !apierrors.IsResourceExpired(err) {
			t.Fatalf("got %v", err)
		}
	}
}

func TestHistoryIsLimitedInBytes(t *testing.T) {
	subjects, labels := make(subjectSet, 1<<17), map[string]string{"a": strings.Repeat("y", 1<<20)}
	for what, large := range map[string]change{
		"subjects of a binding": {namespace: "a", subjects: subjects},
		"labels of a namespace": {namespace: "a", before: &hnc.MyNamespace{ObjectMeta: metav1.ObjectMeta{Labels: labels}}},
	} {
		var h history
		h.reset()
		first := h.latest()
		var versions []int64
		for range 10 * maxBytes >> 20 {
			versions = append(versions, h.add(large))
			if n := len(h.changes); n > maxBytes>>20 || h.bytes > maxBytes {
				t.Fatalf("%s: %d changes, %d bytes", what, n, h.bytes)
			}
		}
		if _, known := h.since(first); known {
			t.Errorf("%s: a version before the recorded ones is known", what)
		}
		if after, known := h.since(versions[len(versions)-10]); !known || len(after) != 9 {
			t.Errorf("%s: %d changes after the tenth to last, known %t", what, len(after), known)
		}
		// Usual changes are not affected.
		h.reset()
		first = h.latest()
		for range maxChanges {
			h.add(change{namespace: "team-a", subjects: make(subjectSet, 3)})
		}
		if after, known := h.since(first); !known || len(after) != maxChanges {
			t.Errorf("%d of %d usual changes are recorded", len(after), maxChanges)
		}
	}
}

// A role that is changed often concerns hundreds of thousands of subjects. Watches of others go on.
func TestChangesOfARoleEndNoWatchOfOthers(t *testing.T) {
	r, ctx := served(t)
	for i := range 9 {
		subjects := make([]rbacindex.Subject, 15_000)
		for j := range subjects {
			subjects[j].Name = strconv.Itoa(i*len(subjects) + j)
		}
		r.cache.bind("b", strconv.Itoa(i), changingRole, subjects...)
	}
	_, version := list(ctx, t, r, metainternalversion.ListOptions{})
	for i := range 5 {
		r.cache.update(func() { r.cache.access.SetRole(changingRole, rbacindex.Grant{All: i%2 == 0}) })
	}
	w, err := r.Watch(ctx, &metainternalversion.ListOptions{ResourceVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	r.cache.bind("b", "x", namespaceReader, ann)
	if what, o := next(t, w); what != watch.Added || o == nil || o.Name != "b" {
		t.Errorf("got %s %v", what, o)
	}
}

// A watch with a long selector that continues after many changes would make others wait.
func TestComparisonsOfAWatchAreBounded(t *testing.T) {
	r, ctx := served(t)
	first := r.cache.history.latest()
	for range maxSelectorCost/1000 + 1 {
		r.cache.history.add(change{namespace: "team-a", before: &hnc.MyNamespace{}})
	}
	r.cache.bind("b", "x", namespaceReader, ann)
	for values, want := range map[int]watch.EventType{9: watch.Added, 999: watch.Error} {
		var excluded []string
		for i := range values {
			excluded = append(excluded, strconv.Itoa(i))
		}
		requirement, err := labels.NewRequirement("key", selection.NotIn, excluded)
		if err != nil {
			t.Fatal(err)
		}
		w, err := r.Watch(ctx, &metainternalversion.ListOptions{ResourceVersion: format(first), LabelSelector: labels.NewSelector().Add(*requirement)})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		event := <-w.ResultChan()
		err = apierrors.FromObject(event.Object)
		if event.Type != want || want == watch.Error && (!apierrors.IsResourceExpired(err) || !strings.Contains(err.Error(), "the selectors have 1000 keys and values")) {
			t.Errorf("a selector of a key and %d values: got %s, %v", values, event.Type, err)
		}
	}
}
