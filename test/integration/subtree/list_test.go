package subtree

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

func TestAListHoldsTheWholeSubtreeAndNothingElse(t *testing.T) {
	root, mid, leaf := tree(t, "whole")
	namespace(t, "whole-other", "")
	for _, ns := range []string{leaf, root, mid, "whole-other"} {
		configMap(t, ns, "b")
		configMap(t, ns, "a")
	}
	reader := person(t, "whole")
	for _, ns := range []string{root, mid, leaf, "whole-other"} {
		reader.grant(t, ns, ask, "list configmaps")
	}
	want := fmt.Sprintf("%[1]s/a %[1]s/b %[2]s/a %[2]s/b %[3]s/a %[3]s/b", leaf, mid, root)
	suite.EventuallyEqual(t, "list", want, func() string { return reader.listed(t, "configmaps", root, marked) })
	want = fmt.Sprintf("%[1]s/a %[1]s/b %[2]s/a %[2]s/b", leaf, mid)
	suite.EventuallyEqual(t, "list", want, func() string { return reader.listed(t, "configmaps", mid, marked) })

	list, err := reader.Dynamic.Resource(ours("configmaps")).Namespace(root).List(t.Context(), marked)
	must(t, "list", err)
	direct, err := admin.CoreV1().ConfigMaps(root).List(t.Context(), marked)
	must(t, "list", err)
	if list.GetAPIVersion() != "v1" || list.GetKind() != "ConfigMapList" || list.GetResourceVersion() == "" {
		t.Errorf("%s %s at %q, want the real kind, at a revision", list.GetAPIVersion(), list.GetKind(), list.GetResourceVersion())
	}
	if got, _, _ := unstructured.NestedString(list.Items[4].Object, "data", "key"); got != "a" || list.Items[4].GetUID() != direct.Items[0].UID {
		t.Errorf("%v, want the object itself", list.Items[4])
	}
	// A namespace that has gone leaves an empty list, which is a list all the same.
	reader.grant(t, "whole-other", ask)
	empty, err := reader.Dynamic.Resource(ours("configmaps")).Namespace("whole-other").List(t.Context(), metav1.ListOptions{LabelSelector: "test=none"})
	must(t, "list", err)
	if empty.GetKind() != "ConfigMapList" || len(empty.Items) != 0 || empty.GetResourceVersion() == "" {
		t.Errorf("%v, want an empty ConfigMapList at a revision", empty)
	}
}

func TestWhatTheCallerMayNotListIsLeftOutAndReported(t *testing.T) {
	root, mid, leaf := tree(t, "some")
	for i := range 3 {
		namespace(t, fmt.Sprint("some-more-", i), leaf)
	}
	for _, ns := range []string{root, mid, leaf, "some-more-0", "some-more-1", "some-more-2"} {
		secret(t, ns, "s")
	}
	somebody, warned := person(t, "some").warned(t)
	somebody.grant(t, root, ask)
	refused := fmt.Sprintf(`secrets is forbidden: user "system:serviceaccount:people:some" needs the verb list on secrets in namespace %q or in one below it`, root)
	suite.EventuallyEqual(t, "nowhere", refused, func() string { return somebody.listed(t, "secrets", root, marked) })
	_, err := somebody.Dynamic.Resource(ours("secrets")).Namespace(root).List(t.Context(), marked)
	if !apierrors.IsForbidden(err) {
		t.Errorf("%v, want Forbidden", err)
	}
	_, err = somebody.Dynamic.Resource(ours("secrets")).Namespace(root).Watch(t.Context(), marked)
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "needs the verb watch on secrets") {
		t.Errorf("%v, want Forbidden", err)
	}

	somebody.grant(t, leaf, "list secrets")
	suite.EventuallyEqual(t, "leaf only", leaf+"/s", func() string { return somebody.listed(t, "secrets", root, marked) })
	want := fmt.Sprintf("5 of 6 namespaces omitted because you cannot list secrets there: %s, some-more-0, some-more-1, and 2 more", mid)
	if last := warned.text[len(warned.text)-1]; last != want {
		t.Errorf("warning %q, want %q", last, want)
	}
	// The permission to ask is a permission of its own, in the namespace that is asked about.
	if got := somebody.listed(t, "secrets", leaf, marked); !strings.Contains(got, `cannot list resource "secrets" in API group "resources.hnc.x-k8s.io" in the namespace "some-leaf"`) {
		t.Errorf("%s, want the permission to ask to be missed", got)
	}
	// It gives nothing by itself: not what can be listed by somebody else, nor what can be watched.
	_, err = somebody.Dynamic.Resource(ours("secrets")).Namespace(root).Watch(t.Context(), marked)
	if !apierrors.IsForbidden(err) {
		t.Errorf("%v, want Forbidden", err)
	}
}

