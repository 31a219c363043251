package cluster

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/reposync/plan"
)

// listing is how many kinds are listed at a time.
const listing = 8

// List records the objects of the kinds that the RepositorySync has applied, once, as Watch does continuously. An
// object that several kinds contain is recorded for the first of them. It returns an error for each kind that cannot be
// listed.
func (c *Cluster) List(ctx context.Context, kinds []schema.GroupKind) map[schema.GroupKind]error {
	found, errs := make([][]metav1.PartialObjectMetadata, len(kinds)), make([]error, len(kinds))
	var group errgroup.Group
	group.SetLimit(listing)
	for i, kind := range kinds {
		group.Go(func() error {
			found[i], errs[i] = c.list(ctx, kind)
			return nil
		})
	}
	_ = group.Wait()
	failed, seen := map[schema.GroupKind]error{}, map[types.UID]bool{}
	for i, kind := range kinds {
		if errs[i] != nil {
			failed[kind] = errs[i]
		}
		for j := range found[i] {
			o := &found[i][j]
			if !seen[o.UID] {
				seen[o.UID] = true
				c.put(plan.ID{Kind: kind, Namespace: o.Namespace, Name: o.Name}, c.liveOf(o))
			}
		}
	}
	return failed
}

// list returns the objects of a kind that have the label of the RepositorySync.
func (c *Cluster) list(ctx context.Context, kind schema.GroupKind) ([]metav1.PartialObjectMetadata, error) {
	resource, err := c.resource(kind, "")
	if err != nil {
		return nil, err
	}
	var all []metav1.PartialObjectMetadata
	options := metav1.ListOptions{LabelSelector: c.selector(kind).String(), Limit: page}
	for {
		list, err := c.in(resource, metav1.NamespaceAll).List(ctx, options)
		if apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("cannot list %s: %w", resource.GroupResource(), err)
		}
		all = append(all, list.Items...)
		if list.Continue == "" {
			return all, nil
		}
		options.Continue = list.Continue
	}
}
