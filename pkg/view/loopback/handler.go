package loopback

import (
	"context"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc/v1alpha3"
	hncclient "github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/generated/clientset/versioned/typed/hnc/v1alpha3"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/view/mapping"
)

// Handler returns the view with these names, whose function Member it sets, and with the identity of a configuration,
// when its members are known. It follows them until serving is done. Its error says why there is no such view.
func Handler(ctx, serving context.Context, config *rest.Config, names mapping.Config) (http.Handler, error) {
	root := names.Root
	config = rest.CopyConfig(config)
	config.QPS = -1
	hierarchies, err := hncclient.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	kinds, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	connection, server, err := view.Connect(config)
	if err != nil {
		return nil, err
	}
	members := view.NewWatched(root, hierarchies.MyNamespaces())
	// An error is better now than in each request.
	version := v1alpha3.SchemeGroupVersion.String()
	if _, err := kinds.ServerResourcesForGroupVersion(version); apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("the cluster does not serve %s; install hns-apiserver", version)
	} else if err != nil {
		return nil, err
	}
	exists, err := members.Exists(ctx, root)
	if err != nil {
		return nil, err
	}
	if !exists {
		return nil, fmt.Errorf("namespace %q does not exist, is excluded from hierarchies, or you are not allowed to get it", root)
	}
	synced, failed := make(chan struct{}), make(chan error, 1)
	go func() { failed <- members.Run(serving, func() { close(synced) }) }()
	select {
	case <-synced:
	case err := <-failed:
		return nil, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	names.Member = members.Has
	known := view.NewKinds(discovery.ToDiscoveryInterfaceWithContext(kinds))
	return view.New(view.Config{
		Root: root, Server: server, Members: members, Kinds: known,
		Mapper: mapping.New(mapping.NewNames(names), view.Groups(root, members, known)),
		Caller: func(*http.Request) (*view.Connection, error) { return connection, nil },
	}), nil
}
