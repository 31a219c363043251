package options

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/klog/v2"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/besidehnc"
)

// migrationPeriod is the time between two looks at whether HNC's hierarchies are still in the cluster.
const migrationPeriod = time.Second

// awaitMigration returns true when hierarchies may be propagated, false when the context ends first. In a cluster whose
// hierarchies are still in HNC's objects, an empty store does not mean that no namespace has a parent: acting on it
// would delete all copies. A store that was propagated before, which the system namespace records, is not empty, and
// leftovers of HNC do not matter then.
func awaitMigration(ctx context.Context, kubernetes kubernetes.Interface, metadata metadata.Interface) bool {
	logger, logged := klog.FromContext(ctx), false
	return wait.PollUntilContextCancel(ctx, migrationPeriod, true, func(ctx context.Context) (bool, error) {
		system, err := kubernetes.CoreV1().Namespaces().Get(ctx, hnc.SystemNamespace, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			system, err = nil, nil
		}
		beside := true
		if err == nil {
			beside, err = besidehnc.Serves(ctx, system, metadata)
		}
		if err == nil && !beside {
			return true, nil
		}
		if err != nil {
			logger.Error(err, "Can't determine whether the cluster's hierarchies are in HNC's objects; retrying")
		} else if !logged {
			logger.Info("The cluster's hierarchies are in HNC's objects; propagating when kubectl hns migrate has moved them", "customresourcedefinition", besidehnc.Definition)
			logged = true
		}
		return false, nil
	}) == nil
}
