package hnc

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// The steps in which commands are killed: all but the last one, which is over at once.
var (
	before       = []string{"freeze", "webhooks", "stop", "export", "import", "finalizers", "switch", "verify", "preview"}
	rollbackOnes = []string{"freeze", "switch", "import", "start", "webhooks"}
	backOnes     = []string{"freeze", "policies", "stop", "quotas", "definitions", "switch", "objects", "forget", "import", "start", "webhooks"}
)

// A cluster that HNC has managed goes to hns, back before the point of no return, there, back from the export, and
// there again, by the commands of the page.
func TestThereAndBack(t *testing.T) {
	if *release == "" {
		t.Skip("make hnc runs it")
	}
	installHNC(t, flags(t)...)
	plant(t)
	restart := append(flags(t), excludes)
	installHNC(t, restart...)

	lines := shown(t, "helm install hns")
	if len(lines) != 6 {
		t.Fatalf("the page has other commands: %q", lines)
	}
	install, await, dryRun, migrate, upgrade, complete := lines[0], lines[1], lines[2], lines[3], lines[4], lines[5]
	downgrade := strings.Replace(upgrade, "besideHNC=false", "besideHNC=true", 1)
	if isHighlyAvailable(t) {
		install, upgrade = commandsOfManifests(t)
		downgrade = install
	}
	rollback, back := shown(t, "kubectl hns migrate rollback\n")[0], shown(t, "kubectl hns migrate rollback --export")[0]
	// HNC 0.9 is ready before its webhooks are.
	suite.Eventually(t, "hns is installed", func() error {
		_, err := execute(t, install, "", "")
		return err
	})
	if isHighlyAvailable(t) {
		runEtcd(t)
	}
	run(t, await)
	doctor(t, "not begun: HNC serves this cluster")
	kubectl(t, "", "delete", "customresourcedefinition", "gizmos.example.com")
	fails(t, dryRun, "the entry for gizmos")
	repeat(t, "testdata/definitions.yaml")
	source(t, "acme")
	if isHighlyAvailable(t) {
		// HNC has overwritten the ServiceAccounts of all descendants but those of orphans.
		run(t, plugin+" config set-resource serviceaccounts --mode Propagate --force")
		settled(t)
		fails(t, dryRun, "the entry for serviceaccounts: copies would overwrite 1 objects that HNC has left alone, such as default in stray-sub by that of stray;")
		run(t, plugin+" config set-resource serviceaccounts --mode Ignore --force")
		settled(t)
	}
	run(t, dryRun)
	first := settled(t)
	stopReading := readAsOldClients(t)

	// HNC is started in the middle, and the migration is undone.
	killed(t, migrate, "import")
	installHNC(t, restart...)
	fails(t, migrate, "HNC runs again")
	doctor(t, "HNC runs although the migration has stopped it")
	run(t, rollback)
	freesAPIServices(t)
	first = again(t, first)

	killed(t, migrate, before...)
	fails(t, strings.Replace(migrate, "kubectl", "echo no | kubectl", 1), "not confirmed")
	killed(t, rollback, rollbackOnes...)
	run(t, rollback)
	doctor(t, "not begun: HNC serves this cluster")
	first = again(t, first)

	// there returns what the last command has printed.
	there := func() string {
		t.Helper()
		killed(t, migrate, append(slices.Clone(before), "definitions")...)
		if out := run(t, migrate); !strings.Contains(out, "admission policies are not installed yet: ") {
			t.Errorf("the first command ends with %s", out)
		}
		run(t, upgrade)
		out := run(t, complete)
		same(t, first, settled(t))
		return out
	}
	there()
	// As GitOps does.
	installHNC(t, restart...)
	doctor(t, "HNC runs in a cluster that is migrated")
	kubectl(t, "", "scale", "deployment", "hnc-controller-manager", "-n", "hnc-system", "--replicas=0")
	for _, kind := range []string{"validating", "mutating"} {
		kubectl(t, "", "delete", kind+"webhookconfiguration", "hnc-"+kind+"-webhook-configuration")
	}

	killed(t, back, backOnes...)
	run(t, back)
	freesAPIServices(t)
	run(t, downgrade)
	doctor(t, "not begun: HNC serves this cluster")
	first = again(t, first)

	_, commands, _ := strings.Cut(there(), "To delete them:\n")
	stopReading()
	servesOldPlugin(t)
	doctor(t, "hnc-manager-role")
	if isRelease(t) {
		run(t, "helm uninstall hnc --namespace hnc-system")
	} else {
		for line := range strings.SplitSeq(strings.TrimSpace(commands), "\n") {
			run(t, strings.TrimSpace(line))
		}
	}
	doctor(t, "leftovers of HNC")
	same(t, first, settled(t))
}

// exported is the file of the page's commands.
const exported = "hnc-export.yaml"

// again returns what HNC has made of the forest after it was started again, and moves the export away: its file must
// not exist when a migration begins.
func again(t *testing.T, first map[string]string) map[string]string {
	t.Helper()
	dir, err := checkout()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, exported)); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	now := settled(t)
	for name, was := range first {
		if strings.HasPrefix(name, "namespaces ") && now[name] != was {
			t.Errorf("the way back has changed %s: was %s, is %s", name, was, now[name])
		}
		if _, ok := now[name]; !ok {
			t.Errorf("the way back has deleted %s", name)
		}
	}
	return now
}