func TestTheWholeClusterIsForThoseWhoMayReadIt(t *testing.T) {
	root, _, _ := tree(t, "cluster")
	configMap(t, root, "a")
	somebody := person(t, "cluster")
	somebody.grant(t, root, ask, "list watch configmaps")
	suite.EventuallyEqual(t, "list", "cluster-root/a", func() string { return somebody.listed(t, "configmaps", root, marked) })
	if got := somebody.listed(t, "configmaps", "", marked); !strings.Contains(got, "is forbidden") {
		t.Errorf("%s, want Forbidden", got)
	}
	// The permission to ask alone does not do.
	somebody.grantAll(t, ask)
	want := `configmaps is forbidden: user "system:serviceaccount:people:cluster" needs the verb list on configmaps in the whole cluster`
	suite.EventuallyEqual(t, "list", want, func() string { return somebody.listed(t, "configmaps", "", marked) })
	_, err := somebody.Dynamic.Resource(ours("configmaps")).Watch(t.Context(), marked)
	if !apierrors.IsForbidden(err) {
		t.Errorf("%v, want Forbidden", err)
	}

	everybody := person(t, "everywhere")
	everybody.grantAll(t, ask, "list configmaps")
	// Namespaces of other tests may still be going.
	suite.EventuallyEqual(t, "differences between both lists", "", func() string {
		direct, err := admin.Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).List(t.Context(), marked)
		must(t, "list", err)
		if got, want := everybody.listed(t, "configmaps", "", marked), names(direct.Items); got != want {
			return fmt.Sprintf("%q, want %q", got, want)
		}
		return ""
	})
}

func TestSelectorsAndPages(t *testing.T) {
	root, mid, leaf := tree(t, "pages")
	var all []string
	for _, ns := range []string{leaf, mid, root} {
		for i := range 5 {
			configMap(t, ns, fmt.Sprint("c", i))
			all = append(all, fmt.Sprint(ns, "/c", i))
		}
	}
	reader := person(t, "pages")
	reader.grantAll(t, ask, "list configmaps")
	suite.EventuallyEqual(t, "list", strings.Join(all, " "), func() string { return reader.listed(t, "configmaps", root, marked) })
	for options, want := range map[metav1.ListOptions]string{
		{LabelSelector: "test in (c1)"}:                                  "pages-leaf/c1 pages-mid/c1 pages-root/c1",
		{FieldSelector: "metadata.name=c2"}:                              "pages-leaf/c2 pages-mid/c2 pages-root/c2",
		{FieldSelector: "metadata.namespace=pages-mid,metadata.name=c2"}: "pages-mid/c2",
	} {
		if got := reader.listed(t, "configmaps", root, options); got != want {
			t.Errorf("%v: %q, want %q", options, got, want)
		}
	}
	for limit := range 17 {
		var got []string
		revision := ""
		options := metav1.ListOptions{LabelSelector: "test", Limit: int64(limit + 1)}
		for {
			list, err := reader.Dynamic.Resource(ours("configmaps")).Namespace(root).List(t.Context(), options)
			must(t, "page", err)
			// As anywhere in Kubernetes, the last page may be empty.
			if len(list.Items) > limit+1 {
				t.Fatalf("a page of %d with limit %d", len(list.Items), limit+1)
			}
			if revision == "" {
				revision = list.GetResourceVersion()
				// Later pages show what was there at the first.
				configMap(t, leaf, fmt.Sprint("late-", limit))
			}
			if list.GetResourceVersion() != revision {
				t.Errorf("a page at %s, the first was at %s", list.GetResourceVersion(), revision)
			}
			got = append(got, strings.Fields(names(list.Items))...)
			if options.Continue = list.GetContinue(); options.Continue == "" {
				break
			}
		}
		must(t, "delete", admin.CoreV1().ConfigMaps(leaf).Delete(t.Context(), fmt.Sprint("late-", limit), metav1.DeleteOptions{}))
		if strings.Join(got, " ") != strings.Join(all, " ") {
			t.Errorf("in pages of %d: %q", limit+1, got)
		}
	}
	_, err := reader.Dynamic.Resource(ours("configmaps")).Namespace(root).List(t.Context(), metav1.ListOptions{Continue: "nonsense"})
	if !apierrors.IsBadRequest(err) {
		t.Errorf("%v, want BadRequest", err)
	}
}

