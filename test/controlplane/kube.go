package controlplane

import (
	"context"
	"crypto/tls"
	"net"
	"path/filepath"
	"strconv"
)

// Names of the processes and of their binaries.
const (
	etcd                  = "etcd"
	kubeAPIServer         = "kube-apiserver"
	kubeControllerManager = "kube-controller-manager"
	kubectl               = "kubectl"
)

// Etcd says how to reach the control plane's etcd.
type Etcd struct {
	// Endpoint is an https URL.
	Endpoint string
	// CAFile verifies the server; Client authenticates to it.
	CAFile string
	Client KeyPair
}

// TLS returns the client side of a connection to etcd.
func (e Etcd) TLS() (*tls.Config, error) { return clientTLS(e.CAFile, e.Client) }

// Flags returns the flags with which an API server uses this etcd.
func (e Etcd) Flags() []string {
	return []string{
		"--etcd-servers=" + e.Endpoint,
		"--etcd-cafile=" + e.CAFile,
		"--etcd-certfile=" + e.Client.CertFile,
		"--etcd-keyfile=" + e.Client.KeyFile,
	}
}

// Etcd returns how to reach the control plane's etcd with all rights.
func (cp *ControlPlane) Etcd() (Etcd, error) {
	port, err := cp.ports.get(etcd)
	if err != nil {
		return Etcd{}, err
	}
	client, err := cp.pki.client(cp.pki.etcd, "etcd-client", "etcd-client")
	if err != nil {
		return Etcd{}, err
	}
	return Etcd{Endpoint: "https://" + loopback(port), CAFile: cp.pki.etcd.CertFile, Client: client}, nil
}

const frontProxy = "front-proxy-client"

// FrontProxy returns the client certificate with which kube-apiserver forwards requests.
func (cp *ControlPlane) FrontProxy() (KeyPair, error) {
	return cp.pki.client(cp.pki.frontProxy, frontProxy, frontProxy)
}

// kubeProcesses starts the processes of Kubernetes.
type kubeProcesses struct{ *ControlPlane }

