package options

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/klog/v2"
)

// requirePolicies returns an error if kube-apiserver does not serve the kinds of the admission policies that protect
// copies and tree labels: nothing must be propagated then. A kube-apiserver that does not answer yet is no error.
func requirePolicies(ctx context.Context, client discovery.DiscoveryInterface) error {
	served, err := client.ServerResourcesForGroupVersion("admissionregistration.k8s.io/v1")
	if apierrors.IsNotFound(err) {
		served = &metav1.APIResourceList{}
	} else if err != nil {
		klog.FromContext(ctx).Info("Cannot find out whether kube-apiserver serves admission policies", "reason", err)
		return nil
	}
	for _, needed := range []string{"validatingadmissionpolicies", "mutatingadmissionpolicies"} {
		if !slices.ContainsFunc(served.APIResources, func(r metav1.APIResource) bool { return r.Name == needed }) {
			return fmt.Errorf("kube-apiserver does not serve %s in admissionregistration.k8s.io/v1, which protect copies, so nothing is propagated; upgrade the cluster to Kubernetes 1.36 or later", needed)
		}
	}
	return nil
}
