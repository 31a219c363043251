package cli

import (
	"context"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// Lease returns the lease of a server's replicas, nil if it does not exist.
func (c *Clients) Lease(ctx context.Context, server string) (*coordinationv1.Lease, error) {
	lease, err := c.Kube.CoordinationV1().Leases(hnc.SystemNamespace).Get(ctx, server, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // documented
	}
	return lease, err
}
