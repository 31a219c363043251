package cli

import (
	"cmp"
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// releaseAnnotation holds the release that Helm installed an object with.
const releaseAnnotation = "meta.helm.sh/release-name"

// installedObjects counts the objects of the installation, and returns Helm's release if there is one.
func installedObjects(ctx context.Context, c *Clients) (count int, release string, err error) {
	for _, step := range removals {
		for _, resource := range step.resources {
			objects, err := list(ctx, c, resource, step.name)
			if err != nil {
				return 0, "", err
			}
			for _, object := range objects {
				release = cmp.Or(release, object.Annotations[releaseAnnotation])
			}
			// A later step lists a named object again.
			if step.name == "" {
				count += len(objects)
			}
		}
	}
	return count, release, nil
}

// list returns the objects of the installation of one kind, none if the cluster does not have the kind.
func list(ctx context.Context, c *Clients, resource schema.GroupVersionResource, name string) ([]metav1.PartialObjectMetadata, error) {
	options := metav1.ListOptions{LabelSelector: hnc.SelectorPartOf}
	if name != "" {
		options.FieldSelector = "metadata.name=" + name
	}
	found, err := c.metadata.Resource(resource).List(ctx, options)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found.Items, func(object metav1.PartialObjectMetadata) bool { return !isInstalled(&object) }), nil
}

// isInstalled reports whether an object with the label is of the installation: anybody may set the label in other
// namespaces.
func isInstalled(object *metav1.PartialObjectMetadata) bool {
	switch object.Namespace {
	case "", hnc.SystemNamespace, metav1.NamespaceSystem:
		return true
	case metav1.NamespaceDefault:
		return object.Name == "hns-sync:events"
	case hnc.RepositoriesNamespace:
		return object.Name == "hns-sync:accounts"
	}
	return false
}
