package controlplane

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"github.com/hierarchy-apiserver/hierarchy-apiserver/pkg/apis/hnc"
)

// hnsEtcd is the process of the first member of an etcd for hns-apiserver alone.
const hnsEtcd = "hns-etcd"

// Server is one replica of one of our servers, to be run as a subprocess.
type Server struct {
	// Name is that of the binary: hns-apiserver, hns-propagator, hns-sync if artifacts/components/sync is installed, or
	// hns-gateway if artifacts/components/view is.
	Name string
	// Replica counts from zero.
	Replica int
	// SharedEtcd has an hns-apiserver keep its data in the control plane's etcd, which several replicas need.
	// Otherwise it embeds an etcd of its own.
	SharedEtcd bool
	// Etcd is where an hns-apiserver keeps its data otherwise, if it does not embed an etcd.
	Etcd *Etcd
	// Address is the one that it listens on: that of the loopback interface by default.
	Address string
	// Args are added after our own flags, so they win.
	Args []string
}

// Process returns the name of the server's process, log and port: "hns-apiserver" for the first replica, then
// "hns-apiserver-1".
func (s Server) Process() string {
	if s.Replica == 0 {
		return s.Name
	}
	return s.Name + "-" + strconv.Itoa(s.Replica)
}

// endpoint returns the address and port that the server listens on.
func (s Server) endpoint(port int) string {
	if s.Address == "" {
		return loopback(port)
	}
	return net.JoinHostPort(s.Address, strconv.Itoa(port))
}

// StartServer runs one of our servers and returns when it is ready, with the port that it serves on.
// One that runs already is kept, unless its binary is newer. An hns-apiserver gets its requests after Register only.
func (cp *ControlPlane) StartServer(ctx context.Context, installation *Installation, server Server) (int, error) {
	port, err := cp.ports.get(server.Process())
	if err != nil {
		return 0, err
	}
	if err := RequireBinaries(cp.config.BinDir, server.Name); err != nil {
		return 0, err
	}
	var args []string
	ready := "https://" + server.endpoint(port) + "/readyz"
	switch server.Name {
	case hnc.APIServerName:
		if args, err = cp.apiServerArgs(installation, server, port); err != nil {
			return 0, err
		}
	case hnc.PropagatorName:
		if args, err = cp.serverArgs(server.Name, installation.PropagatorKubeconfig, port); err != nil {
			return 0, err
		}
	case hnc.SyncName, hnc.GatewayName:
		_, kubeconfig, err := cp.ServiceAccount(ctx, Namespace, server.Name)
		if err != nil {
			return 0, err
		}
		if args, err = cp.serverArgs(server.Name, kubeconfig, port); err != nil {
			return 0, err
		}
	default:
		return 0, fmt.Errorf("%q is none of our servers", server.Name)
	}
	config, err := clientTLS(cp.CAFile(), cp.pki.pair("admin"))
	if err != nil {
		return 0, err
	}
	// Its certificates do not name other addresses.
	config.ServerName = "localhost"
	if server.Address != "" {
		args = append(args, "--bind-address="+server.Address)
	}
	return port, cp.run(ctx, run{
		name: server.Process(), binary: server.Name, args: append(args, server.Args...), ready: ready, tls: config,
	})
}

// serverArgs are the flags of a server whose certificate also names its Service, if it has one.
func (cp *ControlPlane) serverArgs(name, kubeconfig string, port int) ([]string, error) {
	serving, err := cp.pki.serving(cp.pki.cluster, name+"-serving", name+"."+Namespace+".svc", "localhost", "127.0.0.1")
	if err != nil {
		return nil, err
	}
	args := []string{
		"--kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(port),
		"--tls-cert-file=" + serving.CertFile,
		"--tls-private-key-file=" + serving.KeyFile,
	}
	if name != hnc.GatewayName {
		args = append(args, "--leader-elect-resource-namespace="+Namespace)
	}
	return args, nil
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
	var access Etcd
	switch {
	case server.Etcd != nil:
		access = *server.Etcd
	case server.SharedEtcd:
		var err error
		if access, err = cp.Etcd(); err != nil {
			return nil, err
		}
	default:
		// The working directory is Dir.
		return append(args, "--data-dir="+server.Process()), nil
	}
	return append(append(args, access.Flags()...), "--etcd-prefix="+EtcdPrefix), nil
}

// EtcdPrefix is where our data are in an etcd that is shared with others.
const EtcdPrefix = "/registry/hnc.x-k8s.io"
