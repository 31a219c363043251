package subtree

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

func TestPermissionsThatAreTakenAwayWhileWatching(t *testing.T) {
	root, mid, leaf := tree(t, "permissions")
	for _, ns := range []string{root, mid, leaf} {
		secret(t, ns, "a")
	}
	somebody := person(t, "permissions")
	somebody.grant(t, root, ask, "list watch secrets")
	revoke := somebody.grant(t, mid, "list watch secrets")
	suite.EventuallyEqual(t, "list", "permissions-mid/a permissions-root/a", func() string { return somebody.listed(t, "secrets", root, marked) })
	watched := somebody.follow(t, "secrets", root, marked)
	suite.EventuallyEqual(t, "watch", "permissions-mid/a permissions-root/a", watched.String)

	revoke()
	// What was allowed is remembered for a second.
	n := 0
	suite.EventuallyEqual(t, "after the permission was taken away", "permissions-root/a", func() string {
		n++
		_, err := admin.CoreV1().Secrets(mid).Patch(t.Context(), "a", "application/merge-patch+json",
			[]byte(fmt.Sprintf(`{"metadata":{"labels":{"n":"%d"}}}`, n)), metav1.PatchOptions{})
		must(t, "patch", err)
		return watched.String()
	})
	secret(t, mid, "unseen")
	// Permissions that are given while watching show what they open.
	somebody.grant(t, leaf, "list watch secrets")
	secret(t, leaf, "b")
	suite.EventuallyEqual(t, "after another was given", "permissions-leaf/a permissions-leaf/b permissions-root/a", watched.String)
	for _, line := range strings.Split(watched.received(), ", ") {
		if strings.Contains(line, "unseen") {
			t.Errorf("received what nobody may read: %s", line)
		}
	}
	if !strings.Contains(watched.received(), "DELETED permissions-mid/a") {
		t.Errorf("nothing says that the permission is lost: %s", watched.received())
	}
}

// TestTheWholeClusterCanBeWatchedUntilThePermissionIsLost also has a watch of a subtree that lives on the same permission.
func TestTheWholeClusterCanBeWatchedUntilThePermissionIsLost(t *testing.T) {
	namespace(t, "everything", "")
	somebody := person(t, "everything")
	somebody.grant(t, "everything", ask, "list watch configmaps")
	suite.EventuallyEqual(t, "list", "", func() string { return somebody.listed(t, "configmaps", "everything", marked) })
	revoke := somebody.grantAll(t, ask, "list watch configmaps")
	namespace(t, "everything-below", "everything")
	configMap(t, "everything", "a")
	configMap(t, "everything-below", "a")
	mine := metav1.ListOptions{LabelSelector: "test=a", FieldSelector: "metadata.name=a"}
	suite.EventuallyEqual(t, "list", "everything/a everything-below/a", func() string { return somebody.listed(t, "configmaps", "everything", mine) })
	cluster := somebody.follow(t, "configmaps", "", mine)
	below := somebody.follow(t, "configmaps", "everything", mine)
	suite.EventuallyEqual(t, "watch of the cluster", "true", func() string {
		return fmt.Sprint(strings.Contains(cluster.String(), "everything-below/a everything/a"))
	})
	suite.EventuallyEqual(t, "watch of the subtree", "everything-below/a everything/a", below.String)
	revoke()
	suite.EventuallyEqual(t, "watch of the cluster", errClosed.Error(), cluster.String)
	suite.EventuallyEqual(t, "watch of the subtree", "everything/a", below.String)
}

// TestOldPathsOfWatchesDoNotServe has somebody who may watch one secret, by its name.
func TestOldPathsOfWatchesDoNotServe(t *testing.T) {
	root, mid, _ := tree(t, "paths")
	secret(t, root, "mine")
	secret(t, mid, "theirs")
	somebody := person(t, "paths")
	somebody.grant(t, root, ask)
	for _, ns := range []string{root, mid} {
		somebody.grantOne(t, ns, "mine", "list watch secrets")
	}
	one := metav1.ListOptions{FieldSelector: "metadata.name=mine"}
	suite.EventuallyEqual(t, "by name", "paths-root/mine", func() string { return somebody.listed(t, "secrets", root, one) })
	if got := somebody.listed(t, "secrets", root, metav1.ListOptions{}); !strings.Contains(got, "forbidden") {
		t.Errorf("%s, want Forbidden", got)
	}
	for _, path := range []string{"/watch/namespaces/paths-root/secrets/mine?timeoutSeconds=1", "/watch/namespaces/paths-root/secrets?timeoutSeconds=1", "/namespaces/paths-root/secrets/mine?watch=true&timeoutSeconds=1", "/namespaces/paths-root/secrets/mine/status"} {
		for range 20 { // the permission to ask is new
			got := somebody.get(t, prefix+path, "application/json")
			if strings.Contains(got, "theirs") || strings.Contains(got, `"type"`) {
				t.Errorf("%s: %s", path, got)
			}
		}
	}
}

// TestKindsThatWeStoreOurselves have revisions that are not kube-apiserver's.
func TestKindsThatWeStoreOurselves(t *testing.T) {
	root, mid, leaf := tree(t, "stored")
	namespace(t, "stored-other", "")
	reader := person(t, "stored")
	reader.grantAll(t, ask, "list watch hierarchies.hnc.x-k8s.io")
	const kind = "hnc.x-k8s.io.hierarchies"
	// The propagator gives a root one too.
	suite.EventuallyEqual(t, "list", leaf+"/hierarchy "+mid+"/hierarchy "+root+"/hierarchy", func() string { return reader.listed(t, kind, root, metav1.ListOptions{}) })
	list, err := reader.Dynamic.Resource(ours(kind)).Namespace(root).List(t.Context(), metav1.ListOptions{})
	must(t, "list", err)
	move(t, "stored-other", leaf)
	fresh := reader.follow(t, kind, root, metav1.ListOptions{})
	after := reader.follow(t, kind, root, metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
	informed := reader.informer(t, kind, root)
	suite.EventuallyEqual(t, "fresh watch", "stored-leaf/hierarchy stored-mid/hierarchy stored-other/hierarchy stored-root/hierarchy", fresh.String)
	move(t, leaf, "")
	for _, known := range []func() string{fresh.String, informed} {
		suite.EventuallyEqual(t, "when a branch has left", "stored-mid/hierarchy stored-root/hierarchy", known)
	}
	suite.EventuallyEqual(t, "when a branch has left", "false", func() string { return fmt.Sprint(strings.Contains(after.String(), leaf)) })
}
