package restore

import (
	"testing"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane/suite"
)

// TestInstallationWithoutTheStorePauses begins anew with an empty store, in a cluster that does not record the earlier
// one either: the system namespace was deleted with its volume.
func TestInstallationWithoutTheStorePauses(t *testing.T) {
	fresh(t)
	leafBelowBlue(t)
	before := uids(t, "blue", "leaf")
	stop(t, propagator.Name, apiServer.Name)
	ours, _ := data()
	restore(t, ours, t.TempDir())
	forgetStore(t)
	untouched := suite.Footprint(t, root)
	startOurs(t)
	eventuallyPaused(t, hnc.ReasonHierarchiesMissing)
	doctorLists(t, "--trust=hierarchies: delete rolebindings.rbac.authorization.k8s.io: 1 (leaf/blue)")
	unwritten(t, untouched)
	resume(t, hnc.TrustNamespaces)
	eventuallyBelow(t, "leaf", "blue", "red")
	if gone := lost(before, uids(t, "blue", "leaf")); len(gone) > 0 {
		t.Errorf("deleted: %v", gone)
	}
}
