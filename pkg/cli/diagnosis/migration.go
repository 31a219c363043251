package diagnosis

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/besidehnc"
)

// Migration reports on a migration from HNC that is not completed, nil if there is none: state is that of the
// migration, nil if none has begun; besideHNC that HNC's definitions exist and hns-propagator has never propagated.
// Until it is completed, what else is checked is as it should be for HNC.
func Migration(state *corev1.ConfigMap, besideHNC bool) *Finding {
	const subject = "migration from HNC"
	switch {
	case state == nil && besideHNC:
		return &Finding{Warning, subject, "not begun: HNC serves this cluster, and hns-propagator waits. Objects of v1beta1 have no effect yet",
			"kubectl hns migrate --dry-run, and then kubectl hns migrate; install no admission policies before it asks for them, they reject the writes of HNC"}
	case state == nil:
		return nil
	case state.Data[hnc.MigrationRollingBack] != "" && state.Data[hnc.MigrationDeleting] != "":
		return &Finding{Error, subject, "a rollback from the export has begun and is not complete: hierarchies are frozen", "kubectl hns migrate rollback --export FILE"}
	case state.Data[hnc.MigrationRollingBack] != "":
		return &Finding{Error, subject, "a rollback has begun and is not complete: hierarchies are frozen", "kubectl hns migrate rollback"}
	}
	last := state.Data[hnc.MigrationStep]
	if last == "" {
		last = "none"
	}
	text := "under way: hierarchies are frozen; the last completed step is " + last
	if state.Data[hnc.MigrationDeleting] != "" {
		return &Finding{Error, subject, text + "; HNC's definitions are deleted", "kubectl hns migrate, which continues it, or kubectl hns migrate rollback --export FILE"}
	}
	return &Finding{Error, subject, text, "kubectl hns migrate, which continues it, or kubectl hns migrate rollback"}
}

// Frozen reports the freeze of a migration whose state is gone.
var Frozen = Finding{Error, "migration from HNC", "hierarchies are frozen by a migration that is not under way any more",
	"kubectl delete validatingadmissionpolicybinding --ignore-not-found " + hnc.MigrationPolicy + " " + hnc.MigrationCopiesPolicy}

// BesideHNC reports whether HNC serves the cluster: its definitions exist, and hns-propagator has not propagated.
func BesideHNC(definitions []string, system *metav1.PartialObjectMetadata) bool {
	return slices.Contains(definitions, besidehnc.Definition) && (system == nil || system.Annotations[hnc.AnnotationStore] == "")
}

// RunningHNC reports that HNC's controller runs although this cluster is migrated, or the migration has stopped it:
// state is that of the migration, as for Migration; replicas are those that its Deployment wants.
func RunningHNC(state *corev1.ConfigMap, replicas int32) []Finding {
	const subject = "deployment hnc-controller-manager"
	const suspend = "suspend what applies HNC's manifests, and "
	switch {
	case replicas == 0:
		return nil
	case state == nil || state.Data[hnc.MigrationDeleting] != "" && state.Data[hnc.MigrationRollingBack] == "":
		return []Finding{{Error, subject, "HNC runs in a cluster that is migrated: it and hns-propagator undo each other's writes",
			suspend + "kubectl scale deployment hnc-controller-manager -n " + hnc.HNCNamespace + " --replicas=0"}}
	case state.Data[hnc.MigrationRollingBack] != "" || slices.Contains([]string{"", "freeze", "webhooks"}, state.Data[hnc.MigrationStep]):
		return nil
	}
	return []Finding{{Error, subject, "HNC runs although the migration has stopped it", suspend + "kubectl hns migrate rollback; then migrate again"}}
}
