package observe

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// InstalledArgs returns the arguments with which hns-propagator is installed, none if it is no Deployment.
func InstalledArgs(ctx context.Context, kube kubernetes.Interface) ([]string, error) {
	deployment, err := kube.AppsV1().Deployments(hnc.SystemNamespace).Get(ctx, hnc.PropagatorName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, container := range deployment.Spec.Template.Spec.Containers {
		if container.Name == hnc.PropagatorName {
			return container.Args, nil
		}
	}
	return nil, fmt.Errorf("deployment hns-propagator in %s has no container hns-propagator; install the servers as docs/migration.md describes", hnc.SystemNamespace)
}
