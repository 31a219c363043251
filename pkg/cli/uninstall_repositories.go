package cli

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// appliedObjects returns lines about what hns-sync has applied, which stays, and about the namespace of its accounts.
func appliedObjects(ctx context.Context, c *Clients) ([]string, error) {
	var lines []string
	syncs, err := c.Hierarchy.HncV1alpha3().RepositorySyncs().List(ctx, metav1.ListOptions{})
	switch {
	case apierrors.IsNotFound(err):
	case apierrors.IsForbidden(err) || apierrors.IsServiceUnavailable(err):
		lines = append(lines, fmt.Sprintf("objects that RepositorySyncs have applied, whose number is not known: %s", apierrors.ReasonForError(err)))
	case err != nil:
		return nil, err
	default:
		for i := range syncs.Items {
			lines = append(lines, fmt.Sprintf("%d objects of repositorysyncs/%s, %d of them namespaces; nothing corrects or prunes them from then on",
				syncs.Items[i].Status.Objects, syncs.Items[i].Name, syncs.Items[i].Status.Namespaces))
		}
		if len(lines) > 0 {
			lines = append(lines, "  they have the label "+hnc.LabelRepositorySync)
		}
	}
	_, err = c.Kube.CoreV1().Namespaces().Get(ctx, hnc.RepositoriesNamespace, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return lines, nil
	}
	if err == nil || apierrors.IsForbidden(err) {
		return append(lines, "the namespace "+hnc.RepositoriesNamespace+", with the accounts and the credentials of RepositorySyncs"), nil
	}
	return nil, err
}