// start brings up etcd, kube-apiserver and kube-controller-manager, each when the one before is ready.
func (cp kubeProcesses) start(ctx context.Context) error {
	for _, start := range []func(context.Context) error{cp.startEtcd, cp.startAPIServer, cp.startControllerManager} {
		if err := start(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (cp kubeProcesses) startEtcd(ctx context.Context) error {
	access, err := cp.Etcd()
	if err != nil {
		return err
	}
	peerPort, err := cp.ports.get("etcd-peer")
	if err != nil {
		return err
	}
	serving, err := cp.pki.serving(cp.pki.etcd, etcd, "localhost", "127.0.0.1")
	if err != nil {
		return err
	}
	peer := "https://" + loopback(peerPort)
	args := []string{
		"--name=hnc",
		"--data-dir=" + filepath.Join(cp.config.Dir, "etcd-data"),
		"--listen-client-urls=" + access.Endpoint,
		"--advertise-client-urls=" + access.Endpoint,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=hnc=" + peer,
		"--cert-file=" + serving.CertFile,
		"--key-file=" + serving.KeyFile,
		"--trusted-ca-file=" + access.CAFile,
		"--client-cert-auth",
		"--peer-cert-file=" + serving.CertFile,
		"--peer-key-file=" + serving.KeyFile,
		"--peer-trusted-ca-file=" + access.CAFile,
		"--peer-client-cert-auth",
		"--log-level=warn",
	}
	if cp.config.UnsafeNoFsync {
		args = append(args, "--unsafe-no-fsync")
	}
	config, err := access.TLS()
	if err != nil {
		return err
	}
	return cp.run(ctx, run{name: etcd, binary: etcd, args: args, ready: access.Endpoint + "/readyz", tls: config})
}

func (cp kubeProcesses) startAPIServer(ctx context.Context) error {
	var err error
	if cp.admin, err = cp.keptUser("admin", "kubernetes-admin", "system:masters"); err != nil {
		return err
	}
	if err := writeKubeconfig(cp.admin, cp.Kubeconfig()); err != nil {
		return err
	}
	_, err = cp.runAPIServer(ctx, kubeAPIServer)
	return err
}

// runAPIServer runs a replica of kube-apiserver, and returns its port. It needs the certificate of the administrator.
func (cp kubeProcesses) runAPIServer(ctx context.Context, name string) (port int, err error) {
	if port, err = cp.ports.get(name); err != nil {
		return 0, err
	}
	access, err := cp.Etcd()
	if err != nil {
		return 0, err
	}
	serving, err := cp.pki.serving(cp.pki.cluster, name, "localhost", "kubernetes.default.svc", "127.0.0.1", "10.0.0.1")
	if err != nil {
		return 0, err
	}
	proxy, err := cp.FrontProxy()
	if err != nil {
		return 0, err
	}
	args := append(access.Flags(),
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--secure-port="+strconv.Itoa(port),
		"--tls-cert-file="+serving.CertFile,
		"--tls-private-key-file="+serving.KeyFile,
		"--client-ca-file="+cp.pki.cluster.CertFile,
		"--authorization-mode=Node,RBAC",
		"--service-cluster-ip-range=10.0.0.0/24",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+cp.pki.serviceAccountKey,
		"--service-account-signing-key-file="+cp.pki.serviceAccountKey,
		// Endpoints refuse loopback addresses, and nothing inside this cluster looks for them.
		"--endpoint-reconciler-type=none",
		// The aggregation layer. --enable-aggregator-routing must stay off: with it a Service of type ExternalName, our way to
		// servers outside the cluster, is refused.
		"--requestheader-client-ca-file="+cp.pki.frontProxy.CertFile,
		"--requestheader-allowed-names="+frontProxy,
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-uid-headers=X-Remote-Uid",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file="+proxy.CertFile,
		"--proxy-client-key-file="+proxy.KeyFile,
	)
	config, err := clientTLS(cp.pki.cluster.CertFile, cp.pki.pair("admin"))
	if err != nil {
		return 0, err
	}
	return port, cp.run(ctx, run{
		name: name, binary: kubeAPIServer, args: append(args, cp.config.APIServerArgs...),
		ready: "https://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) + "/readyz", tls: config,
	})
}

func (cp kubeProcesses) startControllerManager(ctx context.Context) error {
	port, err := cp.ports.get(kubeControllerManager)
	if err != nil {
		return err
	}
	serving, err := cp.pki.serving(cp.pki.cluster, kubeControllerManager+"-serving", "localhost", "127.0.0.1")
	if err != nil {
		return err
	}
	user, err := cp.keptUser(kubeControllerManager, "system:kube-controller-manager")
	if err != nil {
		return err
	}
	kubeconfig := filepath.Join(cp.config.Dir, kubeControllerManager+".kubeconfig")
	if err := writeKubeconfig(user, kubeconfig); err != nil {
		return err
	}
	args := []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(port),
		"--tls-cert-file=" + serving.CertFile,
		"--tls-private-key-file=" + serving.KeyFile,
		"--use-service-account-credentials=true",
		"--service-account-private-key-file=" + cp.pki.serviceAccountKey,
		"--root-ca-file=" + cp.pki.cluster.CertFile,
		// The only one: no reason to wait for a lease that a killed predecessor still holds.
		"--leader-elect=false",
	}
	config, err := clientTLS(cp.pki.cluster.CertFile, cp.pki.pair("admin"))
	if err != nil {
		return err
	}
	return cp.run(ctx, run{
		name: kubeControllerManager, binary: kubeControllerManager, args: append(args, cp.config.ControllerManagerArgs...),
		ready: "https://" + loopback(port) + "/healthz", tls: config,
	})
}
