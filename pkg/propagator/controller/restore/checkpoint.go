package restore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// none is the ID, on the system namespace, of a store that has no checkpoint.
const none = "0"

// number returns the number in the ID of a checkpoint, 0 if it has none.
func number(id string) int64 {
	digits, _, _ := strings.Cut(id, "-")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// nextID returns the ID of a checkpoint after the given ones. The random suffix distinguishes it from one that another
// state of the cluster continues with.
func nextID(ids ...string) string {
	var last int64
	for _, id := range ids {
		last = max(last, number(id))
	}
	return fmt.Sprintf("%d-%s", last+1, rand.String(8))
}

// recorded returns the IDs of the checkpoints that the system namespace records, the last one first.
func recorded(annotations map[string]string) []string {
	return strings.Fields(annotations[hnc.AnnotationCheckpoint])
}

func storedID(c *v1beta1.HNCConfiguration) string {
	if c.Status.Checkpoint == nil {
		return ""
	}
	return c.Status.Checkpoint.ID
}

// mismatch says why the store and the cluster appear to come from different backups. The zero value means that they are
// not.
type mismatch struct{ reason, message string }

// storeLost is the mismatch about hierarchies that were rebuilt, because their store was lost.
func storeLost(known string, c *v1beta1.HNCConfiguration) mismatch {
	return mismatch{hnc.ReasonHierarchiesLost, fmt.Sprintf("the hierarchies were lost and have been rebuilt from the labels of the namespaces, which do not describe everything: "+
		"their configuration had the UID %s, and has %s", known, c.UID)}
}

// hierarchiesMissing is the mismatch about namespaces whose labels name a parent, in a cluster where no hierarchies
// were ever propagated.
func hierarchiesMissing(names []string) mismatch {
	return mismatch{hnc.ReasonHierarchiesMissing, fmt.Sprintf("the labels of %d namespaces, such as %s, name a parent, but there are no hierarchies of them, "+
		"and none were ever propagated in this installation", len(names), names[0])}
}

// compare returns whether the hierarchies belong to this state of the cluster, by what is recorded in the annotations
// of the system namespace and in the configuration. cluster is the UID of the namespace kube-system.
func compare(annotations map[string]string, c *v1beta1.HNCConfiguration, cluster types.UID) mismatch {
	stored, ids, store := c.Status.Checkpoint, recorded(annotations), annotations[hnc.AnnotationStore]
	switch {
	case stored == nil && (len(ids) == 0 || store != string(c.UID) || slices.Contains(ids, none)):
		// They were never propagated: they are new, or their store was lost, or their first checkpoint was interrupted.
		return mismatch{}
	case stored == nil:
		return mismatch{hnc.ReasonHierarchiesOlder, fmt.Sprintf("the hierarchies are older than the cluster: they have no checkpoint, the cluster has %s", ids[0])}
	case stored.Cluster != cluster:
		return mismatch{hnc.ReasonOtherCluster, fmt.Sprintf("the hierarchies are those of another cluster: its namespace kube-system has the UID %s, this one's has %s", stored.Cluster, cluster)}
	case store != "" && store != string(c.UID):
		return mismatch{hnc.ReasonOtherHierarchies, fmt.Sprintf("the store does not belong to this cluster: its configuration has the UID %s, the cluster recorded %s", c.UID, store)}
	case slices.Contains(ids, stored.ID):
		return mismatch{}
	case len(ids) == 0:
		return mismatch{hnc.ReasonClusterOlder, fmt.Sprintf("the cluster is older than the hierarchies: it has no checkpoint, they have %s", stored.ID)}
	case number(stored.ID) < number(ids[0]):
		return mismatch{hnc.ReasonHierarchiesOlder, fmt.Sprintf("the hierarchies are older than the cluster: they have the checkpoint %s, the cluster has %s", stored.ID, ids[0])}
	case number(stored.ID) > number(ids[0]):
		return mismatch{hnc.ReasonClusterOlder, fmt.Sprintf("the cluster is older than the hierarchies: it has the checkpoint %s, they have %s", ids[0], stored.ID)}
	}
	return mismatch{hnc.ReasonOtherHierarchies, fmt.Sprintf("the store does not belong to this cluster: it has the checkpoint %s, the cluster recorded %s", stored.ID, ids[0])}
}
