package cli

import (
	"context"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1beta1"
)

// writeHierarchy writes a hierarchy as it was read, or a new one. If somebody else, such as the propagator with the status, has been faster, it is
// read again, and what is wanted is applied to that.
func writeHierarchy(ctx context.Context, c *cluster, h *v1beta1.Hierarchy, want change, dry *dryRun) error {
	if dry.client() {
		return nil
	}
	client := c.hierarchy.HncV1beta1().Hierarchies(h.Namespace)
	return unlessModified(func() (err error) {
		if h.ResourceVersion == "" {
			_, err = client.Create(ctx, h, metav1.CreateOptions{DryRun: dry.options()})
		} else {
			_, err = client.Update(ctx, h, metav1.UpdateOptions{DryRun: dry.options()})
		}
		if isModified(err) {
			latest, readErr := getHierarchy(ctx, c, h.Namespace)
			if readErr != nil {
				return readErr
			}
			apply(latest, want)
			h = latest
		}
		return err
	})
}

// unlessModified calls write, and again while it fails because somebody else has changed the object since it was read.
func unlessModified(write func() error) error {
	return retry.OnError(retry.DefaultBackoff, isModified, write)
}

// isModified tells the conflict of two writers from one that the tree's rules are the reason of.
func isModified(err error) bool {
	return apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) && strings.Contains(reason(err), "the object has been modified")
}
