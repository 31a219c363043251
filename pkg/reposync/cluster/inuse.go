package cluster

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/repository/object"
)

// automatic are objects that a namespace has without a user's doing.
var automatic = map[schema.GroupResource][]string{
	{Resource: "configmaps"}:                                    {"kube-root-ca.crt"},
	{Resource: "serviceaccounts"}:                               {"default"},
	{Group: hnc.GroupName, Resource: "hierarchies"}:             {hnc.Singleton},
	{Group: hnc.GroupName, Resource: "hierarchyconfigurations"}: {hnc.Singleton},
}

// transient are kinds whose objects nobody misses.
var transient = []schema.GroupResource{
	{Resource: "events"}, {Group: "events.k8s.io", Resource: "events"}, {Resource: "endpoints"}, {Group: "discovery.k8s.io", Resource: "endpointslices"},
	{Group: hnc.GroupName, Resource: "overwrittenobjects"}, {Group: hnc.GroupName, Resource: "copyreleases"},
}

// page is how many objects of a kind are read at a time. Kubernetes limits the metadata of an object by its size in
// etcd only.
const page = 20

// maxRead is how many objects of each kind are read to find out whether a namespace or a definition is in use.
const maxRead = 1000

// InUse returns what a namespace contains that is not from the repository: a sub-namespace, or an object; empty if
// there is nothing. It returns an error if the account may not list a kind, because the namespace may be in use then.
func (c *Cluster) InUse(ctx context.Context, namespace string) (string, error) {
	served := c.current()
	if served.incomplete != nil {
		return "", served.incomplete
	}
	below, err := c.in(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, "").List(ctx, metav1.ListOptions{LabelSelector: hnc.TreeLabel(namespace)})
	if err != nil {
		return "", err
	}
	for i := range below.Items {
		if n := &below.Items[i]; n.Name != namespace && hnc.IsBelow(n.Labels, hnc.AbstractAncestors(n.Annotations), namespace) {
			return "namespace " + n.Name + " below it", nil
		}
	}
	for _, resource := range served.namespaced {
		// A namespace that has just joined has no tree label yet.
		if resource.GroupResource() == hnc.Resource("hierarchies") {
			children, err := c.in(resource, "").List(ctx, metav1.ListOptions{FieldSelector: "spec.parent=" + namespace, Limit: 1})
			if err != nil {
				return "", fmt.Errorf("cannot list the children of namespace %s: %w", namespace, err)
			}
			if len(children.Items) > 0 {
				return "namespace " + children.Items[0].Namespace + " below it", nil
			}
		}
		if slices.Contains(transient, resource.GroupResource()) {
			continue
		}
		found, err := c.foreign(ctx, resource, namespace)
		if err != nil || found != "" {
			return found, err
		}
	}
	return "", nil
}

// DefinitionInUse returns an object of the kind of a CustomResourceDefinition that is not from the repository; empty if
// there is none. It returns an error if the account may not list the kind, or if no version of it is served: then there
// may be such objects.
func (c *Cluster) DefinitionInUse(ctx context.Context, name string) (string, error) {
	kind, ok := c.Kind(schema.ParseGroupResource(name))
	if !ok {
		// It may be newer than what is known.
		if err := c.Refresh(ctx); err != nil {
			return "", err
		}
		if kind, ok = c.Kind(schema.ParseGroupResource(name)); !ok {
			return "", fmt.Errorf("no version of %s is served, so whether there are objects of it is not known; serve one, or delete the CustomResourceDefinition yourself", name)
		}
	}
	resource, err := c.resource(kind, "")
	if err != nil {
		return "", err
	}
	return c.foreign(ctx, resource, metav1.NamespaceAll)
}

// foreign returns an object of a resource that is neither from the repository nor automatic, or says that there are too
// many to find one: a tenant may have any number of objects that do not count. In a namespace, those that
// have an owner there do not count if the owner does.
func (c *Cluster) foreign(ctx context.Context, resource schema.GroupVersionResource, namespace string) (string, error) {
	served := c.current()
	owned := func(owner metav1.OwnerReference) bool {
		kind := schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).GroupKind()
		if namespace == metav1.NamespaceAll || !served.scopes[kind] {
			return false
		}
		isKindOf := func(resource schema.GroupResource) bool { return served.byResource[resource] == object.Canonical(kind) }
		for resource, names := range automatic {
			if slices.Contains(names, owner.Name) && isKindOf(resource) {
				return false
			}
		}
		return !slices.ContainsFunc(transient, isKindOf)
	}
	options := metav1.ListOptions{Limit: page}
	for range maxRead / page {
		list, err := c.in(resource, namespace).List(ctx, options)
		if namespace != metav1.NamespaceAll && (apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err)) {
			return "", nil
		}
		if err != nil {
			return "", fmt.Errorf("cannot list %s: %w", resource.GroupResource(), err)
		}
		for i := range list.Items {
			o := &list.Items[i]
			switch {
			// Nobody else may write the ResourceQuotas of hierarchical quotas.
			case o.Labels[hnc.LabelQuota] != "" && resource.GroupResource() == schema.GroupResource{Resource: "resourcequotas"}:
			case o.Labels[hnc.LabelInheritedFrom] != "" || slices.ContainsFunc(o.OwnerReferences, owned) || o.DeletionTimestamp != nil:
			case o.Labels[hnc.LabelRepositorySync] == c.sync && c.liveOf(o).Owned != 0:
			case slices.Contains(automatic[resource.GroupResource()], o.Name):
			default:
				return fmt.Sprintf("%s %s", resource.GroupResource(), o.Name), nil
			}
		}
		if list.Continue == "" {
			return "", nil
		}
		options.Continue = list.Continue
	}
	return fmt.Sprintf("more than %d %s, of which only the first were looked at", maxRead, resource.GroupResource()), nil
}
