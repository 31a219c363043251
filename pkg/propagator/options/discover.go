package options

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/restmapper"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/propagator/controller/configuration"
)

// discover returns the kinds that the cluster has now. A group that does not respond is left out and reported.
func discover(ctx context.Context, client discovery.DiscoveryInterface) (configuration.Cluster, error) {
	d := &remembering{DiscoveryInterfaceWithContext: discovery.ToDiscoveryInterfaceWithContext(client)}
	groups, err := restmapper.GetAPIGroupResourcesWithContext(ctx, d)
	if err != nil {
		return configuration.Cluster{}, err
	}
	return configuration.Cluster{Mapper: restmapper.NewDiscoveryRESTMapper(groups), Incomplete: d.err}, nil
}

// remembering keeps the error that is lost when only some groups fail.
type remembering struct {
	discovery.DiscoveryInterfaceWithContext
	err error
}

func (r *remembering) ServerGroupsAndResourcesWithContext(ctx context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	groups, resources, err := r.DiscoveryInterfaceWithContext.ServerGroupsAndResourcesWithContext(ctx)
	r.err = err
	return groups, resources, err
}