func TestWhatIsNotThereIsAStatus(t *testing.T) {
	root, _, _ := tree(t, "missing")
	reader := person(t, "missing")
	reader.grantAll(t, "* *.resources.hnc.x-k8s.io", "list configmaps")
	suite.EventuallyEqual(t, "list", "", func() string { return reader.listed(t, "configmaps", root, marked) })
	for _, resource := range []string{"nonsense", "apps.nonsense", "nodes", "rbac.authorization.k8s.io.clusterroles", "bindings"} {
		_, err := reader.Dynamic.Resource(ours(resource)).Namespace(root).List(t.Context(), marked)
		if !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), "no namespaced resource "+resource) {
			t.Errorf("%s: %v, want NotFound", resource, err)
		}
	}
	_, err := reader.Dynamic.Resource(ours("configmaps")).Namespace(root).Get(t.Context(), "a", metav1.GetOptions{})
	if !apierrors.IsMethodNotSupported(err) {
		t.Errorf("%v, want MethodNotSupported", err)
	}
	for _, resource := range []string{"configmaps", "namespaces"} {
		err = reader.Dynamic.Resource(ours(resource)).Namespace(root).Delete(t.Context(), root, metav1.DeleteOptions{})
		if !apierrors.IsMethodNotSupported(err) {
			t.Errorf("delete %s: %v, want MethodNotSupported", resource, err)
		}
	}
	_, err = reader.Dynamic.Resource(ours("configmaps")).Namespace(root).List(t.Context(), metav1.ListOptions{FieldSelector: "no.such=field"})
	if !apierrors.IsBadRequest(err) {
		t.Errorf("%v, want BadRequest", err)
	}
}

// kube-apiserver would wait for the revision.
func TestFutureRevisionsAreRejectedAtOnce(t *testing.T) {
	root, _, _ := tree(t, "future")
	configMap(t, root, "a")
	reader := person(t, "future")
	reader.grant(t, root, ask, "list watch configmaps")
	suite.EventuallyEqual(t, "list", "future-root/a", func() string { return reader.listed(t, "configmaps", root, marked) })
	client, err := rest.HTTPClientFor(reader.Config)
	must(t, "client", err)
	client.Timeout = 20 * time.Second
	token := base64.RawURLEncoding.EncodeToString([]byte(`{"rv":"99999999999"}`))
	for _, query := range []string{
		"resourceVersion=99999999999", "resourceVersion=99999999999&resourceVersionMatch=Exact", "resourceVersion=99999999999&limit=1",
		"limit=1&continue=" + token, "watch=true&resourceVersion=99999999999",
		"watch=true&resourceVersion=99999999999&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
	} {
		response, err := client.Get(reader.Config.Host + prefix + "/namespaces/" + root + "/configmaps?" + query)
		must(t, query, err)
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		must(t, query, err)
		if response.StatusCode != http.StatusGatewayTimeout || response.Header.Get("Retry-After") == "" || !strings.Contains(string(body), "Too large resource version") {
			t.Errorf("%s: %d %s", query, response.StatusCode, body)
		}
	}
}

func TestLargeListsAreReadInPages(t *testing.T) {
	root, mid, leaf := tree(t, "large")
	namespaces, each := []string{leaf, mid, root}, 12
	var group errgroup.Group
	group.SetLimit(8)
	for i := range len(namespaces) * each {
		group.Go(func() error {
			cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("c%02d", i/len(namespaces)), Labels: map[string]string{"test": "large"}},
				// As JSON, each of these characters of the leaf has six bytes.
				Data: map[string]string{"key": strings.Repeat([]string{"<", "x", "x"}[i%len(namespaces)], 1<<20-100)}}
			_, err := admin.CoreV1().ConfigMaps(namespaces[i%len(namespaces)]).Create(t.Context(), cm, metav1.CreateOptions{})
			return err
		})
	}
	must(t, "config maps", group.Wait())
	reader := person(t, "large")
	reader.grantAll(t, ask, "list watch configmaps")
	suite.EventuallyEqual(t, "list", "large-leaf/c00 large-mid/c00 large-root/c00", func() string {
		return reader.listed(t, "configmaps", root, metav1.ListOptions{LabelSelector: "test=large", FieldSelector: "metadata.name=c00"})
	})
	_, err := reader.Dynamic.Resource(ours("configmaps")).Namespace(root).List(t.Context(), marked)
	if !apierrors.IsRequestEntityTooLargeError(err) || !strings.Contains(err.Error(), "more than 64 MiB; set limit") {
		t.Errorf("without a limit: %v, want RequestEntityTooLarge with the remedy", err)
	}
	// kubectl lists pages of 500 objects. Without a table, it has the whole objects.
	if got := strings.Count(reader.kubectl(t, "get", "configmaps.resources.hnc.x-k8s.io", "-n", root, "-l", "test", "--no-headers"), "\n"); got != len(namespaces)*each {
		t.Errorf("kubectl lists %d objects", got)
	}
	got, options := 0, metav1.ListOptions{LabelSelector: "test", Limit: 500}
	for pages := 1; ; pages++ {
		list, err := reader.Dynamic.Resource(ours("configmaps")).Namespace(root).List(t.Context(), options)
		must(t, "page", err)
		got += len(list.Items)
		if options.Continue = list.GetContinue(); options.Continue == "" {
			if pages < 2 {
				t.Error("one page has everything")
			}
			break
		}
	}
	if got != len(namespaces)*each {
		t.Errorf("all pages have %d objects", got)
	}
	// A watch sends them all, too.
	events := reader.follow(t, "configmaps", root, marked)
	suite.EventuallyEqual(t, "objects of the watch", fmt.Sprint(len(namespaces)*each), func() string { return fmt.Sprint(len(strings.Fields(events.String()))) })
}
