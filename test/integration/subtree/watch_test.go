package subtree

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// observer is what somebody has learned from a watch.
type observer struct {
	mu      sync.Mutex
	objects map[string]*unstructured.Unstructured
	// log holds the events, as "ADDED namespace/name".
	log []string
	// twice holds what was added while it was there, or received in an older state than before.
	twice    []string
	revision string
	ended    error
}

var errClosed = errors.New("closed")

// follow watches on from a revision, until the test ends.
func (u user) follow(t *testing.T, resource, ns string, options metav1.ListOptions) *observer {
	t.Helper()
	p := &observer{objects: map[string]*unstructured.Unstructured{}}
	w, err := u.Dynamic.Resource(ours(resource)).Namespace(ns).Watch(t.Context(), options)
	must(t, "watch", err)
	t.Cleanup(w.Stop)
	go p.take(w)
	return p
}

func (p *observer) take(w watch.Interface) {
	for event := range w.ResultChan() {
		p.mu.Lock()
		if event.Type == watch.Error {
			p.ended = apierrors.FromObject(event.Object)
			p.mu.Unlock()
			return
		}
		object := event.Object.(*unstructured.Unstructured)
		p.revision = object.GetResourceVersion()
		name := object.GetNamespace() + "/" + object.GetName()
		known := p.objects[name]
		if known != nil && (event.Type == watch.Added || older(object, known)) {
			p.twice = append(p.twice, string(event.Type)+" "+name)
		}
		switch event.Type {
		case watch.Added, watch.Modified:
			p.objects[name] = object
		case watch.Deleted:
			delete(p.objects, name)
		}
		p.log = append(p.log, string(event.Type)+" "+name)
		p.mu.Unlock()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = errClosed
}

// older compares the revisions of two states of an object.
func older(a, b *unstructured.Unstructured) bool {
	order, err := resourceversion.CompareResourceVersion(a.GetResourceVersion(), b.GetResourceVersion())
	return err == nil && order < 0
}

func (p *observer) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended != nil {
		return p.ended.Error()
	}
	return strings.Join(slices.Sorted(maps.Keys(p.objects)), " ")
}

// received returns all events, without bookmarks.
func (p *observer) received() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(slices.DeleteFunc(slices.Clone(p.log), func(s string) bool { return strings.HasPrefix(s, "BOOKMARK") }), ", ")
}

func TestAWatchFollowsTheSubtree(t *testing.T) {
	root, mid, leaf := tree(t, "watch")
	namespace(t, "watch-other", "")
	for _, ns := range []string{root, mid, leaf, "watch-other"} {
		configMap(t, ns, "a")
	}
	reader := person(t, "watch")
	reader.grantAll(t, ask, "list watch configmaps")
	all := "watch-leaf/a watch-mid/a watch-root/a"
	suite.EventuallyEqual(t, "list", all, func() string { return reader.listed(t, "configmaps", root, marked) })

	// Without a revision it begins with what is there.
	fresh := reader.follow(t, "configmaps", root, marked)
	suite.EventuallyEqual(t, "fresh watch", all, fresh.String)
	// With one it says what comes after.
	list, err := reader.Dynamic.Resource(ours("configmaps")).Namespace(root).List(t.Context(), marked)
	must(t, "list", err)
	after := reader.follow(t, "configmaps", root, metav1.ListOptions{LabelSelector: "test", ResourceVersion: list.GetResourceVersion()})
	streaming := true
	streamed := reader.follow(t, "configmaps", root, metav1.ListOptions{
		LabelSelector: "test", SendInitialEvents: &streaming, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true,
	})
	suite.EventuallyEqual(t, "streamed watch", all, streamed.String)

	configMap(t, "watch-other", "b")
	configMap(t, leaf, "b")
	suite.EventuallyEqual(t, "created", "ADDED watch-leaf/b", after.received)
	must(t, "delete", admin.CoreV1().ConfigMaps(leaf).Delete(t.Context(), "b", metav1.DeleteOptions{}))
	suite.EventuallyEqual(t, "deleted", "ADDED watch-leaf/b, DELETED watch-leaf/b", after.received)

	move(t, "watch-other", leaf)
	suite.EventuallyEqual(t, "joined", "ADDED watch-leaf/b, DELETED watch-leaf/b, ADDED watch-other/a, ADDED watch-other/b", after.received)
	configMap(t, "watch-other", "c")
	suite.EventuallyEqual(t, "created", "watch-leaf/a watch-mid/a watch-other/a watch-other/b watch-other/c watch-root/a", fresh.String)

	// A whole branch leaves. What leaves says no more than its name.
	move(t, mid, "")
	suite.EventuallyEqual(t, "left", "watch-root/a", fresh.String)
	suite.EventuallyEqual(t, "left", "watch-root/a", streamed.String)
	configMap(t, leaf, "unseen")
	configMap(t, root, "last")
	suite.EventuallyEqual(t, "left", "watch-root/a watch-root/last", fresh.String)
	if strings.Contains(fresh.received()+after.received()+streamed.received(), "unseen") {
		t.Errorf("a namespace that has left is still watched: %s", fresh.received())
	}
	// A namespace that is deleted leaves too, and one that is made again under its name does not come back.
	move(t, mid, root)
	suite.EventuallyEqual(t, "back", "watch-leaf/a watch-leaf/unseen watch-mid/a watch-other/a watch-other/b watch-other/c watch-root/a watch-root/last", fresh.String)
	must(t, "delete", admin.CoreV1().Namespaces().Delete(t.Context(), "watch-other", metav1.DeleteOptions{}))
	suite.EventuallyEqual(t, "deleted", "watch-leaf/a watch-leaf/unseen watch-mid/a watch-root/a watch-root/last", fresh.String)
}

