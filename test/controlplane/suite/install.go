package suite

import (
	"context"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
	"github.com/hierarchy-apiserver/hierarchy-apiserver/test/controlplane"
)

// Artifacts are the kustomizations that most suites install, from the folder of a suite.
var Artifacts = []string{"../../../artifacts/dev", "../../../artifacts/policies"}

// Install installs the kustomizations, starts the servers, and returns when kube-apiserver forwards requests to the
// hns-apiserver among them.
func Install(ctx context.Context, cp *controlplane.ControlPlane, kustomizations []string, servers ...controlplane.Server) (*controlplane.Installation, error) {
	installation, err := cp.Install(ctx, kustomizations...)
	if err != nil {
		return nil, err
	}
	for _, server := range servers {
		if err := Start(ctx, cp, installation, server); err != nil {
			return nil, err
		}
	}
	return installation, nil
}

// Start starts a server, and registers it if it is an hns-apiserver.
func Start(ctx context.Context, cp *controlplane.ControlPlane, installation *controlplane.Installation, server controlplane.Server) error {
	port, err := cp.StartServer(ctx, installation, server)
	if err != nil || server.Name != hnc.APIServerName {
		return err
	}
	return cp.Register(ctx, installation, port)
}

// Servers returns one hns-apiserver and one hns-propagator with the same flags.
func Servers(flags ...string) []controlplane.Server {
	return []controlplane.Server{{Name: hnc.APIServerName, Args: flags}, {Name: hnc.PropagatorName, Args: flags}}
}
