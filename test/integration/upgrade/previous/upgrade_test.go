package previous

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// A cluster of the earlier build is upgraded, used, downgraded, used, and upgraded again, one server at a time, as
// docs/operations.md describes. Clients of both builds work all the time.
func TestUpgradeAndDowngrade(t *testing.T) {
	if *ref == "" {
		t.Skip("no earlier build to upgrade from: make upgrade PREVIOUS=REF")
	}
	earlier := checkout(t, *ref)
	c := newCluster(t, earlier)
	c.install(t)
	c.replace(t, "hns-apiserver")
	c.replace(t, "hns-propagator")
	world(t, c)
	before, versions := atRest(t, c)

	c.as(t, current)
	measure(t, "upgrade: manifests", func() { c.install(t) })
	measure(t, "upgrade: hns-apiserver", func() { c.replace(t, "hns-apiserver") })
	unchanged(t, c, "after the upgrade of hns-apiserver", before)
	use(t, c, "up-one", earlier, current)
	measure(t, "upgrade: hns-propagator", func() { c.replace(t, "hns-propagator") })
	use(t, c, "up-both", current, earlier)
	unchanged(t, c, "after the upgrade", before)
	t.Logf("the upgrade has rewritten %v, of %d objects outside hnc.x-k8s.io", rewritten(t, c, versions), len(versions))

	// What the new build has written goes back, too.
	c.mustHNS(t, current, "set", "web", "--parent=team-a")
	complete(t, c, "web")
	before, versions = atRest(t, c)
	c.as(t, earlier)
	measure(t, "downgrade: hns-propagator", func() { c.replace(t, "hns-propagator") })
	use(t, c, "down-one", earlier, current)
	if !earlier.hasAlpha(t) {
		if err := c.Deregister(t.Context(), c.installation, "v1alpha3.hnc.x-k8s.io"); err != nil {
			t.Fatal(err)
		}
	}
	measure(t, "downgrade: hns-apiserver", func() { c.replace(t, "hns-apiserver") })
	measure(t, "downgrade: manifests", func() { c.install(t) })
	use(t, c, "down-both", earlier, current)
	unchanged(t, c, "after the downgrade", before)
	t.Logf("the downgrade has rewritten %v, of %d objects outside hnc.x-k8s.io", rewritten(t, c, versions), len(versions))

	before, _ = atRest(t, c)
	c.as(t, current)
	c.install(t)
	// Emulating the previous version of Kubernetes' libraries turns off the features that are new in them.
	c.replace(t, "hns-apiserver", "--emulated-version=kube=1.36")
	c.replace(t, "hns-propagator")
	use(t, c, "again", current, earlier)
	unchanged(t, c, "after another upgrade", before)
}

// use creates a sub-namespace with one plugin, and reads the tree with both.
func use(t *testing.T, c *cluster, name string, writer, reader build) {
	t.Helper()
	c.mustHNS(t, writer, "create", name, "-n", "acme")
	complete(t, c, name)
	for _, plugin := range []build{writer, reader} {
		for _, args := range [][]string{{"tree", "acme"}, {"describe", "acme"}, {"config", "describe"}} {
			if args[0] == "tree" && !plugin.hasAlpha(t) {
				continue
			}
			if out := c.mustHNS(t, plugin, args...); args[0] == "tree" && !strings.Contains(out, name) {
				t.Errorf("kubectl hns tree of %s does not show %s:\n%s", plugin.name, name, out)
			}
		}
	}
	// A move by the other plugin, and back.
	c.mustHNS(t, reader, "set", "alone", "--parent=acme")
	complete(t, c, "alone")
	c.mustHNS(t, writer, "set", "alone", "--root")
	suite.Eventually(t, "alone leaves the tree", func() error {
		if _, ok := labels(t, c, "alone")["acme.tree.hnc.x-k8s.io/depth"]; ok {
			return fmt.Errorf("it still has the tree label")
		}
		return nil
	})
}

func measure(t *testing.T, what string, f func()) {
	t.Helper()
	begin := time.Now()
	f()
	t.Logf("%s: %s", what, time.Since(begin).Round(100*time.Millisecond))
}

// atRest returns a snapshot when ten of them are equal.
func atRest(t *testing.T, c *cluster) (last state, versions map[string]string) {
	t.Helper()
	equal := 0
	suite.Eventually(t, "the cluster comes to rest", func() error {
		now, nowVersions := snapshot(t, c)
		if equal++; !maps.Equal(now, last) {
			equal = 0
		}
		if last, versions = now, nowVersions; equal < 10 {
			return fmt.Errorf("something is written")
		}
		return nil
	})
	return last, versions
}