// depth returns a function that returns the tree label of a namespace for an ancestor.
func depth(t *testing.T, ns, ancestor string) func() string {
	return func() string {
		n, err := admin.CoreV1().Namespaces().Get(t.Context(), ns, metav1.GetOptions{})
		must(t, "namespace", err)
		return n.Labels[ancestor+hnc.LabelTreeSuffix]
	}
}

func TestAWatchKnowsWhatChangedSinceTheList(t *testing.T) {
	root, mid, leaf := tree(t, "since")
	namespace(t, "since-other", "")
	for _, ns := range []string{root, mid, leaf, "since-other"} {
		configMap(t, ns, "a")
	}
	reader := person(t, "since")
	reader.grantAll(t, ask, "list watch configmaps")
	suite.EventuallyEqual(t, "list", "since-leaf/a since-mid/a since-root/a", func() string { return reader.listed(t, "configmaps", root, marked) })
	suite.EventuallyEqual(t, "label", "2", depth(t, leaf, root))
	list, err := reader.Dynamic.Resource(ours("configmaps")).Namespace(root).List(t.Context(), marked)
	must(t, "list", err)
	move(t, leaf, "")
	move(t, "since-other", mid)
	suite.EventuallyEqual(t, "label", "", depth(t, leaf, root))
	suite.EventuallyEqual(t, "label", "2", depth(t, "since-other", root))
	watched := reader.follow(t, "configmaps", root, metav1.ListOptions{LabelSelector: "test", ResourceVersion: list.GetResourceVersion()})
	suite.EventuallyEqual(t, "events", "DELETED since-leaf/a, ADDED since-other/a", watched.received)

	// A user without the permission to know what has left has to list again.
	somebody := person(t, "since-some")
	somebody.grant(t, root, ask, "list watch configmaps")
	suite.EventuallyEqual(t, "list", "since-root/a", func() string { return somebody.listed(t, "configmaps", root, marked) })
	w, err := somebody.Dynamic.Resource(ours("configmaps")).Namespace(root).Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
	if !apierrors.IsResourceExpired(err) {
		t.Errorf("%v %v, want Expired", w, err)
	}
}

// TestAWatchKnowsWhoHasLeftWithoutThePropagator continues watches of a tree that a namespace has left while nobody
// writes labels.
func TestAWatchKnowsWhoHasLeftWithoutThePropagator(t *testing.T) {
	root, _, leaf := tree(t, "away")
	for _, ns := range []string{root, leaf} {
		configMap(t, ns, "a")
	}
	suite.EventuallyEqual(t, "label", "2", depth(t, leaf, root))
	reader, former := person(t, "away"), person(t, "away-former")
	for _, u := range []user{reader, former} {
		u.grant(t, root, ask, "list watch configmaps")
	}
	reader.grant(t, leaf, "list watch configmaps")
	revoke := former.grant(t, leaf, "list watch configmaps")
	since := map[string]metav1.ListOptions{}
	for _, u := range []user{reader, former} {
		suite.EventuallyEqual(t, "list", "away-leaf/a away-root/a", func() string { return u.listed(t, "configmaps", root, marked) })
		list, err := u.Dynamic.Resource(ours("configmaps")).Namespace(root).List(t.Context(), marked)
		must(t, "list", err)
		since[u.Name] = metav1.ListOptions{LabelSelector: "test", ResourceVersion: list.GetResourceVersion()}
	}
	must(t, "stop the propagator", cp.Kill(t.Context(), "hns-propagator"))
	start := sync.OnceFunc(func() {
		must(t, "start the propagator", suite.Start(context.WithoutCancel(t.Context()), cp, installation, suite.Servers()[1]))
	})
	t.Cleanup(start)
	revoke()
	move(t, leaf, "")
	suite.EventuallyEqual(t, "list", "away-root/a", func() string { return former.listed(t, "configmaps", root, marked) })

	watched := reader.follow(t, "configmaps", root, since[reader.Name])
	suite.EventuallyEqual(t, "events", "DELETED away-leaf/a", watched.received)
	waiting := former.follow(t, "configmaps", root, since[former.Name])
	configMap(t, root, "b")
	suite.EventuallyEqual(t, "the watch goes on", "ADDED away-root/b", waiting.received)
	start()
	suite.EventuallyEqual(t, "a user who may not know what has left lists again", "true", func() string {
		waiting.mu.Lock()
		defer waiting.mu.Unlock()
		return fmt.Sprint(apierrors.IsResourceExpired(waiting.ended))
	})
}

func TestAnEmptySubtreeIsNotTheCluster(t *testing.T) {
	namespace(t, "empty-other", "")
	somebody := person(t, "empty")
	// All permissions there are, but the namespace is not there.
	somebody.grantAll(t, ask, "list watch configmaps")
	suite.EventuallyEqual(t, "list", "", func() string { return somebody.listed(t, "configmaps", "empty-nowhere", marked) })
	watched := somebody.follow(t, "configmaps", "empty-nowhere", marked)
	bare := somebody.follow(t, "configmaps", "empty-nowhere", metav1.ListOptions{AllowWatchBookmarks: true})
	others := somebody.follow(t, "configmaps", "empty-other", marked)
	for i := range 20 {
		configMap(t, "empty-other", fmt.Sprint("c", i))
	}
	suite.EventuallyEqual(t, "others", "20", func() string { return fmt.Sprint(len(strings.Fields(others.String()))) })
	namespace(t, "empty-nowhere", "")
	configMap(t, "empty-nowhere", "a")
	suite.EventuallyEqual(t, "when it comes", "ADDED empty-nowhere/a", watched.received)
	if received := bare.received(); strings.Contains(received, "empty-other") {
		t.Errorf("received other namespaces: %s", received)
	}
}
