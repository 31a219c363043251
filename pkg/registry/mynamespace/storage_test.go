package mynamespace

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/registry/inflight"
)

func namespace(name string, labels map[string]string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: labels}}
}

// served returns the storage with two namespaces, the first of which is visible to ann, and ann's context.
func served(t *testing.T) (*REST, context.Context) {
	t.Helper()
	p := newTestCache()
	p.setNamespace(namespace("a", nil))
	p.setNamespace(namespace("b", nil))
	p.bind("a", "x", namespaceReader, ann)
	return New(p, inflight.NewResponses()), genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: "ann"})
}

func list(ctx context.Context, t *testing.T, r *REST, options metainternalversion.ListOptions) (names, version string) {
	t.Helper()
	obj, err := r.List(ctx, &options)
	if err != nil {
		t.Fatal(err)
	}
	l := obj.(*hnc.MyNamespaceList)
	for i := range l.Items {
		names += l.Items[i].Name
	}
	return names, l.ResourceVersion
}

// next returns the next event, as its type, name and version.
func next(t *testing.T, w watch.Interface) (watch.EventType, *hnc.MyNamespace) {
	t.Helper()
	select {
	case event, ok := <-w.ResultChan():
		if !ok {
			t.Fatal("the watch has ended")
		}
		o, _ := event.Object.(*hnc.MyNamespace)
		return event.Type, o
	case <-time.After(10 * time.Second):
		t.Fatal("nothing happens")
	}
	return "", nil
}

func TestWatchResumesFromList(t *testing.T) {
	r, ctx := served(t)
	names, version := list(ctx, t, r, metainternalversion.ListOptions{})
	if names != "a" {
		t.Fatalf("got %q", names)
	}
	r.cache.bind("b", "x", namespaceReader, ann)
	r.cache.unbind("a", "x")
	w, err := r.Watch(ctx, &metainternalversion.ListOptions{ResourceVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for _, want := range []string{"ADDED b", "DELETED a"} {
		if what, o := next(t, w); string(what)+" "+o.Name != want {
			t.Errorf("got %s %s, want %s", what, o.Name, want)
		}
	}
	r.cache.setNamespace(namespace("b", map[string]string{"color": "red"}))
	if what, o := next(t, w); what != watch.Modified || o.Labels["color"] != "red" {
		t.Errorf("got %s %v", what, o)
	}
}

func TestWatchSendsInitialEvents(t *testing.T) {
	r, ctx := served(t)
	yes, no := true, false
	for what, options := range map[string]metainternalversion.ListOptions{
		"without a version": {},
		"any version":       {ResourceVersion: "0"},
		"a streamed list":   {SendInitialEvents: &yes, AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan},
	} {
		w, err := r.Watch(ctx, &options)
		if err != nil {
			t.Fatal(err)
		}
		if what2, o := next(t, w); what2 != watch.Added || o.Name != "a" {
			t.Errorf("%s: got %s %v", what, what2, o)
		}
		if options.SendInitialEvents != nil {
			_, version := list(ctx, t, r, metainternalversion.ListOptions{})
			if what2, o := next(t, w); what2 != watch.Bookmark || o.Annotations[metav1.InitialEventsAnnotationKey] != "true" || o.ResourceVersion != version {
				t.Errorf("%s: got %s %v", what, what2, o)
			}
		}
		w.Stop()
	}
	w, err := r.Watch(ctx, &metainternalversion.ListOptions{SendInitialEvents: &no})
	if err != nil {
		t.Fatal(err)
	}
	r.cache.bind("b", "x", namespaceReader, ann)
	if what, o := next(t, w); what != watch.Added || o.Name != "b" {
		t.Errorf("without initial events: got %s %v", what, o)
	}
	w.Stop()
	for range w.ResultChan() {
		// it must end
	}
}

func TestOnlyOwnVersionsAreValid(t *testing.T) {
	r, ctx := served(t)
	_, old := list(ctx, t, r, metainternalversion.ListOptions{})
	r.cache.bind("b", "x", namespaceReader, ann)
	_, now := list(ctx, t, r, metainternalversion.ListOptions{})
	another, _ := served(t)
	_, foreign := list(ctx, t, another, metainternalversion.ListOptions{})
	exact := metav1.ResourceVersionMatchExact
	for _, test := range []struct {
		what string
		metainternalversion.ListOptions
		list, watch func(error) bool
	}{
		{"its own", metainternalversion.ListOptions{ResourceVersion: old}, nil, nil},
		{"the latest", metainternalversion.ListOptions{ResourceVersion: now, ResourceVersionMatch: exact}, nil, nil},
		{"exactly an old one", metainternalversion.ListOptions{ResourceVersion: old, ResourceVersionMatch: exact}, apierrors.IsResourceExpired, nil},
		{"another's", metainternalversion.ListOptions{ResourceVersion: foreign}, apierrors.IsResourceExpired, apierrors.IsResourceExpired},
		{"next to its own", metainternalversion.ListOptions{ResourceVersion: now + "1"}, apierrors.IsBadRequest, apierrors.IsBadRequest},
		{"an invented one", metainternalversion.ListOptions{ResourceVersion: "17"}, apierrors.IsResourceExpired, apierrors.IsResourceExpired},
		{"none at all", metainternalversion.ListOptions{ResourceVersion: "x"}, apierrors.IsBadRequest, apierrors.IsBadRequest},
		{"a continued list", metainternalversion.ListOptions{Continue: "x"}, apierrors.IsResourceExpired, nil},
	} {
		_, err := r.List(ctx, &test.ListOptions)
		if (err == nil) != (test.list == nil) || err != nil && !test.list(err) {
			t.Errorf("list, %s: %v", test.what, err)
		}
		w, err := r.Watch(ctx, &test.ListOptions)
		if (err == nil) != (test.watch == nil) || err != nil && !test.watch(err) {
			t.Errorf("watch, %s: %v", test.what, err)
		}
		if err == nil {
			w.Stop()
		}
	}
}

// A watcher that is too slow must list again.
func TestExpiredVersionEndsTheWatch(t *testing.T) {
	r, ctx := served(t)
	_, version := list(ctx, t, r, metainternalversion.ListOptions{})
	w, err := r.Watch(ctx, &metainternalversion.ListOptions{ResourceVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	r.cache.update(func() {
		for range 2*maxChanges + 1 {
			r.cache.record(change{namespace: "c"})
		}
	})
	select {
	case event := <-w.ResultChan():
		if err := apierrors.FromObject(event.Object); event.Type != watch.Error || !apierrors.IsResourceExpired(err) {
			t.Errorf("got %s, %v", event.Type, err)
		}
	case <-time.After(10 * time.Second):
		t.Error("nothing happens")
	}
	if _, err := r.Watch(ctx, &metainternalversion.ListOptions{ResourceVersion: version}); !apierrors.IsResourceExpired(err) {
		t.Errorf("watching further: %v", err)
	}
	if n := len(r.cache.history.changes); n > 2*maxChanges {
		t.Errorf("%d changes are remembered", n)
	}
}

func TestRequestsWaitForTheCache(t *testing.T) {
	ctx, cancel := context.WithCancel(genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: "ann"}))
	cancel()
	r := New(NewCache(), inflight.NewResponses())
	if _, err := r.List(ctx, nil); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("got %v", err)
	}
	if _, err := r.Get(ctx, "a", nil); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("got %v", err)
	}
}

