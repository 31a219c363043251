package reposync

import (
	"fmt"
	"math/rand/v2"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// TestKilledAtAnyTime kills hns-sync in the middle of its first synchronization and of a prune: after some number of
// writes, which differs from run to run. Nothing is left out or left behind.
func TestKilledAtAnyTime(t *testing.T) {
	const namespaces, inherited = 4, 30
	dirs := make([]string, 0, namespaces)
	for i := range namespaces {
		dirs = append(dirs, fmt.Sprintf("k-eng/k-%d", i))
	}
	files := namespace(dirs...)
	for i := range inherited {
		files[fmt.Sprintf("namespaces/k-eng/map-%d.yaml", i)] = configMap(fmt.Sprintf("map-%d", i), "1")
	}
	r := newRepository(t, files)
	count := func() int {
		list, err := admin.CoreV1().ConfigMaps(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{LabelSelector: hnc.LabelRepositorySync + "=killed"})
		if err != nil {
			t.Fatal(err)
		}
		return len(list.Items)
	}
	// kill kills the process when the number of objects has come from one end past a random one, and starts it again.
	kill := func(what string, passed func(count int) bool) {
		t.Helper()
		suite.Eventually(t, what, func() error {
			if n := count(); !passed(n) {
				return fmt.Errorf("%d objects", n)
			}
			return nil
		})
		if err := cp.Kill(t.Context(), "hns-sync"); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: killed at %d objects", what, count())
		if _, err := cp.StartServer(t.Context(), installation, syncServer()); err != nil {
			t.Fatal(err)
		}
	}
	start(t, "killed", r.spec())
	at := rand.IntN(namespaces * inherited)
	kill("the first synchronization", func(count int) bool { return count >= at })
	synced(t, "killed", r.head(t))
	if n := count(); n != namespaces*inherited {
		t.Errorf("%d objects are applied, want %d", n, namespaces*inherited)
	}

	removed := map[string]string{"namespaces/k-eng/k-0/namespace.yaml": ""}
	for i := 1; i < inherited; i++ {
		removed[fmt.Sprintf("namespaces/k-eng/map-%d.yaml", i)] = ""
	}
	commit := r.commit(t, removed)
	at = rand.IntN(namespaces * inherited)
	kill("the prune", func(count int) bool { return count <= max(at, namespaces-1) })
	synced(t, "killed", commit)
	suite.EventuallyEqual(t, "objects", fmt.Sprint(namespaces-1), func() string { return fmt.Sprint(count()) })
	for i := 1; i < namespaces; i++ {
		eventually(t, fmt.Sprintf("k-%d", i), "map-0=1")
	}
	eventually(t, "k-0", "-")
}
