package subtree

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// askGet is the permission to ask for anything across a subtree, and to get a Namespace of it.
const askGet = "get list watch *.resources.hnc.x-k8s.io"

// TestNamespacesOfASubtreeAreThoseThatTheCallerMayGet has somebody who may get a root and a leaf, but not what is
// between them, and another namespace outside.
func TestNamespacesOfASubtreeAreThoseThatTheCallerMayGet(t *testing.T) {
	root, mid, leaf := tree(t, "spaces")
	namespace(t, "spaces-outside", "")
	reader := person(t, "spaces")
	reader.grant(t, root, askGet, "get namespaces")
	for _, ns := range []string{leaf, "spaces-outside"} {
		reader.grant(t, ns, "get namespaces")
	}
	suite.EventuallyEqual(t, "list", "/spaces-leaf /spaces-root", func() string { return reader.listed(t, "namespaces", root, metav1.ListOptions{}) })

	byName := metav1.ListOptions{FieldSelector: "metadata.name=" + leaf}
	if got := reader.listed(t, "namespaces", root, byName); got != "/spaces-leaf" {
		t.Errorf("by name: %s", got)
	}
	if got := reader.listed(t, "namespaces", root, metav1.ListOptions{LabelSelector: "kubernetes.io/metadata.name!=" + leaf}); got != "/spaces-root" {
		t.Errorf("by label: %s", got)
	}
	first, err := reader.Dynamic.Resource(ours("namespaces")).Namespace(root).List(t.Context(), metav1.ListOptions{Limit: 1})
	must(t, "page", err)
	if got := reader.listed(t, "namespaces", root, metav1.ListOptions{Limit: 1, Continue: first.GetContinue()}); names(first.Items) != "/spaces-leaf" || got != "/spaces-root" {
		t.Errorf("pages: %s, then %s", names(first.Items), got)
	}

	for name, found := range map[string]bool{root: true, leaf: true, mid: false, "spaces-outside": false, "spaces-unknown": false} {
		ns, err := reader.Dynamic.Resource(ours("namespaces")).Namespace(root).Get(t.Context(), name, metav1.GetOptions{})
		if found && (err != nil || ns.GetName() != name || ns.GetKind() != "Namespace") || !found && !apierrors.IsNotFound(err) {
			t.Errorf("get %s: %v, %v", name, ns, err)
		}
	}
	path := prefix + "/namespaces/" + root + "/namespaces"
	var table metav1.Table
	for _, url := range []string{path, path + "/" + leaf} {
		text := reader.get(t, url, asTable)
		must(t, text, json.Unmarshal([]byte(text), &table))
		if table.Kind != "Table" || table.Rows[0].Cells[0] != leaf {
			t.Errorf("%s, want a table", text)
		}
	}
	if got := reader.listed(t, "namespaces", "", metav1.ListOptions{}); !strings.Contains(got, "forbidden") {
		t.Errorf("in the whole cluster: %s, want Forbidden", got)
	}
}

// TestNamespacesAreWatchedAsTheyJoinAndLeave also compares the revisions with kube-apiserver's.
func TestNamespacesAreWatchedAsTheyJoinAndLeave(t *testing.T) {
	root, mid, leaf := tree(t, "watched")
	reader := person(t, "watched")
	reader.grantAll(t, askGet, "get list watch namespaces")
	all := "/watched-leaf /watched-mid /watched-root"
	suite.EventuallyEqual(t, "list", all, func() string { return reader.listed(t, "namespaces", root, metav1.ListOptions{}) })
	list, err := reader.Dynamic.Resource(ours("namespaces")).Namespace(root).List(t.Context(), metav1.ListOptions{})
	must(t, "list", err)
	yes := true
	fresh := reader.follow(t, "namespaces", root, metav1.ListOptions{
		SendInitialEvents: &yes, AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	})
	continued := reader.follow(t, "namespaces", root, metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
	labeled := reader.follow(t, "namespaces", root, metav1.ListOptions{LabelSelector: "kubernetes.io/metadata.name=watched-new"})
	suite.EventuallyEqual(t, "watch", "/watched-leaf /watched-mid /watched-root", fresh.String)

	namespace(t, "watched-new", leaf)
	for _, o := range []*observer{fresh, labeled} {
		suite.EventuallyEqual(t, "when one has joined", "true", func() string { return fmt.Sprint(strings.Contains(o.String(), "/watched-new")) })
	}
	suite.EventuallyEqual(t, "when one has joined", "true", func() string { return fmt.Sprint(strings.Contains(continued.received(), "ADDED /watched-new")) })
	_, err = admin.CoreV1().Namespaces().Patch(t.Context(), mid, "application/merge-patch+json", []byte(`{"metadata":{"labels":{"x":"y"}}}`), metav1.PatchOptions{})
	must(t, "patch", err)
	suite.EventuallyEqual(t, "when one has changed", "true", func() string { return fmt.Sprint(strings.Contains(continued.received(), "MODIFIED /"+mid)) })

	move(t, "watched-new", "")
	suite.EventuallyEqual(t, "when one has left", all, fresh.String)
	suite.EventuallyEqual(t, "when one has left", "", labeled.String)
	must(t, "delete", admin.CoreV1().Namespaces().Delete(t.Context(), leaf, metav1.DeleteOptions{}))
	suite.EventuallyEqual(t, "when one is deleted", "/watched-mid /watched-root", fresh.String)
	suite.EventuallyEqual(t, "when one is deleted", "true", func() string { return fmt.Sprint(strings.Contains(continued.received(), "DELETED /"+leaf)) })

	var ns corev1.Namespace
	live, err := admin.CoreV1().Namespaces().Get(t.Context(), mid, metav1.GetOptions{})
	must(t, "namespace", err)
	text := reader.get(t, prefix+"/namespaces/"+root+"/namespaces/"+mid, "application/json")
	must(t, text, json.Unmarshal([]byte(text), &ns))
	if ns.UID != live.UID || ns.ResourceVersion != live.ResourceVersion {
		t.Errorf("%s, want the object of kube-apiserver", text)
	}
}