func TestPositionFollowsTreeLabels(t *testing.T) {
	tree := func(depths ...string) map[string]string {
		labels := map[string]string{}
		for _, d := range depths {
			name, depth, _ := strings.Cut(d, "=")
			labels[hnc.TreeLabel(name)] = depth
		}
		return labels
	}
	for _, test := range []struct {
		labels   map[string]string
		abstract string
		want     hnc.MyNamespaceStatus
	}{
		{nil, "", hnc.MyNamespaceStatus{Root: "n"}},
		{tree("n=0"), "", hnc.MyNamespaceStatus{Root: "n"}},
		{tree("n=0", "p=1"), "", hnc.MyNamespaceStatus{Root: "p", Parent: "p", Depth: 1}},
		{tree("n=0", "p=1", "r=2"), "", hnc.MyNamespaceStatus{Root: "r", Parent: "p", Depth: 2}},
		{tree("n=0", "p=-1", "r=x", "s="), "", hnc.MyNamespaceStatus{Root: "n"}},
		{tree("n=0", "eng=1", "top=2"), "eng.top", hnc.MyNamespaceStatus{Root: "n"}},
		{tree("n=0", "p=1", "eng=2", "top=3"), "eng.top", hnc.MyNamespaceStatus{Root: "p", Parent: "p", Depth: 1}},
	} {
		test.want.Kind = hnc.NamespaceFull
		ns := namespace("n", test.labels)
		ns.Annotations = map[string]string{hnc.AnnotationAbstractAncestors: test.abstract}
		if got := newObject(ns).Status; got != test.want {
			t.Errorf("%v: got %v, want %v", test.labels, got, test.want)
		}
	}
}
