package cli

import (
	"context"
	"fmt"
	"sort"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// copies returns a line for each kind of which there are copies. Kinds whose server does not answer, or that the user
// may not list, are named too.
func (o *uninstallOptions) copies(ctx context.Context, c *Clients) ([]string, error) {
	lists, err := c.Kube.Discovery().ServerPreferredNamespacedResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return nil, err
	}
	var lines []string
	for _, resources := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "create"}}, lists) {
		version, err := schema.ParseGroupVersion(resources.GroupVersion)
		if err != nil {
			return nil, err
		}
		if version.Group == hnc.GroupName || version.Group == "resources."+hnc.GroupName {
			continue
		}
		for _, resource := range resources.APIResources {
			count, err := countAll(ctx, c, version.WithResource(resource.Name), hnc.LabelInheritedFrom)
			kind := schema.GroupResource{Group: version.Group, Resource: resource.Name}
			switch {
			case apierrors.IsForbidden(err) || apierrors.IsServiceUnavailable(err):
				lines = append(lines, fmt.Sprintf("copies of %s, whose number is not known: %s", kind, apierrors.ReasonForError(err)))
			case err != nil && !apierrors.IsNotFound(err) && !apierrors.IsMethodNotSupported(err):
				return nil, err
			case count > 0:
				lines = append(lines, fmt.Sprintf("%d copies of %s; users allowed to change these objects may change the copies from then on", count, kind))
			}
		}
	}
	sort.Strings(lines)
	return lines, nil
}

// countAll returns the number of objects in the cluster that match the selector.
func countAll(ctx context.Context, c *Clients, resource schema.GroupVersionResource, selector string) (int, error) {
	count := 0
	options := metav1.ListOptions{LabelSelector: selector, Limit: 500}
	for {
		found, err := c.metadata.Resource(resource).List(ctx, options)
		if err != nil {
			return 0, err
		}
		count += len(found.Items)
		if options.Continue = found.Continue; options.Continue == "" {
			return count, nil
		}
	}
}
