package controlplane

import (
	"context"
	"fmt"
	"strconv"
)

// Names of our servers' binaries and of their first replicas' processes.
const (
	hncAPIServer  = "hnc-apiserver"
	hncPropagator = "hnc-propagator"
	hncSync       = "hnc-sync"
)

// Server is one replica of one of our servers, to be run as a subprocess.
type Server struct {
	// Name is that of the binary: hnc-apiserver, hnc-propagator, or hnc-sync if artifacts/components/sync is installed.
	Name string
	// Replica counts from zero.
	Replica int
	// SharedEtcd has an hnc-apiserver keep its data in the control plane's etcd, which several replicas need.
	// Otherwise it embeds an etcd of its own.
	SharedEtcd bool
	// Args are added after our own flags, so they win.
	Args []string
}

// Process returns the name of the server's process, log and port: "hnc-apiserver" for the first replica, then "hnc-apiserver-1".
func (s Server) Process() string {
	if s.Replica == 0 {
		return s.Name
	}
	return s.Name + "-" + strconv.Itoa(s.Replica)
}

// StartServer runs one of our servers and returns when it is ready, with the loopback port that it serves on.
// One that runs already is kept, unless its binary is newer. An hnc-apiserver gets its requests after Register only.
func (cp *ControlPlane) StartServer(ctx context.Context, installation *Installation, server Server) (int, error) {
	port, err := cp.ports.get(server.Process())
	if err != nil {
		return 0, err
	}
	if err := RequireBinaries(cp.config.BinDir, server.Name); err != nil {
		return 0, err
	}
	var args []string
	ready := "https://" + loopback(port) + "/readyz"
	switch server.Name {
	case hncAPIServer:
		if args, err = cp.apiServerArgs(installation, server, port); err != nil {
			return 0, err
		}
	case hncPropagator:
		if args, err = cp.controllerArgs(server.Name, installation.PropagatorKubeconfig, port); err != nil {
			return 0, err
		}
	case hncSync:
		_, kubeconfig, err := cp.ServiceAccount(ctx, Namespace, hncSync)
		if err != nil {
			return 0, err
		}
		if args, err = cp.controllerArgs(server.Name, kubeconfig, port); err != nil {
			return 0, err
		}
	default:
		return 0, fmt.Errorf("%q is none of our servers", server.Name)
	}
	config, err := clientTLS(cp.CAFile(), cp.pki.pair("admin"))
	if err != nil {
		return 0, err
	}
	return port, cp.run(ctx, run{
		name: server.Process(), binary: server.Name, args: append(args, server.Args...), ready: ready, tls: config,
	})
}

func (cp *ControlPlane) controllerArgs(name, kubeconfig string, port int) ([]string, error) {
	serving, err := cp.pki.serving(cp.pki.cluster, name+"-serving", "localhost", "127.0.0.1")
	if err != nil {
		return nil, err
	}
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(port),
		"--tls-cert-file=" + serving.CertFile,
		"--tls-private-key-file=" + serving.KeyFile,
		"--leader-elect-resource-namespace=" + Namespace,
	}, nil
}

func (cp *ControlPlane) apiServerArgs(installation *Installation, server Server, port int) ([]string, error) {
	args := []string{
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(port),
		"--tls-cert-file=" + installation.Serving.CertFile,
		"--tls-private-key-file=" + installation.Serving.KeyFile,
		"--kubeconfig=" + installation.APIServerKubeconfig,
		"--authentication-kubeconfig=" + installation.APIServerKubeconfig,
		"--authorization-kubeconfig=" + installation.APIServerKubeconfig,
	}
	if !server.SharedEtcd {
		// The working directory is Dir.
		return append(args, "--data-dir="+server.Process()), nil
	}
	access, err := cp.Etcd()
	if err != nil {
		return nil, err
	}
	return append(append(args, access.Flags()...), "--etcd-prefix="+EtcdPrefix), nil
}

// EtcdPrefix is where our data are in an etcd that is shared with others.
const EtcdPrefix = "/registry/hnc.x-k8s.io"
